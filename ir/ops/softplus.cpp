// A smooth relu.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId below = b.unary(ScalarOp::Neg, b.unary(ScalarOp::Abs, x[0]));
  const ScalarId positive = b.binary(ScalarOp::Max, x[0], f.value(0));
  return b.add(positive, log1p(b, b.unary(ScalarOp::Exp, below)));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.unary(Op::Sigmoid, ctx.operand(0))));
}

}  // namespace

const OpDef& softplus_def() {
  static constexpr OpDef def{
      .name = "softplus",
      .doc = "log(1 + exp(x)): close to x above, to 0 below, accurate in its tail.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
