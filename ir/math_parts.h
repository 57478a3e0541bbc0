// What the expansions share: constants of one precision, Horner's scheme, exponents as integers.
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
  /// Adding this and taking it away again rounds to an integer, whose low bits are then the sum's.
  [[nodiscard]] double rounder() const { return single() ? 0x1.8p23 : 0x1.8p52; }
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

/// Sin or Cos; f32 and f64.
[[nodiscard]] ScalarId expand_trigonometric(ScalarBuilder& builder, ScalarOp op, ScalarId argument);

}  // namespace reprise
