// The cosine.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& cos_def() {
  static constexpr OpDef def{
      .name = "cos",
      .doc = "The cosine of x in radians; NaN at infinity.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Cos>,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            ctx.accumulate(0,
                           guarded_mul(b, ctx.cotangent, b.neg(b.unary(Op::Sin, ctx.operand(0)))));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
