// Reading and writing by indices and masks.
#include "frontend/indexing.h"

#include <bit>
#include <cstdlib>
#include <limits>

#include "frontend/create.h"
#include "frontend/positions.h"
#include "frontend/record.h"
#include "frontend/scans.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

/// Each value is compared with no more than so many; among more it is searched.
constexpr int64_t kMaxCompared = 32;

Tensor reshaped(const Tensor& x, const Shape& shape) {
  return reshape(x, std::span<const int64_t>(shape.begin(), shape.end()));
}

Tensor written(Op op, const Tensor& x, const Tensor& indices, const Tensor& updates, int axis) {
  const DType dtype = promote(x.dtype(), updates.dtype());
  return record(op, {cast(x, dtype).id(), indices.id(), cast(updates, dtype).id()},
                Attrs().add_int(axis));
}

Tensor written_at(Op op, const Tensor& x, const Tensor& indices, const Tensor& updates,
                  int64_t axis) {
  const Tensor places = indices_of(indices, op_def(op).name);
  const Shape shape = x.shape(), picked = places.shape();
  const int along = normalize_axis(axis, shape.rank());
  Extents extents;
  for (int i = 0; i < along; ++i) extents.push_back(shape[i]);
  for (const int64_t extent : picked) extents.push_back(extent);
  for (int i = along + 1; i < shape.rank(); ++i) extents.push_back(shape[i]);
  return written(op, x, places, broadcast_to(updates, Shape(extents)), along);
}

/// Indices along one axis as positions in the row-major order of all of x's elements.
Tensor flat_indices(const TensorType& x, const Tensor& indices, int axis, std::string_view what) {
  const Shape shape = indices.shape();
  const int rank = x.shape.rank();
  if (shape.rank() != rank) {
    throw ShapeError(str(what, " of ", x, ": indices ", shape, " have rank ", shape.rank()));
  }
  const int64_t extent = x.shape[axis];
  if (extent == 0 && shape.numel() != 0) {
    throw IndexError(str(what, ": axis ", axis, " of ", x, " has no element for indices ", shape));
  }
  Tensor result = indices_of(indices, what);
  // Negative ones as far as they count from the end; others are found, and told as they are.
  result = where(logical_and(result < 0, result >= -extent), result + extent, result);
  result = record(Op::CheckIndex, result, Attrs().add_int(extent));
  const auto strides = x.shape.contiguous_strides();
  result = result * strides[axis];
  for (int i = 0; i < rank; ++i) {
    if (i == axis) continue;
    if (shape[i] > x.shape[i]) {
      throw ShapeError(str(what, " of ", x, ": indices ", shape, " reach past axis ", i));
    }
    Extents along;
    for (int k = 0; k < rank; ++k) along.push_back(k == i ? shape[i] : 1);
    if (shape[i] > 1) result = result + reshaped(arange(shape[i]) * strides[i], Shape(along));
  }
  return result;
}

Tensor written_along(Op op, const Tensor& x, const Tensor& indices, const Tensor& updates,
                     int64_t axis) {
  const TensorType type = x.type();
  const std::string_view what = op_def(op).name;
  if (updates.shape() != indices.shape()) {
    throw ShapeError(
        str(what, " of ", type, ": updates ", updates.shape(), " for indices ", indices.shape()));
  }
  const int along = normalize_axis(axis, type.shape.rank());
  const Tensor places = flat_indices(type, indices, along, what);
  if (type.shape.numel() == 0) return cast(x, promote(type.dtype, updates.dtype()));
  return reshaped(written(op, flatten(x), places, updates, 0), type.shape);
}

/// Row-major numbers of the elements that are not zero.
Tensor nonzero_elements(const Tensor& x) {
  const Tensor holds = flatten(x.dtype() == DType::Bool ? x.value() : x != 0);
  const int64_t elements = holds.numel();
  if (elements == 0) return zeros({0}, DType::I64);
  const Tensor counts = cumsum(holds, 0);
  const int64_t count = counts[-1].item<int64_t>();
  // Each to its place among them; what is zero to one more, which is dropped.
  const Tensor places = where(holds, counts - 1, count);
  const Tensor all = index_put(zeros({count + 1}, DType::I64), places, arange(elements));
  return slice(all, 0, {0, count});
}

/// The values at the ends of a dtype's order.
Tensor lowest(DType dtype) {
  if (is_float(dtype)) return full({}, -std::numeric_limits<double>::infinity(), dtype);
  if (!is_signed_integer(dtype)) return full({}, 0, dtype);
  return left_shift(full({}, 1, dtype), static_cast<int64_t>(8 * size_of(dtype) - 1));
}
Tensor highest(DType dtype) {
  return is_float(dtype) ? negative(lowest(dtype)) : bitwise_invert(lowest(dtype));
}

