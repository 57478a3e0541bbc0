// The hyperbolic tangent.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& tanh_def() {
  static constexpr OpDef def{
      .name = "tanh",
      .doc = "The hyperbolic tangent; -1 and 1 at the infinities.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Tanh>,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            const Value y = ctx.result;
            const Value one = b.constant(1, b.dtype(y));
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.sub(one, b.mul(y, y))));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
