// The arc tangent.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId angle = arc_tangent(b, a, b.constant(1, b.dtype(a)));
  return b.binary(ScalarOp::CopySign, angle, x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value one = b.constant(1, b.dtype(x));
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, b.add(one, b.mul(x, x))));
}

}  // namespace

const OpDef& atan_def() {
  static constexpr OpDef def{
      .name = "atan",
      .doc = "The arc tangent, in [-pi/2, pi/2].",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
