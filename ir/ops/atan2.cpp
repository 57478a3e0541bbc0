// The angle of a point.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const ScalarId angle = arc_tangent(b, b.unary(ScalarOp::Abs, x[0]), b.unary(ScalarOp::Abs, x[1]));
  const SplitConstant straight = split_constant(2 * kHalfPi, f.dtype);
  const ScalarId rest = b.sub(f.value(straight.high), b.sub(angle, f.value(straight.low)));
  const ScalarId left = b.lt(b.binary(ScalarOp::CopySign, f.value(1), x[1]), f.value(0));
  return b.binary(ScalarOp::CopySign, b.select(left, rest, angle), x[0]);
}

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  const Value y = ctx.operand(0), x = ctx.operand(1);
  if (!ctx.wants(0) && !ctx.wants(1)) return;
  // By the distance twice: its square might overflow or vanish.
  const Value distance = b.binary(Op::Hypot, y, x);
  const Value zero = b.constant(0, b.dtype(ctx.result));
  const Value at_zero = b.binary(Op::Equal, distance, zero);
  const auto slope = [&](Value part) {
    return b.where(at_zero, zero, b.div(b.div(part, distance), distance));
  };
  if (ctx.wants(0)) ctx.accumulate(0, guarded_mul(b, ctx.cotangent, slope(x)));
  if (ctx.wants(1)) ctx.accumulate(1, guarded_mul(b, ctx.cotangent, b.neg(slope(y))));
}

}  // namespace

const OpDef& atan2_def() {
  static constexpr OpDef def{
      .name = "atan2",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "The angle of the point (x2, x1) in (-pi, pi]: atan2(y, x), signed zeros and infinities "
          "as in C. The gradient at (0, 0) is 0.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
