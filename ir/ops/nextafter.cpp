// The neighbour of a float.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const DType bits = dtype == DType::F64   ? DType::I64
                     : dtype == DType::F32 ? DType::I32
                                           : DType::I16;
  const ScalarId zero = b.constant(0, dtype);
  const ScalarId one = b.integer(1, bits);
  const ScalarId from = b.bitcast(x[0], bits);
  // Away from 0 the bits count up, toward it down.
  const ScalarId grows = b.eq(b.lt(zero, x[0]), b.lt(x[0], x[1]));
  const ScalarId step = b.bitcast(b.select(grows, b.add(from, one), b.sub(from, one)), dtype);
  const ScalarId least = b.binary(ScalarOp::CopySign, b.bitcast(one, dtype), x[1]);
  const ScalarId moved = b.select(b.eq(x[0], zero), least, step);
  const ScalarId is_nan = b.binary(ScalarOp::Or, b.binary(ScalarOp::Ne, x[0], x[0]),
                                   b.binary(ScalarOp::Ne, x[1], x[1]));
  return b.select(is_nan, b.add(x[0], x[1]), b.select(b.eq(x[0], x[1]), x[1], moved));
}

}  // namespace

const OpDef& nextafter_def() {
  static constexpr OpDef def{
      .name = "nextafter",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "The next float after a in the direction of b; b where they are equal, NaN where either "
          "is.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower,
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