/// A value of x's dtype; a number stays what it is until then.
Tensor value_for(const TensorType& x, const Operand& value, std::string_view what) {
  if (value.tensor() == nullptr) return full({}, value.number(), x.dtype);
  const DType dtype = value.tensor()->dtype();
  if (promote(x.dtype, dtype) != x.dtype) {
    throw DTypeError(str(what, " of ", x, ": a value of ", dtype, " does not fit"));
  }
  return cast(*value.tensor(), x.dtype);
}

/// `x`, `step` elements apart along an axis of `extent` elements, the first at `start`; else zeros.
Tensor spread(const Tensor& x, int axis, int64_t start, int64_t step, int64_t extent) {
  const Shape shape = x.shape();
  const int64_t count = shape[axis];
  Tensor result = x;
  Extents low, high;
  for (int i = 0; i < shape.rank(); ++i) low.push_back(0);
  high = low;
  if (step > 1 && count > 1) {
    // All but the last with the gap behind them, which may reach past the end.
    Extents wide_low, wide_high, merged;
    for (int i = 0; i < shape.rank(); ++i) {
      wide_low.push_back(0);
      wide_high.push_back(0);
      if (i == axis) {
        wide_low.push_back(0);
        wide_high.push_back(step - 1);
      }
      merged.push_back(i == axis ? count * step : shape[i]);
    }
    if (shape.rank() == kMaxDims) {
      throw ShapeError(str("set_slice with a step of ", step, " into rank ", shape.rank()));
    }
    result = reshaped(pad(unsqueeze(x, axis + 1), wide_low, wide_high), Shape(merged));
    result = slice(result, axis, {0, (count - 1) * step + 1});
  }
  low[axis] = start;
  high[axis] = extent - start - result.shape()[axis];
  return pad(result, low, high);
}

}  // namespace

Tensor index_select(const Tensor& x, const Tensor& indices, int64_t axis) {
  if (indices.rank() != 1) {
    throw ShapeError(str("index_select: indices have rank 1, they are ", indices.type()));
  }
  return gather(x, indices, axis);
}

Tensor index_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis) {
  return written_at(Op::ScatterAdd, x, indices, updates, axis);
}

Tensor index_put(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis) {
  return written_at(Op::Scatter, x, indices, updates, axis);
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t axis) {
  const Shape own = x.shape(), picked = indices.shape();
  const int along = normalize_axis(axis, own.rank());
  Extents from, places;
  for (int i = 0; i < own.rank() && own.rank() == picked.rank(); ++i) {
    from.push_back(i != along && own[i] == 1 ? picked[i] : own[i]);
    places.push_back(i != along && picked[i] == 1 ? own[i] : picked[i]);
    if (i == along || from[i] == places[i]) continue;
    throw ShapeError(
        str("take_along_axis of ", x.type(), ": indices ", picked, " along axis ", along));
  }
  if (own.rank() != picked.rank()) {
    throw ShapeError(
        str("take_along_axis of ", x.type(), ": indices ", picked, " have rank ", picked.rank()));
  }
  const Tensor whole = broadcast_to(x, Shape(from));
  const Tensor index = broadcast_to(indices, Shape(places));
  return gather(flatten(whole), flat_indices(whole.type(), index, along, "take_along_axis"));
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis) {
  return written_along(Op::ScatterAdd, x, indices, updates, axis);
}

Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis) {
  return written_along(Op::Scatter, x, indices, updates, axis);
}

Tensor scatter_reduce(const Tensor& x, const Tensor& indices, const Tensor& updates,
                      ScatterReduce reduce, int64_t axis, bool include_self) {
  const DType dtype = promote(x.dtype(), updates.dtype());
  const auto count = [&] {
    const Tensor own = full(x.shape(), include_self ? 1 : 0, DType::I64);
    return scatter_add(own, indices, full(updates.shape(), 1, DType::I64), axis);
  };
  // What is left out is replaced by what changes nothing.
  const auto start = [&](const auto& neutral) {
    if (include_self) return x.value();
    const Tensor neutrals = broadcast_to(neutral(), updates.shape());
    return written_along(Op::Scatter, cast(x, dtype), indices, neutrals, axis);
  };
  const auto number = [&](int value) { return [&, value] { return full({}, value, dtype); }; };
  switch (reduce) {
    case ScatterReduce::Sum:
      return written_along(Op::ScatterAdd, start(number(0)), indices, updates, axis);
    case ScatterReduce::Prod:
      return written_along(Op::ScatterMultiply, start(number(1)), indices, updates, axis);
    case ScatterReduce::Mean: {
      const Tensor sums = written_along(Op::ScatterAdd, start(number(0)), indices, updates, axis);
      const Tensor counts = maximum(count(), 1);
      if (is_integer(dtype)) return cast(floor_divide(sums, counts), dtype);
      return sums / cast(counts, dtype);
    }
    case ScatterReduce::Max:
      return written_along(Op::ScatterMaximum, start([&] { return lowest(dtype); }), indices,
                           updates, axis);
    case ScatterReduce::Min:
      return written_along(Op::ScatterMinimum, start([&] { return highest(dtype); }), indices,
                           updates, axis);
  }
  return {};
}

