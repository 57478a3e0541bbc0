// The natural logarithm.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& log_def() {
  static constexpr OpDef def{
      .name = "log",
      .doc = "The natural logarithm; -infinity at 0, NaN below.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Log>,
      .gradient =
          [](GradientContext& ctx) {
            ctx.accumulate(0, guarded_div(ctx.builder, ctx.cotangent, ctx.operand(0)));
          },
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
