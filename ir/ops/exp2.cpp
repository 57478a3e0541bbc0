// 2 to the power of x.
#include "ir/math_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId bounded = f.single() ? f.at_least(f.at_most(x[0], 129), -151)
                                      : f.at_least(f.at_most(x[0], 1025), -1076);
  const ScalarId sum = b.add(bounded, f.value(f.rounder()));
  const ScalarId fraction = b.sub(bounded, b.sub(sum, f.value(f.rounder())));
  const ScalarId rest = b.mul(fraction, f.value(kLn2));
  return f.scaled(small_exp(f, rest), f.integer_of(sum));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, scaled(b, ctx.result, kLn2)));
}

}  // namespace

const OpDef& exp2_def() {
  static constexpr OpDef def{
      .name = "exp2",
      .doc =
          "2 to the power of x, exact for whole x; infinity and 0 (through denormals) past the "
          "ends.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
