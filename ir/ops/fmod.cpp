// What a division rounded towards zero leaves.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  if (is_float(dtype)) {
    const auto magnitude = [&](ScalarId v) { return b.unary(ScalarOp::Abs, v); };
    const ScalarId rest = b.binary(ScalarOp::Mod, magnitude(x[0]), magnitude(x[1]));
    return b.binary(ScalarOp::CopySign, rest, x[0]);
  }
  const ScalarId rest = b.binary(ScalarOp::Mod, x[0], x[1]);
  if (!is_signed_integer(dtype)) return rest;
  // The floored one has the divisor's sign: it is one divisor off where the other differs.
  const ScalarId zero = b.integer(0, dtype);
  const ScalarId signs = b.binary(ScalarOp::Xor, rest, x[0]);
  const ScalarId differs =
      b.binary(ScalarOp::And, b.lt(signs, zero), b.unary(ScalarOp::Not, b.eq(rest, zero)));
  return b.select(differs, b.sub(rest, x[1]), rest);
}

void gradient(GradientContext& ctx) {
  // The quotient is a step.
  Builder& b = ctx.builder;
  ctx.accumulate(0, ctx.cotangent);
  if (!ctx.wants(1)) return;
  const Value multiple = b.sub(ctx.operand(0), ctx.result);
  const Value quotient = b.unary(Op::Round, b.div(multiple, ctx.operand(1)));
  ctx.accumulate(1, b.neg(guarded_mul(b, ctx.cotangent, quotient)));
}

}  // namespace

const OpDef& fmod_def() {
  static constexpr OpDef def{
      .name = "fmod",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "a - trunc(a / b) * b, with the sign of a. Floats: exact however large the quotient is; "
          "by 0 gives NaN. Integers: by 0 gives 0.",
      .infer = elementwise<Accepts::Number>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = binary_samples_of<Fill::Normal, Fill::Nonzero>,
  };
  return def;
}

}  // namespace reprise
