// The error function.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& erf_def() {
  static constexpr OpDef def{
      .name = "erf",
      .doc = "The error function; -1 and 1 at the infinities.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_unary<ScalarOp::Erf>,
      .gradient =
          [](GradientContext& ctx) {
            constexpr double kTwoOverRootPi = 1.1283791670955125739;
            Builder& b = ctx.builder;
            const Value x = ctx.operand(0);
            const Value bell = b.unary(Op::Exp, b.neg(b.mul(x, x)));
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, scaled(b, bell, kTwoOverRootPi)));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
