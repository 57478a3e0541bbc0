// The product of two tensors.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& multiply_def() {
  static constexpr OpDef def{
      .name = "multiply",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a * b. Integers wrap; for bool it is and.",
      .infer = elementwise<Accepts::Real>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return b.binary(b.dtype(x[0]) == DType::Bool ? ScalarOp::And : ScalarOp::Mul, x[0],
                            x[1]);
          },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            if (ctx.wants(0)) ctx.accumulate(0, guarded_mul(b, ctx.cotangent, ctx.operand(1)));
            if (ctx.wants(1)) ctx.accumulate(1, guarded_mul(b, ctx.cotangent, ctx.operand(0)));
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
