// The inverse of the hyperbolic cosine.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId one = f.value(1);
  const ScalarId large = b.lt(f.value(f.single() ? 0x1p14 : 0x1p30), x[0]);
  const ScalarId t = b.sub(x[0], one);
  const ScalarId root = b.unary(ScalarOp::Sqrt, b.mul(t, b.add(t, f.value(2))));
  const ScalarId y = b.add(log1p(b, b.select(large, b.sub(x[0], one), b.add(t, root))),
                           b.select(large, f.value(0.69314718055994530942), f.value(0)));
  return b.select(b.lt(x[0], one), f.nan(), y);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value one = b.constant(1, b.dtype(x));
  const Value root = b.mul(b.unary(Op::Sqrt, b.sub(x, one)), b.unary(Op::Sqrt, b.add(x, one)));
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, root));
}

}  // namespace

const OpDef& acosh_def() {
  static constexpr OpDef def{
      .name = "acosh",
      .doc = "The inverse of the hyperbolic cosine, 0 and above; NaN below 1.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
