// max(x, 0).
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& relu_def() {
  static constexpr OpDef def{
      .name = "relu",
      .doc = "max(x, 0): NaN stays NaN, -0 becomes 0. The gradient at 0 is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return b.binary(ScalarOp::Max, x[0], b.constant(0, b.dtype(x[0])));
          },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            // By the result, which the next layer reads anyway: the operand need not be kept.
            const Value zero = b.constant(0, b.dtype(ctx.result));
            ctx.accumulate(0, b.where(b.binary(Op::Less, zero, ctx.result), ctx.cotangent, zero));
          },
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
