// -1, 0 or 1 by the sign of x.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const ScalarId zero = b.constant(0, dtype);
  const ScalarId one = b.constant(1, dtype);
  if (is_unsigned_integer(dtype)) return b.select(b.eq(x[0], zero), zero, one);
  // What is neither above nor below 0 is a zero or a NaN.
  ScalarId rest = zero;
  if (is_float(dtype)) rest = b.select(b.eq(x[0], zero), zero, x[0]);
  const ScalarId below = b.select(b.lt(x[0], zero), b.constant(-1, dtype), rest);
  return b.select(b.lt(zero, x[0]), one, below);
}

}  // namespace

const OpDef& sign_def() {
  static constexpr OpDef def{
      .name = "sign",
      .doc = "-1, 0 or 1. sign(-0) is 0, sign(NaN) is NaN. The gradient is 0.",
      .infer = elementwise<Accepts::Number>,
      .lower = lower,
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
