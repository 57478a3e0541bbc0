// The reference evaluation of what goes along one axis in order: scans, scatters, sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/op.h"

namespace reprise {

struct Numerics;

/// The dtype in which a scan or a scatter with a step computes: f32 for half types.
[[nodiscard]] DType step_dtype(DType result);

/// `operands` are packed values in `operand_dtype` of result's shape.
void reference_scan(Op op, const Attrs& attrs, DType operand_dtype, const TensorType& result,
                    std::span<const void* const> operands, const Numerics& numerics, void* out);

/// `rows` are the indices, from 0. Update by update in their order.
void reference_scatter(Op op, const Attrs& attrs, const TensorType& result, const void* x,
                       std::span<const int64_t> rows, const void* updates, const Numerics& numerics,
                       void* out);

/// Indices that order `keys` along an axis, equal ones as they stand.
void reference_argsort(const TensorType& keys, int axis, const void* data, int64_t* out);

}  // namespace reprise
