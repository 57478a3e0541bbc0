// Movement made of movement: rolled, repeated, padded, cut and spread tensors.
#include "frontend/rearrange.h"

#include <algorithm>
#include <numeric>

#include "frontend/create.h"
#include "frontend/record.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

/// The shape around an axis: everything before it and after it as one extent each.
struct Around {
  int64_t before = 1, extent = 1, after = 1;
};
Around around(const Shape& shape, int axis) {
  Around result;
  for (int i = 0; i < shape.rank(); ++i) {
    (i < axis ? result.before : i == axis ? result.extent : result.after) *= shape[i];
  }
  return result;
}

Shape with_extent(const Shape& shape, int axis, int64_t extent) {
  Extents extents(shape.extents());
  extents[axis] = extent;
  return Shape(extents);
}

Tensor reshaped(const Tensor& x, const Shape& shape) {
  return reshape(x, std::span<const int64_t>(shape.begin(), shape.end()));
}

/// What multiplies an axis: each element, or the whole.
enum class Copies : uint8_t { OfElements, OfAxis };
Tensor multiplied(const Tensor& x, int64_t times, int axis, Copies copies) {
  if (times < 0)
    throw ShapeError(str("an axis of ", x.type(), " cannot be repeated ", times, " times"));
  const Shape shape = x.shape();
  const auto [before, extent, after] = around(shape, axis);
  const bool inner = copies == Copies::OfElements;
  const Tensor single = reshape(x, {before, inner ? extent : 1, inner ? 1 : extent, after});
  const Tensor spread =
      broadcast_to(single, {before, inner ? extent : times, inner ? times : extent, after});
  return reshaped(spread, with_extent(shape, axis, extent * times));
}

Tensor padded_axis(const Tensor& x, int axis, int64_t low, int64_t high, PadMode mode) {
  const TensorType type = x.type();
  const int64_t extent = type.shape[axis];
  const int64_t most = mode == PadMode::Reflect ? extent - 1 : extent;
  const bool endless = mode == PadMode::Replicate && extent > 0;
  if (!endless && std::max(low, high) > most) {
    throw ShapeError(str("pad: axis ", axis, " of ", type, " has only ", std::max<int64_t>(most, 0),
                         " elements to repeat, ", std::max(low, high), " are wanted"));
  }
  const auto part = [&](int64_t start, int64_t stop) { return slice(x, axis, {start, stop}); };
  const auto edge = [&](int64_t position, int64_t times) {
    return broadcast_to(part(position, position + 1), with_extent(type.shape, axis, times));
  };
  std::vector<Tensor> parts;
  switch (mode) {
    case PadMode::Constant:
      break;
    case PadMode::Reflect:
      parts = {flip(part(1, 1 + low), axis), x, flip(part(extent - 1 - high, extent - 1), axis)};
      break;
    case PadMode::Replicate:
      parts = {edge(0, low), x, edge(extent - 1, high)};
      break;
    case PadMode::Circular:
      parts = {part(extent - low, extent), x, part(0, high)};
      break;
  }
  return concat(parts, axis);
}

/// How far each column is right of the row, in matrices of the last two axes.
Tensor right_of_diagonal(const TensorType& type, std::string_view what) {
  const int rank = type.shape.rank();
  if (rank < 2) throw ShapeError(str(what, " of ", type, ": matrices have two axes"));
  const Tensor rows = unsqueeze(arange(type.shape[rank - 2]), 1);
  return arange(type.shape[rank - 1]) - rows;
}

}  // namespace

Tensor expand(const Tensor& x, std::span<const int64_t> extents) {
  const Shape own = x.shape();
  Extents wanted(extents);
  const int added = static_cast<int>(wanted.size()) - own.rank();
  for (int i = 0; i < static_cast<int>(wanted.size()); ++i) {
    if (wanted[i] != -1) continue;
    if (i < added) {
      throw ShapeError(
          str("expand of ", x.type(), ": -1 keeps an extent, but axis ", i, " is new"));
    }
    wanted[i] = own[i - added];
  }
  return broadcast_to(x, Shape(wanted));
}
Tensor expand(const Tensor& x, std::initializer_list<int64_t> extents) {
  return expand(x, std::span(extents.begin(), extents.size()));
}

