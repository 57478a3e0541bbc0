// The part after the point.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.sub(x[0], b.unary(ScalarOp::Trunc, x[0]));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  ctx.accumulate(0, ctx.cotangent);
}

}  // namespace

const OpDef& frac_def() {
  static constexpr OpDef def{
      .name = "frac",
      .doc = "x - trunc(x), of x's sign; NaN at infinity.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
