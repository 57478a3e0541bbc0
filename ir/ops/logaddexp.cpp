// The logarithm of a sum of two exponentials.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return log_add_exp(b, x[0], x[1]);
}

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  if (!ctx.wants(0) && !ctx.wants(1)) return;
  // Each operand's share; where they are equal, infinities too, a half.
  const Value apart = b.sub(ctx.operand(0), ctx.operand(1));
  const Value equal = b.binary(Op::Equal, ctx.operand(0), ctx.operand(1));
  const Value difference = b.where(equal, b.constant(0, b.dtype(ctx.result)), apart);
  for (int i = 0; i < 2; ++i) {
    if (!ctx.wants(i)) continue;
    const Value share = b.unary(Op::Sigmoid, i == 0 ? difference : b.neg(difference));
    ctx.accumulate(i, guarded_mul(b, ctx.cotangent, share));
  }
}

}  // namespace

const OpDef& logaddexp_def() {
  static constexpr OpDef def{
      .name = "logaddexp",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "log(exp(a) + exp(b)) without overflow; two equal infinities give themselves.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
