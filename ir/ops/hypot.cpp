// The length of a vector of two.
#include <limits>

#include "ir/math_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId p = b.unary(ScalarOp::Abs, x[0]), q = b.unary(ScalarOp::Abs, x[1]);
  const ScalarId larger = b.binary(ScalarOp::Max, p, q);
  // Powers of two bring the squares to where they neither overflow nor vanish.
  const double bound = f.single() ? 0x1p60 : 0x1p500;
  const double factor = f.single() ? 0x1p-80 : 0x1p-600;
  const ScalarId huge = b.lt(f.value(bound), larger);
  const ScalarId minute = b.lt(larger, f.value(1 / bound));
  const auto chosen = [&](double down, double up) {
    return b.select(huge, f.value(down), b.select(minute, f.value(up), f.value(1)));
  };
  const ScalarId before = chosen(factor, 1 / factor);
  const ScalarId s = b.mul(p, before), t = b.mul(q, before);
  const ScalarId root = b.unary(ScalarOp::Sqrt, b.fma(s, s, b.mul(t, t)));
  const ScalarId y = b.mul(root, chosen(1 / factor, factor));
  const ScalarId infinity = f.value(std::numeric_limits<double>::infinity());
  return b.select(b.binary(ScalarOp::Or, b.eq(p, infinity), b.eq(q, infinity)), infinity, y);
}

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  if (!ctx.wants(0) && !ctx.wants(1)) return;
  const Value zero = b.constant(0, b.dtype(ctx.result));
  const Value at_zero = b.binary(Op::Equal, ctx.result, zero);
  for (int i = 0; i < 2; ++i) {
    if (!ctx.wants(i)) continue;
    const Value slope = b.where(at_zero, zero, b.div(ctx.operand(i), ctx.result));
    ctx.accumulate(i, guarded_mul(b, ctx.cotangent, slope));
  }
}

}  // namespace

const OpDef& hypot_def() {
  static constexpr OpDef def{
      .name = "hypot",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "sqrt(a*a + b*b) without overflow on the way; infinite where either is, even beside NaN. "
          "The gradient at (0, 0) is 0.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
