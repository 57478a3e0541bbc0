// |x|, by clearing the sign.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& abs_def() {
  static constexpr OpDef def{
      .name = "abs",
      .doc = "The absolute value. Integers wrap: abs(MIN) is MIN. The gradient at 0 is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return is_unsigned_integer(b.dtype(x[0])) ? x[0] : b.unary(ScalarOp::Abs, x[0]);
          },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.unary(Op::Sign, ctx.operand(0))));
          },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