Tensor embedding(const Tensor& indices, const Tensor& table) {
  return gather(table, indices);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Operand value) {
  const TensorType type = x.type();
  if (mask.dtype() != DType::Bool) {
    throw DTypeError(str("masked_fill: the mask must be bool, it is ", mask.type()));
  }
  return where(broadcast_to(mask, type.shape), value_for(type, value, "masked_fill"), x);
}

std::vector<Tensor> nonzero(const Tensor& x) {
  const Shape shape = x.shape();
  const Tensor flat = nonzero_elements(x);
  std::vector<Tensor> result;
  const auto strides = shape.contiguous_strides();
  for (int i = 0; i < shape.rank(); ++i) {
    const Tensor along = strides[i] == 1 ? flat : floor_divide(flat, strides[i]);
    result.push_back(i == 0 ? along.value() : remainder(along, shape[i]));
  }
  return result;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  if (mask.dtype() != DType::Bool) {
    throw DTypeError(str("masked_select: the mask must be bool, it is ", mask.type()));
  }
  const Shape shape = broadcast_shapes(x.shape(), mask.shape());
  const Tensor places = nonzero_elements(broadcast_to(mask, shape));
  return gather(flatten(broadcast_to(x, shape)), places);
}

Tensor set_slice(const Tensor& x, std::span<const Index> indices, Operand value) {
  const TensorType type = x.type();
  const int rank = type.shape.rank();
  const Tensor part = at(x, indices);  // for its checks and its shape
  Tensor put = broadcast_to(value_for(type, value, "set_slice"), part.shape());
  // Axes that positions dropped come back, each of one element.
  Extents kept, starts, steps;
  std::vector<int64_t> turned;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    const Index index = i < static_cast<int>(indices.size()) ? indices[i] : Index(Range{});
    const int64_t extent = type.shape[i];
    if (!index.is_range()) {
      kept.push_back(1);
      starts.push_back(index.position() + (index.position() < 0 ? extent : 0));
      steps.push_back(1);
      continue;
    }
    const int64_t count = part.shape()[next++];
    const Positions positions = resolve(index.range(), extent);
    const int64_t step = count > 1 ? index.range().step : 1;
    kept.push_back(count);
    steps.push_back(std::abs(step));
    starts.push_back(step < 0 ? positions.start + (count - 1) * step : positions.start);
    if (step < 0) turned.push_back(i);
  }
  put = reshaped(put, Shape(kept));
  if (!turned.empty()) put = flip(put, AxisList(turned));
  if (put.numel() == 0) return x.value();
  if (put.shape() == type.shape) return put;
  Tensor holds = full(Shape(kept), true);
  for (int i = 0; i < rank; ++i) {
    if (kept[i] == type.shape[i]) continue;
    put = spread(put, i, starts[i], steps[i], type.shape[i]);
    holds = spread(holds, i, starts[i], steps[i], type.shape[i]);
  }
  return where(holds, put, x);
}

Tensor set_slice(const Tensor& x, std::initializer_list<Index> indices, Operand value) {
  return set_slice(x, std::span(indices.begin(), indices.size()), value);
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, InsertAt side) {
  if (sorted.rank() != 1) {
    throw ShapeError(str("searchsorted: what is sorted has rank 1, it is ", sorted.type()));
  }
  const DType dtype = promote(sorted.dtype(), values.dtype());
  const Tensor a = cast(sorted, dtype), v = cast(values, dtype);
  const auto is_below = [&](const Tensor& a, const Tensor& v) {
    const Tensor below = side == InsertAt::Left ? a < v : a <= v;
    if (!is_float(dtype)) return below;
    const Tensor last = isnan(v);
    return logical_or(below, side == InsertAt::Left ? logical_and(last, !isnan(a)) : last);
  };
  const int64_t extent = sorted.numel();
  if (extent <= kMaxCompared) {
    return sum(cast(is_below(a, unsqueeze(v, -1)), DType::I64), -1);
  }
  // By halving steps: all elements before `place` are below.
  Tensor place = full(v.shape(), 0, DType::I64);
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(extent))); step > 0;
       step /= 2) {
    const Tensor next = place + step;
    const Tensor below = is_below(gather(a, minimum(next, extent) - 1), v);
    place = where(logical_and(below, next <= extent), next, place);
  }
  return place;
}

Tensor bucketize(const Tensor& values, const Tensor& boundaries, ClosedAt closed) {
  const InsertAt side = closed == ClosedAt::High ? InsertAt::Left : InsertAt::Right;
  return searchsorted(boundaries, values, side);
}

}  // namespace reprise
