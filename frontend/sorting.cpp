// Sorting by keys: unsigned integers in the order of the values.
#include "frontend/sorting.h"

#include "frontend/create.h"
#include "frontend/indexing.h"
#include "frontend/rearrange.h"
#include "frontend/record.h"

namespace reprise {

namespace {

DType key_dtype(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::U8;
    case 2:
      return DType::U16;
    case 4:
      return DType::U32;
    default:
      return DType::U64;
  }
}

Tensor sort_key(const Tensor& given, Order order) {
  const Tensor x = stop_gradient(given);
  const DType dtype = x.dtype(), key = key_dtype(dtype);
  if (is_pair(dtype)) throw DTypeError(str("sort: ", x.type(), " has no order"));
  Tensor result;
  if (dtype == DType::Bool) {
    result = cast(x, key);
  } else {
    const Tensor top = left_shift(full({}, 1, key), static_cast<int64_t>(8 * size_of(key) - 1));
    if (is_float(dtype)) {
      const Tensor bits = bitcast(where(x == 0, 0, x), key);
      result = where(bitwise_and(bits, top) == 0, bitwise_or(bits, top), bitwise_invert(bits));
      result = where(isnan(x), bitwise_invert(full({}, 0, key)), result);
    } else {
      result = is_unsigned_integer(dtype) ? x : bitwise_xor(bitcast(x, key), top);
    }
  }
  return order == Order::Descending ? bitwise_invert(result) : result;
}

Tensor ordered(const Tensor& x, int axis, Order order) {
  return record(Op::Argsort, sort_key(x, order), Attrs().add_int(axis));
}

/// Of a line of sorted keys: where one differs from the one before.
Tensor starts_of(const Tensor& sorted) {
  const int64_t extent = sorted.numel();
  const Tensor first = full({1}, true);
  if (extent <= 1) return slice(first, 0, {0, extent});
  return concat({first, slice(sorted, 0, {1, extent}) != slice(sorted, 0, {0, extent - 1})});
}

/// Of each column of (n, m): its elements' places among the different ones, in ascending order.
Tensor column_ranks(const Tensor& x) {
  const Shape shape = x.shape();
  const Tensor order = ordered(x, 0, Order::Ascending);
  const Tensor sorted = take_along_axis(x, order, 0);
  Tensor starts = zeros({1, shape[1]}, DType::Bool);
  if (shape[0] > 1) {
    starts = concat({starts, slice(sorted, 0, {.start = 1}) != slice(sorted, 0, {.stop = -1})}, 0);
  }
  return scatter(zeros(shape, DType::I64), order, cumsum(starts, 0), 0);
}

/// The rank of each row of (n, m) among the different ones; the first columns weigh most.
Tensor row_ranks(const Tensor& x) {
  const int64_t rows = x.size(0);
  if (x.size(1) == 0) return zeros({rows}, DType::I64);
  // Pairs of columns become one, whose elements are ordered as the pairs are.
  Tensor ranks = column_ranks(x);
  while (ranks.size(1) > 1) {
    const int64_t columns = ranks.size(1);
    const Tensor first = slice(ranks, 1, {.start = 0, .stop = columns - columns % 2, .step = 2});
    const Tensor second = slice(ranks, 1, {.start = 1, .step = 2});
    const Tensor pairs = column_ranks(first * rows + second);
    ranks = columns % 2 == 0 ? pairs : concat({pairs, slice(ranks, 1, {.start = columns - 1})}, 1);
  }
  return reshape(ranks, {rows});
}

/// From the rank of each of n elements: where the first of each rank is, the inverse, the counts.
Unique unique_by_rank(const Tensor& ranks) {
  const int64_t extent = ranks.numel();
  const Tensor order = ordered(ranks, 0, Order::Ascending);
  const Tensor places = nonzero(starts_of(gather(ranks, order)))[0];  // this computes
  const Tensor ends = concat({places, full({1}, extent)});
  const int64_t count = places.numel();
  return {.values = {},
          .indices = gather(order, places),
          .inverse = ranks.value(),
          .counts = slice(ends, 0, {1, count + 1}) - slice(ends, 0, {0, count})};
}

}  // namespace

Tensor argsort(const Tensor& x, int64_t axis, Order order) {
  return ordered(x, normalize_axis(axis, x.rank()), order);
}

Tensor sort(const Tensor& x, int64_t axis, Order order) {
  const int along = normalize_axis(axis, x.rank());
  return take_along_axis(x, ordered(x, along, order), along);
}

Found topk(const Tensor& x, int64_t k, int64_t axis, Order order) {
  const int along = normalize_axis(axis, x.rank());
  const int64_t extent = x.shape()[along];
  if (k < 0 || k > extent) {
    throw ShapeError(str("topk: ", k, " of axis ", along, " of ", x.type()));
  }
  const Tensor indices = slice(ordered(x, along, order), along, {0, k});
  return {take_along_axis(x, indices, along), indices};
}

Unique unique(const Tensor& x) {
  const Shape shape = x.shape();
  const Tensor all = flatten(x);
  const Tensor order = ordered(all, 0, Order::Ascending);
  const Tensor sorted = gather(all, order);
  const Tensor starts = starts_of(sorted);
  const Tensor groups = cumsum(starts, 0) - 1;
  const Tensor places = nonzero(starts)[0];  // this computes
  const Tensor ends = concat({places, full({1}, all.numel())});
  const int64_t count = places.numel();
  return {.values = gather(sorted, places),
          .indices = gather(order, places),
          .inverse = reshape(scatter(zeros({all.numel()}, DType::I64), order, groups, 0),
                             std::span<const int64_t>(shape.begin(), shape.end())),
          .counts = slice(ends, 0, {1, count + 1}) - slice(ends, 0, {0, count})};
}

Unique unique(const Tensor& x, int64_t axis) {
  const int along = normalize_axis(axis, x.rank());
  const int64_t extent = x.size(along);
  const int64_t rest = extent == 0 ? 0 : x.numel() / extent;
  const Tensor rows = reshape(moveaxis(x, along, 0), {extent, rest});
  Unique found = unique_by_rank(row_ranks(rows));
  found.values = gather(x, found.indices, along);
  return found;
}

}  // namespace reprise
