// Reading and writing by indices and masks. Nothing is changed in place: what writes gives a copy.
//
// Indices are integers; negative ones count from the end. One out of range throws IndexError when a
// result is read. Where indices repeat, their order is the row-major one: what is added is added in
// it, and of what is put the last remains.
#pragma once

#include "frontend/ops.h"

namespace reprise {

/// x's entries along `axis` at indices of rank 1.
[[nodiscard]] Tensor index_select(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// x with `updates` added at (put to) the places of gather(x, indices, axis), whose shape they are
/// broadcast to. Dtypes are promoted.
[[nodiscard]] Tensor index_add(const Tensor& x, const Tensor& indices, const Tensor& updates,
                               int64_t axis = 0);
[[nodiscard]] Tensor index_put(const Tensor& x, const Tensor& indices, const Tensor& updates,
                               int64_t axis = 0);

/// One index for each element: result[.., j, ..] = x[.., indices[.., j, ..], ..]. Same ranks; other
/// axes broadcast.
[[nodiscard]] Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t axis = -1);
/// x with updates[.., j, ..] added at (put to) x[.., indices[.., j, ..], ..]. Updates have the
/// shape of the indices, which along other axes reach no further than x.
[[nodiscard]] Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                 int64_t axis = -1);
[[nodiscard]] Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates,
                             int64_t axis = -1);

/// Rows of `table` (entries, ..) at indices of any shape.
[[nodiscard]] Tensor embedding(const Tensor& indices, const Tensor& table);

/// x with `value`, in x's dtype, where the bool mask holds. The mask is broadcast to x.
[[nodiscard]] Tensor masked_fill(const Tensor& x, const Tensor& mask, Operand value);
/// x with `value`, broadcast to the shape of at(x, indices), in place of what `at` reads.
[[nodiscard]] Tensor set_slice(const Tensor& x, std::span<const Index> indices, Operand value);
[[nodiscard]] Tensor set_slice(const Tensor& x, std::initializer_list<Index> indices,
                               Operand value);

/// Where values would have to be inserted into the ascending `sorted` (rank 1): before its equals
/// (Left) or behind them. NaN is above all numbers. Compares each with each.
enum class InsertAt : uint8_t { Left, Right };
[[nodiscard]] Tensor searchsorted(const Tensor& sorted, const Tensor& values,
                                  InsertAt side = InsertAt::Left);

}  // namespace reprise
