// The difference of two tensors.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& subtract_def() {
  static constexpr OpDef def{
      .name = "subtract",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a - b. Integers wrap.",
      .infer = elementwise<Accepts::SignedNumber>,
      .lower = lower_binary<ScalarOp::Sub>,
      .pairs = OnPairs::EachPart,
      .gradient =
          [](GradientContext& ctx) {
            ctx.accumulate(0, ctx.cotangent);
            if (ctx.wants(1)) ctx.accumulate(1, ctx.builder.neg(ctx.cotangent));
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
