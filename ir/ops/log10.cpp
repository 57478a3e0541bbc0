// The logarithm to the base 10.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr double kLnBase = 2.30258509299404568402;

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return log_to_base(b, x[0], 0.301029995663981195213738894724493027L,
                     0.434294481903251827651128918916605082L);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, scaled(b, ctx.operand(0), kLnBase)));
}

}  // namespace

const OpDef& log10_def() {
  static constexpr OpDef def{
      .name = "log10",
      .doc =
          "The logarithm to the base 10, exact for whole powers of it; -infinity at 0, NaN below.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
