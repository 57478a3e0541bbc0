// Whether the sign bit is set.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  if (!is_float(dtype)) {
    return is_signed_integer(dtype) ? b.lt(x[0], b.integer(0, dtype)) : b.integer(0, DType::Bool);
  }
  return b.lt(b.binary(ScalarOp::CopySign, b.constant(1, dtype), x[0]), b.constant(0, dtype));
}

}  // namespace

const OpDef& signbit_def() {
  static constexpr OpDef def{
      .name = "signbit",
      .doc =
          "Whether the sign bit is set: of -0 and of NaN too; for integers whether x < 0, for bool "
          "false.",
      .infer = predicate<Accepts::Real>,
      .lower = lower,
      .samples = unary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
