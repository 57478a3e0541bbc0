// What a floored division leaves.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

void gradient(GradientContext& ctx) {
  // a % b = a - (a // b) * b, and the quotient is a step.
  Builder& b = ctx.builder;
  ctx.accumulate(0, ctx.cotangent);
  if (!ctx.wants(1)) return;
  const Value quotient = b.binary(Op::FloorDivide, ctx.operand(0), ctx.operand(1));
  ctx.accumulate(1, b.neg(guarded_mul(b, ctx.cotangent, quotient)));
}

}  // namespace

const OpDef& remainder_def() {
  static constexpr OpDef def{
      .name = "remainder",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "a % b = a - (a // b) * b, with the sign of b. Integers: by 0 gives 0. Floats: exact "
          "however large a // b is, but for the rounding where the signs differ and b is added; by "
          "0 "
          "gives NaN.",
      .infer = elementwise<Accepts::Number>,
      .lower = lower_wide<lower_binary<ScalarOp::Mod>>,
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Normal, Fill::Nonzero>,
  };
  return def;
}

}  // namespace reprise
