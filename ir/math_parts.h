// What expansions share, here and in ops' own files: constants of one precision, Horner's scheme,
// exponents as integers, the parts of exponentials and logarithms.
#pragma once

#include <span>

#include "ir/scalar.h"

namespace reprise {

/// A builder bound to f32 or f64.
class FloatBuilder {
 public:
  FloatBuilder(ScalarBuilder& builder, DType dtype)
      : b(builder), dtype(dtype), bits(dtype == DType::F32 ? DType::I32 : DType::I64) {}

  [[nodiscard]] bool single() const { return dtype == DType::F32; }
  [[nodiscard]] ScalarId value(double v) { return b.constant(v, dtype); }
  [[nodiscard]] ScalarId integer(int64_t v) { return b.integer(v, bits); }
  [[nodiscard]] ScalarId fma(ScalarId x, double y, ScalarId z) { return b.fma(x, value(y), z); }
  [[nodiscard]] ScalarId fma(ScalarId x, ScalarId y, double z) { return b.fma(x, y, value(z)); }
  /// c[0] + c[1] x + c[2] x^2 + ..
  [[nodiscard]] ScalarId polynomial(ScalarId x, std::span<const double> coefficients) {
    ScalarId sum = value(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, coefficients[i]);
    return sum;
  }
  /// The smaller (larger) of x and a constant; NaN stays. A select, because that is one instruction
  /// on every machine while Min and Max must look at both operands.
  [[nodiscard]] ScalarId at_most(ScalarId x, double bound) {
    return b.select(b.lt(value(bound), x), value(bound), x);
  }
  [[nodiscard]] ScalarId at_least(ScalarId x, double bound) {
    return b.select(b.lt(x, value(bound)), value(bound), x);
  }
  [[nodiscard]] ScalarId fma(ScalarId x, double y, double z) {
    return b.fma(x, value(y), value(z));
  }
  [[nodiscard]] ScalarId nan() {
    return b.constant_bits(single() ? 0x7fc00000 : 0x7ff8000000000000, dtype);
  }
  /// Adding this and taking it away again rounds to an integer, whose low bits are then the sum's.
  [[nodiscard]] double rounder() const { return single() ? 0x1.8p23 : 0x1.8p52; }
  /// The integer that a sum with rounder() was rounded to.
  [[nodiscard]] ScalarId integer_of(ScalarId sum) {
    return b.sub(b.bitcast(sum, bits), b.bitcast(value(rounder()), bits));
  }
  /// x times 2^n, rounded once, for n of about twice the range of normal exponents.
  [[nodiscard]] ScalarId scaled(ScalarId x, ScalarId n);
  /// 2^n of an integer of `bits` in the range of normal exponents.
  [[nodiscard]] ScalarId power_of_two(ScalarId n) {
    const ScalarId biased = b.add(n, integer(single() ? 127 : 1023));
    const ScalarId shifted = b.binary(ScalarOp::Shl, biased, integer(single() ? 23 : 52));
    return b.bitcast(shifted, dtype);
  }

  ScalarBuilder& b;
  const DType dtype;
  const DType bits;  ///< the signed integer of the same size
};

/// e^x = e^rest * 2^exponent with |rest| at most about ln(2)/2; NaN goes into the rest.
struct Exponential {
  ScalarId rest;
  ScalarId exponent;  ///< an integer of the float's size
};
[[nodiscard]] Exponential split_exp(FloatBuilder& f, ScalarId x);
/// e^r and e^r - 1 of such a rest.
[[nodiscard]] ScalarId small_exp(FloatBuilder& f, ScalarId r);
[[nodiscard]] ScalarId small_expm1(FloatBuilder& f, ScalarId r);
/// e^x where the result is known to be a normal number.
[[nodiscard]] ScalarId bounded_exp(FloatBuilder& f, ScalarId x);

/// x = (1 + fraction) * 2^exponent, ln(1 + fraction) = fraction + rest; x positive and finite.
struct Logarithm {
  ScalarId exponent, fraction, rest;  ///< floats
};
[[nodiscard]] Logarithm split_log(FloatBuilder& f, ScalarId x);
/// A logarithm y of x where x is positive and finite: 0 gives -inf, below it NaN; inf and NaN give
/// themselves.
[[nodiscard]] ScalarId with_log_edges(FloatBuilder& f, ScalarId x, ScalarId y);

/// Sin or Cos; f32 and f64.
[[nodiscard]] ScalarId expand_trigonometric(ScalarBuilder& builder, ScalarOp op, ScalarId argument);

}  // namespace reprise
