// The logarithm to the base 2.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr double kLnBase = 0.69314718055994530942;

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return log_to_base(b, x[0], 1, 1.44269504088896340735992468100189214L);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, scaled(b, ctx.operand(0), kLnBase)));
}

}  // namespace

const OpDef& log2_def() {
  static constexpr OpDef def{
      .name = "log2",
      .doc =
          "The logarithm to the base 2, exact for whole powers of it; -infinity at 0, NaN below.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
