// Scans: each element of the result is what folding an axis gives up to there.
#pragma once

#include <optional>

#include "frontend/ops.h"

namespace reprise {

/// Running sums and products. Bool and integers are folded in 64 bits and give i64 or u64, as sum
/// and prod do; floats keep their dtype. `dtype`: as of sum.
[[nodiscard]] Tensor cumsum(const Tensor& x, int64_t axis, std::optional<DType> dtype = {});
[[nodiscard]] Tensor cumprod(const Tensor& x, int64_t axis, std::optional<DType> dtype = {});
/// What cumsum takes back: x[i + 1] - x[i] along the axis, `order` times over. Integers wrap in
/// their dtype; of bools: whether the two differ.
[[nodiscard]] Tensor diff(const Tensor& x, int64_t axis = -1, int64_t order = 1);
/// log(exp(x[0]) + .. + exp(x[i])) without overflow; integers are computed in f32.
[[nodiscard]] Tensor logcumsumexp(const Tensor& x, int64_t axis);

/// Values and, as i64, where along the axis they were found.
struct Found {
  Tensor values, indices;
};
/// Running maxima and minima; NaN from the first NaN on. The indices are those of the last element
/// that is equal. What is not read of the two is not computed.
[[nodiscard]] Found cummax(const Tensor& x, int64_t axis);
[[nodiscard]] Found cummin(const Tensor& x, int64_t axis);

/// y[i] = a[i] * y[i-1] + b[i] along the axis, y[0] = b[0]. Dtypes are promoted, shapes broadcast.
[[nodiscard]] Tensor linear_recurrence(const Tensor& a, const Tensor& b, int64_t axis = -1);

}  // namespace reprise
