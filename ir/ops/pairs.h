// What the ops on pairs (complex numbers, complex integers) share.
#pragma once

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {

/// Pairs to their parts.
[[nodiscard]] inline TensorType infer_part(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Pair);
  return {part_of(ctx.operands[0].dtype), ctx.operands[0].shape};
}

[[nodiscard]] inline Value zero_like(Builder& b, Value x) {
  return b.constant(0, b.dtype(x));
}

[[nodiscard]] inline std::vector<Sample> part_samples() {
  return unary_samples(Fill::Extremes, DType::C64);
}

}  // namespace reprise
