// The logarithm of 1 + x.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return log1p(b, x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value one = b.constant(1, b.dtype(ctx.result));
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, b.add(one, ctx.operand(0))));
}

}  // namespace

const OpDef& log1p_def() {
  static constexpr OpDef def{
      .name = "log1p",
      .doc =
          "log(1 + x), accurate near 0 too; -infinity at -1, NaN below. The sign of zero is kept.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
