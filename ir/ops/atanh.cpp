// The inverse of the hyperbolic tangent.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId ratio = b.div(b.add(a, a), b.sub(f.value(1), a));
  const ScalarId y = b.mul(f.value(0.5), log1p(b, ratio));
  return b.binary(ScalarOp::CopySign, y, x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value one = b.constant(1, b.dtype(x));
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, b.mul(b.sub(one, x), b.add(one, x))));
}

}  // namespace

const OpDef& atanh_def() {
  static constexpr OpDef def{
      .name = "atanh",
      .doc =
          "The inverse of the hyperbolic tangent, accurate near 0 too; infinite at -1 and 1, NaN "
          "beyond.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Unit>,
  };
  return def;
}

}  // namespace reprise
