// What a range means on an axis.
#pragma once

#include <string_view>

#include "frontend/tensor.h"

namespace reprise {

/// Where a range of an axis starts and how many positions it has, clamped as NumPy does.
struct Positions {
  int64_t start = 0;
  int64_t count = 0;
};
/// Throws Error for a step of 0.
[[nodiscard]] Positions resolve(const Range& range, int64_t extent);

/// Integer indices as i64; what only u64 holds does not become negative. DTypeError for others.
[[nodiscard]] Tensor indices_of(const Tensor& indices, std::string_view what);

}  // namespace reprise
