// The hyperbolic cosine.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId half = half_exp(b, x[0]);
  return b.add(half, b.div(f.value(0.25), half));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.unary(Op::Sinh, ctx.operand(0))));
}

}  // namespace

const OpDef& cosh_def() {
  static constexpr OpDef def{
      .name = "cosh",
      .doc = "The hyperbolic cosine; infinite past the ends.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
