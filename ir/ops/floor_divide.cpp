// The quotient, rounded down.
#include <limits>

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

/// In f64 the quotient of two f32 cannot round up to an integer that it does not reach, until it
/// has more digits than an f32.
ScalarId narrow(ScalarBuilder& b, ScalarId x, ScalarId y) {
  const ScalarId zero = b.constant(0, DType::F64);
  const ScalarId quotient = b.unary(ScalarOp::Floor, b.div(x, y));
  // Just below 0 there is only what an infinity divides.
  const ScalarId below = b.binary(ScalarOp::And, b.eq(quotient, zero), b.lt(b.mul(x, y), zero));
  return b.select(below, b.constant(-1, DType::F64), quotient);
}

/// The quotient of what the remainder leaves: a whole number but for its rounding, which goes to
/// the nearest one, as in NumPy.
ScalarId full(ScalarBuilder& b, ScalarId x, ScalarId y) {
  const auto number = [&](double value) { return b.constant(value, DType::F64); };
  const auto either = [&](ScalarId p, ScalarId q) { return b.binary(ScalarOp::Or, p, q); };
  const ScalarId zero = number(0);
  const ScalarId magnitude = b.unary(ScalarOp::Abs, x);
  const ScalarId rest = b.binary(ScalarOp::Mod, magnitude, b.unary(ScalarOp::Abs, y));
  const ScalarId whole = b.div(b.sub(x, b.binary(ScalarOp::CopySign, rest, x)), y);
  const ScalarId differ = b.binary(ScalarOp::Ne, b.lt(x, zero), b.lt(y, zero));
  const ScalarId below = b.binary(ScalarOp::And, differ, b.binary(ScalarOp::Ne, rest, zero));
  const ScalarId quotient = b.select(below, b.sub(whole, number(1)), whole);
  const ScalarId floor = b.unary(ScalarOp::Floor, quotient);
  const ScalarId up = b.lt(number(0.5), b.sub(quotient, floor));
  // A zero is not negative here: only that of a division by a negative number is.
  const ScalarId regular = b.add(b.select(up, b.add(floor, number(1)), floor), zero);
  const ScalarId infinite = b.eq(magnitude, number(std::numeric_limits<double>::infinity()));
  const ScalarId special = either(either(b.eq(x, zero), b.eq(y, zero)), infinite);
  return b.select(special, b.div(x, y), regular);
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  if (is_integer(dtype)) return b.binary(ScalarOp::Div, x[0], x[1]);
  if (dtype == DType::F64) return full(b, x[0], x[1]);
  return b.cast(narrow(b, b.cast(x[0], DType::F64), b.cast(x[1], DType::F64)), dtype);
}

}  // namespace

const OpDef& floor_divide_def() {
  static constexpr OpDef def{
      .name = "floor_divide",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "a // b: the quotient rounded down. Integers: by 0 gives 0, MIN // -1 is MIN. Floats: "
          "by 0 gives an infinity or NaN. The gradient is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower = lower,
      .samples = binary_samples_of<Fill::Extremes, Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
