// e to the power of x.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& exp_def() {
  static constexpr OpDef def{
      .name = "exp",
      .doc =
          "e to the power of x; infinity past the largest exponent, 0 (through denormals) past the "
          "smallest.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Exp>,
      .gradient =
          [](GradientContext& ctx) {
            ctx.accumulate(0, guarded_mul(ctx.builder, ctx.cotangent, ctx.result));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