Tensor moveaxis(const Tensor& x, std::span<const int64_t> source,
                std::span<const int64_t> destination) {
  const int rank = x.rank();
  if (source.size() != destination.size()) {
    throw ShapeError(
        str("moveaxis: ", source.size(), " axes cannot go to ", destination.size(), " places"));
  }
  Extents order;
  for (int i = 0; i < rank; ++i) order.push_back(-1);
  uint32_t moved = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const int from = normalize_axis(source[i], rank);
    int64_t& place = order[normalize_axis(destination[i], rank)];
    if ((moved >> from & 1) != 0 || place != -1) {
      throw Error(str("moveaxis: axis ", source[i], " to ", destination[i],
                      ", but one of them occurs twice"));
    }
    moved |= uint32_t{1} << from;
    place = from;
  }
  int next = 0;
  for (int64_t& place : order) {
    if (place != -1) continue;
    while ((moved >> next & 1) != 0) ++next;
    place = next++;
  }
  return permute(x, order);
}
Tensor moveaxis(const Tensor& x, int64_t source, int64_t destination) {
  return moveaxis(x, std::span(&source, 1), std::span(&destination, 1));
}

Tensor roll(const Tensor& x, int64_t shift, int64_t axis) {
  const int place = normalize_axis(axis, x.rank());
  const int64_t extent = x.size(place);
  if (extent == 0) return x.value();
  const int64_t cut = (extent - shift % extent) % extent;
  if (cut == 0) return x.value();
  return concat({slice(x, place, {.start = cut}), slice(x, place, {.stop = cut})}, place);
}
Tensor roll(const Tensor& x, int64_t shift) {
  return reshaped(roll(flatten(x), shift, 0), x.shape());
}

Tensor repeat(const Tensor& x, int64_t times, int64_t axis) {
  return multiplied(x, times, normalize_axis(axis, x.rank()), Copies::OfElements);
}

Tensor repeat(const Tensor& x, std::span<const int64_t> times, int64_t axis) {
  if (times.size() == 1) return repeat(x, times[0], axis);
  const int along = normalize_axis(axis, x.rank());
  const auto extent = static_cast<size_t>(x.size(along));
  if (times.size() != extent) {
    throw ShapeError(str("repeat of ", x.type(), ": ", times.size(), " counts for the ", extent,
                         " elements of axis ", along));
  }
  std::vector<int64_t> positions;
  for (size_t i = 0; i < extent; ++i) {
    if (times[i] < 0) {
      throw ShapeError(
          str("repeat of ", x.type(), ": element ", i, " cannot be repeated ", times[i], " times"));
    }
    positions.insert(positions.end(), static_cast<size_t>(times[i]), static_cast<int64_t>(i));
  }
  return take(x, Tensor::of(positions), along);
}
Tensor repeat(const Tensor& x, std::initializer_list<int64_t> times, int64_t axis) {
  return repeat(x, std::span(times.begin(), times.size()), axis);
}

Tensor tile(const Tensor& x, std::span<const int64_t> times) {
  Tensor result = x.value();
  for (int added = static_cast<int>(times.size()) - x.rank(); added > 0; --added) {
    result = unsqueeze(result, 0);
  }
  const int first = result.rank() - static_cast<int>(times.size());
  for (int i = 0; i < static_cast<int>(times.size()); ++i) {
    if (times[i] != 1) result = multiplied(result, times[i], first + i, Copies::OfAxis);
  }
  return result;
}
Tensor tile(const Tensor& x, std::initializer_list<int64_t> times) {
  return tile(x, std::span(times.begin(), times.size()));
}

Tensor pad(const Tensor& x, std::span<const int64_t> low, std::span<const int64_t> high,
           PadMode mode, Number value) {
  const TensorType type = x.type();
  const auto rank = static_cast<size_t>(type.shape.rank());
  if (low.size() != rank || high.size() != rank) {
    throw ShapeError(
        str("pad of ", type, ": ", low.size(), " and ", high.size(), " counts for its axes"));
  }
  for (size_t i = 0; i < rank; ++i) {
    if (low[i] < 0 || high[i] < 0) {
      throw ShapeError(str("pad of ", type, ": ", low[i], " and ", high[i],
                           " elements around axis ", i, "; slice takes elements away"));
    }
  }
  if (mode == PadMode::Constant) {
    const Tensor zeros_around = pad(x, low, high);
    const bool zero = value.cell() == nullptr &&
                      (is_pair(type.dtype) ? value.is_zero() : value.bits(type.dtype) == 0);
    if (zero) return zeros_around;
    return where(pad(ones(type.shape, DType::Bool), low, high), zeros_around,
                 parameter(value, type.dtype));
  }
  Tensor result = x.value();
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    if (low[axis] > 0 || high[axis] > 0) {
      result = padded_axis(result, axis, low[axis], high[axis], mode);
    }
  }
  return result;
}

