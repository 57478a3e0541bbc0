// The larger of two values.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  if (!ctx.wants(0) && !ctx.wants(1)) return;
  const Value zero = b.constant(0, b.dtype(ctx.result));
  const Value tied = b.where(b.binary(Op::Equal, ctx.operand(0), ctx.operand(1)),
                             scaled(b, ctx.cotangent, 0.5), zero);
  for (int i = 0; i < 2; ++i) {
    if (!ctx.wants(i)) continue;
    const Value chosen = b.binary(Op::Greater, ctx.operand(i), ctx.operand(1 - i));
    ctx.accumulate(i, b.where(chosen, ctx.cotangent, tied));
  }
}

}  // namespace

const OpDef& maximum_def() {
  static constexpr OpDef def{
      .name = "maximum",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "The larger of two values. NaN in either gives NaN; -0 orders below +0; for bool it is "
          "or. The gradient goes to the chosen operand, and half to each where they are equal.",
      .infer = elementwise<Accepts::Real>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return b.binary(b.dtype(x[0]) == DType::Bool ? ScalarOp::Or : ScalarOp::Max, x[0],
                            x[1]);
          },
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
