// x limited to an interval.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.binary(ScalarOp::Min, b.binary(ScalarOp::Max, x[0], x[1]), x[2]);
}

/// To x inside the interval, its ends included; else to the bound that was taken.
void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0), low = ctx.operand(1), high = ctx.operand(2);
  const Value zero = b.constant(0, b.dtype(ctx.result));
  const auto both = [&b](Value p, Value q) { return b.binary(Op::BitwiseAnd, p, q); };
  if (ctx.wants(0)) {
    const Value inside = both(b.binary(Op::LessEqual, low, x), b.binary(Op::LessEqual, x, high));
    ctx.accumulate(0, b.where(inside, ctx.cotangent, zero));
  }
  if (ctx.wants(1)) {
    const Value taken = both(b.binary(Op::Less, x, low), b.binary(Op::LessEqual, low, high));
    ctx.accumulate(1, b.where(taken, ctx.cotangent, zero));
  }
  if (ctx.wants(2)) {
    const Value taken = b.binary(Op::Less, high, b.binary(Op::Maximum, x, low));
    ctx.accumulate(2, b.where(taken, ctx.cotangent, zero));
  }
}

}  // namespace

const OpDef& clip_def() {
  static constexpr OpDef def{
      .name = "clip",
      .min_operands = 3,
      .max_operands = 3,
      .doc =
          "clip(x, low, high) = min(max(x, low), high), broadcast; NaN anywhere gives NaN. The "
          "gradient goes to x inside the interval, its ends included, else to the bound taken.",
      .infer = elementwise<Accepts::Number>,
      .lower = lower,
      .gradient = gradient,
      .samples = [] { return ternary_samples(DType::F32, Fill::Normal, Fill::Unit); },
  };
  return def;
}

}  // namespace reprise