std::vector<Tensor> split_by(const Tensor& x, int64_t length, int64_t axis) {
  const int place = normalize_axis(axis, x.rank());
  if (length <= 0)
    throw ShapeError(str("parts of ", x.type(), " cannot have ", length, " elements"));
  const int64_t extent = x.size(place);
  std::vector<Tensor> parts;
  for (int64_t start = 0; start == 0 || start < extent; start += length) {
    parts.push_back(slice(x, place, {start, std::min(start + length, extent)}));
  }
  return parts;
}

std::vector<Tensor> chunk(const Tensor& x, int64_t parts, int64_t axis) {
  if (parts <= 0) throw ShapeError(str("chunk of ", x.type(), " into ", parts, " parts"));
  const int64_t extent = x.size(axis);
  return split_by(x, std::max<int64_t>(1, extent / parts + (extent % parts != 0 ? 1 : 0)), axis);
}

std::vector<Tensor> unbind(const Tensor& x, int64_t axis) {
  const int place = normalize_axis(axis, x.rank());
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < x.size(place); ++i) {
    parts.push_back(squeeze(slice(x, place, {i, i + 1}), place));
  }
  return parts;
}

Tensor diagonal(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
  const int64_t axes[] = {axis1, axis2}, ends[] = {-2, -1};
  const TensorType type = x.type();
  if (type.shape.rank() < 2)
    throw ShapeError(str("diagonal of ", type, ": matrices have two axes"));
  const Tensor last = moveaxis(x, axes, ends);
  Shape shape = last.shape();
  const int rank = shape.rank();
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  const int64_t within = std::clamp(offset, -rows, columns);
  const int64_t first_row = std::max<int64_t>(0, -within);
  const int64_t first_column = std::max<int64_t>(0, within);
  const int64_t length = std::min(rows - first_row, columns - first_column);
  // Of the rows laid end to end, every (columns + 1)th element: a view.
  Extents joined(std::span<const int64_t>(shape.begin(), shape.end()).first(rank - 2));
  joined.push_back(rows * columns);
  const int64_t start = first_row * columns + first_column;
  const int64_t stop = length <= 0 ? start : start + (length - 1) * (columns + 1) + 1;
  return slice(reshape(last, joined), -1, {start, stop, columns + 1});
}

Tensor diag(const Tensor& x, int64_t offset) {
  const TensorType type = x.type();
  if (type.shape.rank() == 2) return diagonal(x, offset);
  if (type.shape.rank() != 1) throw ShapeError(str("diag of ", type, ": its rank is 1 or 2"));
  constexpr int64_t kFar = int64_t{1} << 30;  // the matrix would have 2^60 elements
  if (offset < -kFar || offset > kFar || type.shape[0] > kFar) {
    throw ShapeError(str("diag of ", type, " on diagonal ", offset, ": the matrix is too large"));
  }
  const int64_t extent = type.shape[0] + std::abs(offset);
  // Rows of one element more than the matrix has, laid end to end and cut to its size: each brings
  // its first element one place further right.
  const int64_t before = std::max<int64_t>(0, offset) + std::max<int64_t>(0, -offset) * extent;
  const int64_t none[] = {0, 0}, gaps[] = {0, extent};
  const Tensor rows = flatten(pad(unsqueeze(x, 1), none, gaps));
  const int64_t total = extent * extent;
  const int64_t ahead[] = {before};
  const int64_t behind[] = {std::max<int64_t>(0, total - before - rows.size(0))};
  return reshape(slice(pad(rows, ahead, behind), 0, {.stop = total}), {extent, extent});
}

Tensor triu(const Tensor& x, int64_t offset) {
  return where(right_of_diagonal(x.type(), "triu") >= offset, x, false);
}
Tensor tril(const Tensor& x, int64_t offset) {
  return where(right_of_diagonal(x.type(), "tril") > offset, false, x);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> axes, GridOrder order) {
  const int rank = static_cast<int>(axes.size());
  Extents extents;
  for (const Tensor& axis : axes) {
    if (axis.rank() != 1)
      throw ShapeError(str("meshgrid: an axis is ", axis.type(), ", not of rank 1"));
    extents.push_back(axis.size(0));
  }
  // The first two trade places, in the extents and in where each axis lies.
  const bool swapped = order == GridOrder::Columns && rank >= 2;
  if (swapped) std::swap(extents[0], extents[1]);
  std::vector<Tensor> grids;
  for (int i = 0; i < rank; ++i) {
    const int place = swapped && i < 2 ? 1 - i : i;
    Extents own;
    for (int axis = 0; axis < rank; ++axis) own.push_back(axis == place ? extents[axis] : 1);
    grids.push_back(broadcast_to(reshape(axes[i], own), Shape(extents)));
  }
  return grids;
}

}  // namespace reprise
