// The arc sine.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId a = b.unary(ScalarOp::Abs, x[0]);
  const ScalarId half = f.value(0.5);
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
  const ScalarId far = b.lt(half, a);
  const ScalarId square = b.select(far, b.mul(b.sub(f.value(1), a), half), b.mul(a, a));
  const ScalarId angle =
      small_arc_sine(b, b.select(far, b.unary(ScalarOp::Sqrt, square), a), square);
  const SplitConstant right = split_constant(kHalfPi, f.dtype);
  const ScalarId rest = b.sub(f.value(right.high), b.sub(b.add(angle, angle), f.value(right.low)));
  return b.binary(ScalarOp::CopySign, b.select(far, rest, angle), x[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value one = b.constant(1, b.dtype(x));
  const Value inside = b.mul(b.sub(one, x), b.add(one, x));
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.unary(Op::Rsqrt, inside)));
}

}  // namespace

const OpDef& asin_def() {
  static constexpr OpDef def{
      .name = "asin",
      .doc = "The arc sine, in [-pi/2, pi/2]; NaN outside [-1, 1].",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Unit>,
  };
  return def;
}

}  // namespace reprise
