// x to the power of y.
#include <limits>

#include "ir/ops/inference.h"
#include "ir/ops/pow_f64.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

/// Repeated squaring over the exponent's bits, wrapping. A negative exponent gives the reciprocal
/// cut to an integer, which only 1 and -1 have.
ScalarId integer_pow(ScalarBuilder& b, ScalarId base, ScalarId exponent) {
  const DType dtype = b.dtype(base);
  const ScalarId zero = b.integer(0, dtype);
  const ScalarId one = b.integer(1, dtype);
  const int bits = static_cast<int>(8 * size_of(dtype)) - (is_signed_integer(dtype) ? 1 : 0);
  const auto has_bit = [&](int bit) {
    const ScalarId mask = b.constant_bits(uint64_t{1} << bit, dtype);
    return b.binary(ScalarOp::Ne, b.binary(ScalarOp::And, exponent, mask), zero);
  };
  ScalarId power = b.select(has_bit(0), base, one);
  ScalarId square = base;
  for (int bit = 1; bit < bits; ++bit) {
    square = b.mul(square, square);
    power = b.select(has_bit(bit), b.mul(power, square), power);
  }
  if (!is_signed_integer(dtype)) return power;
  const ScalarId minus_one = b.integer(-1, dtype);
  const ScalarId sign = b.select(has_bit(0), minus_one, one);
  const ScalarId reciprocal =
      b.select(b.eq(base, one), one, b.select(b.eq(base, minus_one), sign, zero));
  return b.select(b.lt(exponent, zero), reciprocal, power);
}

/// Narrow: the result is rounded to f32 or less, for which a logarithm in f64 keeps enough bits.
enum class Precision : uint8_t { Narrow, Full };

/// The edges are those of C's pow (annex F): pow(x, 0) and pow(1, y) are 1 even for NaN.
ScalarId float_pow(ScalarBuilder& b, ScalarId x, ScalarId y, Precision precision) {
  const auto constant = [&](double value) { return b.constant(value, DType::F64); };
  const ScalarId zero = constant(0), one = constant(1), half = constant(0.5);
  const ScalarId infinity = constant(std::numeric_limits<double>::infinity());
  const ScalarId nan = constant(std::numeric_limits<double>::quiet_NaN());
  const auto both = [&](ScalarId p, ScalarId q) { return b.binary(ScalarOp::And, p, q); };
  const auto invert = [&](ScalarId p) { return b.unary(ScalarOp::Not, p); };
  const auto is_whole = [&](ScalarId v) { return b.eq(b.unary(ScalarOp::Trunc, v), v); };

  const ScalarId magnitude = b.unary(ScalarOp::Abs, x);
  ScalarId power = precision == Precision::Full
                       ? pow_f64(b, magnitude, y)
                       : b.unary(ScalarOp::Exp, b.mul(y, b.unary(ScalarOp::Log, magnitude)));
  // Zeros, infinities and NaN decide by themselves; so does a magnitude of 1, which an infinite
  // exponent would take through infinity times 0.
  const ScalarId finite = both(both(b.lt(zero, magnitude), b.lt(magnitude, infinity)),
                               b.lt(b.unary(ScalarOp::Abs, y), infinity));
  const ScalarId grows = b.eq(b.lt(one, magnitude), b.lt(zero, y));
  const ScalarId is_nan =
      b.binary(ScalarOp::Or, b.binary(ScalarOp::Ne, x, x), b.binary(ScalarOp::Ne, y, y));
  const ScalarId extreme =
      b.select(is_nan, nan, b.select(b.eq(magnitude, one), one, b.select(grows, infinity, zero)));
  power = b.select(finite, power, extreme);

  // A negative base: odd whole exponents keep the sign (of zeros and infinities too), fractions
  // have no real power.
  const ScalarId whole = is_whole(y);
  const ScalarId odd = both(whole, invert(is_whole(b.mul(y, half))));
  power = b.select(odd, b.binary(ScalarOp::CopySign, power, x), power);
  const ScalarId below_zero = both(b.lt(x, zero), b.lt(magnitude, infinity));
  power = b.select(both(below_zero, invert(whole)), nan, power);

  return b.select(b.binary(ScalarOp::Or, b.eq(y, zero), b.eq(x, one)), one, power);
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  if (is_integer(dtype)) return integer_pow(b, x[0], x[1]);
  const Precision precision = dtype == DType::F64 ? Precision::Full : Precision::Narrow;
  return b.cast(float_pow(b, b.cast(x[0], DType::F64), b.cast(x[1], DType::F64), precision), dtype);
}

void gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value y = ctx.operand(1);
  const Value zero = b.constant(0, b.dtype(ctx.result));
  if (ctx.wants(0)) {
    const Value one = b.constant(1, b.dtype(ctx.result));
    const Value slope = b.mul(y, b.binary(Op::Pow, x, b.sub(y, one)));
    const Value constant_power = b.binary(Op::Equal, y, zero);
    ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.where(constant_power, zero, slope)));
  }
  if (ctx.wants(1)) {
    // 0 to a positive power stays 0 around there, although the logarithm is infinite. At 0 to the
    // power of 0 the slope from above, 0, counts.
    const Value corner =
        b.binary(Op::BitwiseAnd, b.binary(Op::Equal, x, zero), b.binary(Op::Equal, y, zero));
    const Value logarithm = b.where(corner, zero, b.unary(Op::Log, x));
    ctx.accumulate(1, guarded_mul(b, guarded_mul(b, ctx.cotangent, ctx.result), logarithm));
  }
}

std::vector<Sample> samples() {
  std::vector<Sample> all = binary_samples(Fill::Positive, Fill::Normal);
  for (Sample& sample : binary_samples(Fill::Extremes, Fill::Extremes)) {
    all.push_back(std::move(sample));
  }
  return all;
}

}  // namespace

const OpDef& pow_def() {
  static constexpr OpDef def{
      .name = "pow",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "x to the power of y. Floats as C's pow at the edges: pow(x, 0) = pow(1, y) = 1 even for "
          "NaN, a negative base with a fractional exponent is NaN; f16, bf16 and f32 are computed "
          "in f64. Integers wrap; a negative exponent gives 0 but for bases 1 and -1. The gradient "
          "of "
          "0 to the power of 0 is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower = lower,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
