// Bits moved down.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Integer);
  require_dtype(ctx, 1, Accepts::Integer);
  return {ctx.operands[0].dtype, common_shape(ctx)};
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const DType count_dtype = b.dtype(x[1]);
  // Brought into range before the cast, which could wrap a large count to a small one.
  const ScalarId width = b.integer(static_cast<int64_t>(8 * size_of(dtype)), count_dtype);
  ScalarId count = b.binary(ScalarOp::Min, x[1], width);
  if (is_signed_integer(count_dtype)) {
    count = b.select(b.lt(x[1], b.integer(0, count_dtype)), width, count);
  }
  return b.binary(ScalarOp::Shr, x[0], b.cast(count, dtype));
}

}  // namespace

const OpDef& right_shift_def() {
  static constexpr OpDef def{
      .name = "right_shift",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "a >> b in a's dtype, arithmetic for signed values; counts below 0 or past the width "
          "shift everything out.",
      .infer = infer,
      .lower = lower,
      .samples = binary_samples_of<Fill::Extremes, Fill::Extremes, DType::I32>,
  };
  return def;
}

}  // namespace reprise
