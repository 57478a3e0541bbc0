// A float times a power of two.
#include "ir/math_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  if (ctx.operands[1].dtype != DType::I64) {
    throw DTypeError(str("ldexp: the exponents are i64, not ", ctx.operands[1]));
  }
  return {ctx.operands[0].dtype, common_shape(ctx)};
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext& ctx) {
  const DType given = ctx.operands[0].dtype;
  const DType dtype = given == DType::F64 ? DType::F64 : DType::F32;
  FloatBuilder f(b, dtype);
  // Past these the result is 0 or infinite, whatever x is. In three factors, each a normal number.
  const int64_t bound = dtype == DType::F64 ? 2200 : 300;
  const ScalarId least = b.integer(-bound, DType::I64), most = b.integer(bound, DType::I64);
  const ScalarId wide = b.select(b.lt(x[1], least), least, b.select(b.lt(most, x[1]), most, x[1]));
  const ScalarId n = b.cast(wide, f.bits);
  const ScalarId third = b.div(n, f.integer(3));
  const ScalarId rest = b.sub(n, b.add(third, third));
  const ScalarId y =
      b.mul(b.mul(b.cast(x[0], dtype), f.power_of_two(third)), f.power_of_two(third));
  return b.cast(b.mul(y, f.power_of_two(rest)), given);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  ctx.accumulate(0, ctx.builder.record(Op::Ldexp, {ctx.cotangent, ctx.operand(1)}));
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (Sample& sample : binary_samples(Fill::Extremes, Fill::Normal)) {
    sample.operands[1].type.dtype = DType::I64;
    all.push_back(std::move(sample));
  }
  return all;
}

}  // namespace

const OpDef& ldexp_def() {
  static constexpr OpDef def{
      .name = "ldexp",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "x times 2^n for n of i64; infinite where that overflows.",
      .infer = infer,
      .lower = lower,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
