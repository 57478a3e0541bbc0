// Pairs made of their parts.
#include "ir/ops/pairs.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  const DType part = common_dtype(ctx);
  const std::optional<DType> pair = is_pair(part) ? std::nullopt : pair_of(part);
  if (!pair) {
    throw DTypeError(str("complex: needs parts of f32, f64 or integers, got ", ctx.operands[0]));
  }
  return {*pair, common_shape(ctx)};
}

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  if (ctx.wants(0)) ctx.accumulate(0, b.unary(Op::Real, ctx.cotangent));
  if (ctx.wants(1)) ctx.accumulate(1, b.unary(Op::Imag, ctx.cotangent));
}

}  // namespace

const OpDef& complex_def() {
  static constexpr OpDef def{
      .name = "complex",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "complex(re, im): re + i im of two f32 as c64, of two f64 as c128, of two integers of "
          "one "
          "dtype as complex integers. The gradients are the parts of the cotangent.",
      .infer = infer,
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
