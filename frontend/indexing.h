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

/// x with updates[.., j, ..] folded into x[.., indices[.., j, ..], ..], shapes as of scatter_add:
/// x's own value counts unless it is left out, where an index points to it. A mean of integers is
/// floored.
enum class ScatterReduce : uint8_t { Sum, Prod, Mean, Max, Min };
[[nodiscard]] Tensor scatter_reduce(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                    ScatterReduce reduce, int64_t axis = -1,
                                    bool include_self = true);

/// Rows of `table` (entries, ..) at indices of any shape.
[[nodiscard]] Tensor embedding(const Tensor& indices, const Tensor& table);

/// x with `value`, in x's dtype, where the bool mask holds. The mask is broadcast to x.
[[nodiscard]] Tensor masked_fill(const Tensor& x, const Tensor& mask, Operand value);
/// The positions of what is not zero, row-major, as indices (i64) along each axis; of a scalar
/// none. Their number is known when this returns: x is computed at once.
[[nodiscard]] std::vector<Tensor> nonzero(const Tensor& x);
/// The elements, row-major, where the bool mask holds; x and the mask broadcast to each other. The
/// mask is computed at once.
[[nodiscard]] Tensor masked_select(const Tensor& x, const Tensor& mask);
/// x with `value`, broadcast to the shape of at(x, indices), in place of what `at` reads.
[[nodiscard]] Tensor set_slice(const Tensor& x, std::span<const Index> indices, Operand value);
[[nodiscard]] Tensor set_slice(const Tensor& x, std::initializer_list<Index> indices,
                               Operand value);

/// Where values would have to be inserted into the ascending `sorted` (rank 1): before its equals
/// (Left) or behind them. NaN is above all numbers.
enum class InsertAt : uint8_t { Left, Right };
[[nodiscard]] Tensor searchsorted(const Tensor& sorted, const Tensor& values,
                                  InsertAt side = InsertAt::Left);
/// The number of the bucket that each value lies in: bucket i reaches from boundaries[i-1] to
/// boundaries[i], which are in it on the `closed` side.
enum class ClosedAt : uint8_t { Low, High };
[[nodiscard]] Tensor bucketize(const Tensor& values, const Tensor& boundaries,
                               ClosedAt closed = ClosedAt::High);

}  // namespace reprise
