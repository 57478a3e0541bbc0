// Floored division of floats, shared by floor_divide and remainder.
#include "ir/ops/floored.h"

#include <limits>

namespace reprise {

FlooredDivision floored_division(ScalarBuilder& b, ScalarId dividend, ScalarId divisor) {
  // In f64 the quotient of two f32 cannot round up to an integer that it does not reach, and the
  // product is exact. f64 itself needs the fused product and a correction.
  const DType dtype = b.dtype(dividend);
  const ScalarId x = b.cast(dividend, DType::F64);
  const ScalarId y = b.cast(divisor, DType::F64);
  const ScalarId zero = b.constant(0, DType::F64);
  const ScalarId infinity = b.constant(std::numeric_limits<double>::infinity(), DType::F64);
  const auto is_infinite = [&](ScalarId v) { return b.eq(b.unary(ScalarOp::Abs, v), infinity); };

  ScalarId quotient = b.unary(ScalarOp::Floor, b.div(x, y));
  ScalarId remainder = b.fma(b.unary(ScalarOp::Neg, quotient), y, x);
  // A finite value over an infinity: the quotient is 0 or just below it, the product above 0*inf.
  const ScalarId over_infinity =
      b.binary(ScalarOp::And, is_infinite(y), b.lt(b.unary(ScalarOp::Abs, x), infinity));
  remainder = b.select(over_infinity, x, remainder);
  const ScalarId wrong_sign =
      b.lt(b.mul(b.binary(ScalarOp::CopySign, b.constant(1, DType::F64), y), remainder), zero);
  quotient = b.select(
      wrong_sign,
      b.select(over_infinity, b.constant(-1, DType::F64),
               dtype == DType::F64 ? b.sub(quotient, b.constant(1, DType::F64)) : quotient),
      quotient);
  remainder = b.select(wrong_sign, b.add(remainder, y), remainder);
  remainder = b.select(b.eq(remainder, zero), b.binary(ScalarOp::CopySign, zero, y), remainder);
  return {b.cast(quotient, dtype), b.cast(remainder, dtype)};
}

}  // namespace reprise
