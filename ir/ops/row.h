// Composites over one axis: half types are computed in f32 and rounded once.
#pragma once

#include "ir/ops/inference.h"

namespace reprise {

/// A float operand with an axis attribute keeps its type.
[[nodiscard]] TensorType infer_row(const OpContext& ctx);
inline constexpr AttrDef kAxisAttrs[] = {{"axis", AttrKind::Int}};

/// f32 for f16 and bf16, else the dtype itself.
[[nodiscard]] DType wide_dtype(DType dtype);

/// x less the largest value along the axis, which a gradient need not look at: it cancels.
[[nodiscard]] Value minus_max(Builder& b, Value x, int axis);

}  // namespace reprise
