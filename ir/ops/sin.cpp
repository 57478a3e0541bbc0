// The sine.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& sin_def() {
  static constexpr OpDef def{
      .name = "sin",
      .doc = "The sine of x in radians; NaN at infinity.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Sin>,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.unary(Op::Cos, ctx.operand(0))));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
