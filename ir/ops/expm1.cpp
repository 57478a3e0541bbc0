// e to the power of x, less 1.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return expm1(b, x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value one = b.constant(1, b.dtype(ctx.result));
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.add(ctx.result, one)));
}

}  // namespace

const OpDef& expm1_def() {
  static constexpr OpDef def{
      .name = "expm1",
      .doc = "exp(x) - 1, accurate near 0 too; -1 at -infinity. The sign of zero is kept.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
