// -x, by flipping the sign.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& negative_def() {
  static constexpr OpDef def{
      .name = "negative",
      .doc =
          "-x. Integers wrap: -MIN is MIN, unsigned values are taken modulo their range. Floats "
          "flip the sign, of zero and NaN too.",
      .infer = elementwise<Accepts::SignedNumber>,
      .lower = lower_unary<ScalarOp::Neg>,
      .pairs = OnPairs::EachPart,
      .gradient = [](GradientContext& ctx) { ctx.accumulate(0, ctx.builder.neg(ctx.cotangent)); },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
