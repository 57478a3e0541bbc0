// The square root.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& sqrt_def() {
  static constexpr OpDef def{
      .name = "sqrt",
      .doc =
          "The square root, correctly rounded; NaN below 0, sqrt(-0) is -0. The gradient at 0 is "
          "0, so that norms and deviations of constant data have one.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Sqrt>,
      .gradient =
          [](GradientContext& ctx) {
            // Infinity times the 0 that a norm's inner gradient is would be NaN.
            Builder& b = ctx.builder;
            const Value y = ctx.result;
            const Value zero = b.constant(0, b.dtype(y));
            const Value slope = guarded_div(b, scaled(b, ctx.cotangent, 0.5), y);
            ctx.accumulate(0, b.where(b.binary(Op::Equal, y, zero), zero, slope));
          },
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
