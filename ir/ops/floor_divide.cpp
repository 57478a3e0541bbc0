// The quotient, rounded down.
#include "ir/ops/floored.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  if (is_integer(b.dtype(x[0]))) return b.binary(ScalarOp::Div, x[0], x[1]);
  return floored_division(b, x[0], x[1]).quotient;
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
