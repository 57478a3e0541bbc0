// The inverse of the hyperbolic sine.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId one = f.value(1);
  // Where 1 hardly counts beside the square, log(2a); the square may overflow there. log1p takes a
  // less 1 then, which is exact where it counts.
  const ScalarId large = b.lt(f.value(f.single() ? 0x1p14 : 0x1p30), a);
  const ScalarId square = b.mul(a, a);
  const ScalarId root = b.unary(ScalarOp::Sqrt, b.add(one, square));
  const ScalarId small = b.add(a, b.div(square, b.add(one, root)));
  const ScalarId y = b.add(log1p(b, b.select(large, b.sub(a, one), small)),
                           b.select(large, f.value(0.69314718055994530942), f.value(0)));
  return b.binary(ScalarOp::CopySign, y, x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value one = b.constant(1, b.dtype(x));
  ctx.accumulate(0, guarded_div(b, ctx.cotangent, b.binary(Op::Hypot, one, x)));
}

}  // namespace

const OpDef& asinh_def() {
  static constexpr OpDef def{
      .name = "asinh",
      .doc = "The inverse of the hyperbolic sine, accurate near 0 too.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
