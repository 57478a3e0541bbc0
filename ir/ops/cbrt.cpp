// The cube root.
#include <limits>

#include "ir/math_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId third = f.value(1.0 / 3);
  const ScalarId guess = b.unary(ScalarOp::Exp, b.mul(b.unary(ScalarOp::Log, a), third));
  // One step of Newton's method on what the logarithm lost.
  const ScalarId quotient = b.div(a, b.mul(guess, guess));
  const ScalarId y = b.fma(b.sub(quotient, guess), third, guess);
  const ScalarId regular = b.binary(ScalarOp::And, b.lt(f.value(0), a),
                                    b.lt(a, f.value(std::numeric_limits<double>::infinity())));
  return b.select(regular, b.binary(ScalarOp::CopySign, y, x[0]), x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value square = b.mul(ctx.result, ctx.result);
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, scaled(b, square, 3)));
}

}  // namespace

const OpDef& cbrt_def() {
  static constexpr OpDef def{
      .name = "cbrt",
      .doc = "The cube root, of negative numbers too.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
