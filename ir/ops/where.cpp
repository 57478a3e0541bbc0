// A choice between two values.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  if (ctx.operands[0].dtype != DType::Bool) {
    throw DTypeError(str("where: the condition must be bool, got ", ctx.operands[0]));
  }
  const DType dtype = common_dtype(ctx, 1);
  return {dtype, common_shape(ctx)};
}

}  // namespace

const OpDef& where_def() {
  static constexpr OpDef def{
      .name = "where",
      .min_operands = 3,
      .max_operands = 3,
      .doc =
          "where(condition, a, b): a where the bool condition holds, else b; all three broadcast. "
          "The "
          "branch that is not taken contributes nothing to a gradient, no NaN either.",
      .infer = infer,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.select(x[0], x[1], x[2]); },
      .pairs = OnPairs::EachPart,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            const Value zero = b.constant(0, b.dtype(ctx.result));
            if (ctx.wants(1)) ctx.accumulate(1, b.where(ctx.operand(0), ctx.cotangent, zero));
            if (ctx.wants(2)) ctx.accumulate(2, b.where(ctx.operand(0), zero, ctx.cotangent));
          },
      .samples = [] { return ternary_samples(DType::Bool, Fill::Binary, Fill::Extremes); },
  };
  return def;
}

}  // namespace reprise
