// The tangent.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.div(b.unary(ScalarOp::Sin, x[0]), b.unary(ScalarOp::Cos, x[0]));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value one = b.constant(1, b.dtype(ctx.result));
  const Value slope = b.add(one, b.mul(ctx.result, ctx.result));
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, slope));
}

}  // namespace

const OpDef& tan_def() {
  static constexpr OpDef def{
      .name = "tan",
      .doc = "The tangent of x in radians; NaN at infinity.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Unit>,
  };
  return def;
}

}  // namespace reprise
