// The arc cosine.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId half = f.value(0.5);
  const ScalarId far = b.lt(half, a);
  const ScalarId square = b.select(far, b.mul(b.sub(f.value(1), a), half), b.mul(a, a));
  const ScalarId angle =
      small_arc_sine(b, b.select(far, b.unary(ScalarOp::Sqrt, square), a), square);
  const ScalarId twice = b.add(angle, angle);
  const SplitConstant right = split_constant(kHalfPi, f.dtype);
  const ScalarId high = f.value(right.high), low = f.value(right.low);
  // Near 1 twice the angle, near -1 pi less that, between them pi/2 less the arc sine.
  const ScalarId below = b.lt(x[0], f.value(0));
  const ScalarId beyond = b.sub(b.add(high, high), b.sub(twice, b.add(low, low)));
  const ScalarId between = b.sub(high, b.sub(b.binary(ScalarOp::CopySign, angle, x[0]), low));
  return b.select(far, b.select(below, beyond, twice), between);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value one = b.constant(1, b.dtype(x));
  const Value inside = b.mul(b.sub(one, x), b.add(one, x));
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.neg(b.unary(Op::Rsqrt, inside))));
}

}  // namespace

const OpDef& acos_def() {
  static constexpr OpDef def{
      .name = "acos",
      .doc = "The arc cosine, in [0, pi]; NaN outside [-1, 1].",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Unit>,
  };
  return def;
}

}  // namespace reprise
