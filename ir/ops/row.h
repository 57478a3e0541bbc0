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

/// x less its mean over `axes`. The mean stays differentiable: what is made of the result may have
/// second derivatives through it.
[[nodiscard]] Value minus_mean(Builder& b, Value x, uint32_t axes);

/// Number of elements that a reduction over `axes` folds.
[[nodiscard]] int64_t num_folded(const Shape& shape, uint32_t axes);

// Normalization over axes: operands x, eps (rank 0) and what scales and shifts the result, which
// has x's extents along the normalized axes. All but x may have its dtype or the wider one.
inline constexpr AttrDef kNormAttrs[] = {{"axes", AttrKind::Axes}};
[[nodiscard]] TensorType infer_norm(const OpContext& ctx);
/// x / sqrt(mean(x*x) + eps), scaled and shifted where there are operands for it.
[[nodiscard]] Value normalized(Builder& b, Value x, std::span<const Value> operands,
                               const OpContext& ctx);
/// x of several shapes, with `affine` operands beside x and eps, and with fewer.
[[nodiscard]] std::vector<Sample> norm_samples(int affine);

}  // namespace reprise
