// Order: sorted values, the indices that sort, the largest, the different ones.
//
// Sorting is stable. NaN orders above all numbers, -0 and +0 are equal, false is below true.
#pragma once

#include "frontend/scans.h"

namespace reprise {

enum class Order : uint8_t { Ascending, Descending };

/// x's elements in order along an axis; a gradient goes back to where they came from.
[[nodiscard]] Tensor sort(const Tensor& x, int64_t axis = -1, Order order = Order::Ascending);
/// The i64 indices along the axis at which they stood.
[[nodiscard]] Tensor argsort(const Tensor& x, int64_t axis = -1, Order order = Order::Ascending);
/// The k largest elements of an axis, the largest first, or the smallest: the first of equal ones
/// first. Throws ShapeError where the axis has fewer.
[[nodiscard]] Found topk(const Tensor& x, int64_t k, int64_t axis = -1,
                         Order order = Order::Descending);

/// The different elements of x, whatever its shape, in ascending order; each NaN is one of its own.
/// Their number is known when this returns: x is computed at once.
struct Unique {
  Tensor values;   ///< rank 1
  Tensor indices;  ///< i64: where in x, row-major, each stands first
  Tensor inverse;  ///< i64, of x's shape: where in `values` each element of x is
  Tensor counts;   ///< i64: how often each one occurs
};
[[nodiscard]] Unique unique(const Tensor& x);
/// The different slices along an axis, as NumPy's: in the order of their elements, row-major, the
/// first that differ decide. `values` has x's shape with another extent along the axis, the others
/// are of rank 1; a slice with a NaN is like no other.
[[nodiscard]] Unique unique(const Tensor& x, int64_t axis);

}  // namespace reprise
