// The orders of reductions and contractions, written out plainly: what every kernel must match.
#pragma once

#include <cstdint>

#include "ir/dtype.h"
#include "ir/kernel.h"
#include "ir/shape.h"
#include "ir/target.h"

namespace reprise {

/// The dtype in which a reduction with results of `result` folds: f32 for sums and products of half
/// types, else `result` itself.
[[nodiscard]] DType reference_accumulator(ReduceKind kind, DType result);

/// Folds `count` packed elements by Sum, Prod, Min or Max in the order of Reduction and
/// kReduceBlock. Returns raw bits.
[[nodiscard]] uint64_t reference_reduce(ReduceKind kind, DType dtype, const void* elements,
                                        int64_t count);
/// Index of the first NaN, else of the first largest (ArgMax) or smallest (ArgMin) element.
[[nodiscard]] int64_t reference_argument(ReduceKind kind, DType dtype, const void* elements,
                                         int64_t count);

/// Matrix product of contiguous (..., M, K) and (..., K, N), batch axes broadcast: per element a
/// fused multiply-add chain over k ascending from +0 (without fma: multiply, then add).
void reference_matmul(const TensorType& a_type, const TensorType& b_type, const TensorType& result,
                      const void* a, const void* b, const Numerics& numerics, void* out);

}  // namespace reprise
