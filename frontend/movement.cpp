// Movement ops: new shapes over the same elements.
#include "frontend/ops.h"
#include "frontend/positions.h"
#include "frontend/record.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

Tensor reshaped(const Tensor& x, const TensorType& from, std::span<const int64_t> extents) {
  const TensorType to{from.dtype, Shape(extents)};
  return to.shape == from.shape ? x.value() : record(Op::Reshape, x, {}, &to);
}

}  // namespace

Positions resolve(const Range& range, int64_t extent) {
  const int64_t step = range.step;
  if (step == 0) throw Error("the step of a range is 0");
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? extent : extent - 1;
  const auto clamped = [&](int64_t position, int64_t open) {
    if (position == Range::kOpen) return open;
    if (position < 0) position += extent;
    return std::clamp(position, low, high);
  };
  const int64_t start = clamped(range.start, step > 0 ? low : high);
  const int64_t stop = clamped(range.stop, step > 0 ? high : low);
  // -INT64_MIN does not exist; a step that long takes one position anyway.
  const int64_t stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
  const int64_t distance = step > 0 ? stop - start : start - stop;
  const int64_t count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  return {count == 0 ? 0 : start, count};
}

Tensor reshape(const Tensor& x, std::span<const int64_t> extents) {
  const TensorType type = x.type();
  Extents wanted;
  int open = -1;
  int64_t known = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    wanted.push_back(extents[i]);
    if (extents[i] == -1) {
      if (open >= 0) throw ShapeError(str("reshape of ", type, ": two extents are -1"));
      open = static_cast<int>(i);
    } else if (__builtin_mul_overflow(known, extents[i], &known)) {
      throw ShapeError(str("reshape of ", type, ": the new extents overflow"));
    }
  }
  if (open >= 0) {
    const int64_t numel = type.shape.numel();
    if (known <= 0 || numel % known != 0) {
      throw ShapeError(str("reshape of ", type, ": ", numel, " elements do not divide by ", known,
                           ", the product of the other extents"));
    }
    wanted[open] = numel / known;
  }
  return reshaped(x, type, wanted);
}

Tensor reshape(const Tensor& x, std::initializer_list<int64_t> extents) {
  return reshape(x, std::span(extents.begin(), extents.size()));
}

Tensor flatten(const Tensor& x) {
  return reshape(x, {-1});
}

Tensor permute(const Tensor& x, std::span<const int64_t> order) {
  const int rank = x.rank();
  Extents axes;
  for (const int64_t axis : order) axes.push_back(normalize_axis(axis, rank));
  return record(Op::Permute, x, Attrs().add_ints(axes));
}

Tensor permute(const Tensor& x, std::initializer_list<int64_t> order) {
  return permute(x, std::span(order.begin(), order.size()));
}

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  const int rank = x.rank();
  Extents axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[normalize_axis(a, rank)], axes[normalize_axis(b, rank)]);
  return record(Op::Permute, x, Attrs().add_ints(axes));
}

Tensor squeeze(const Tensor& x) {
  const TensorType type = x.type();
  Extents extents;
  for (const int64_t extent : type.shape) {
    if (extent != 1) extents.push_back(extent);
  }
  return reshaped(x, type, extents);
}

Tensor squeeze(const Tensor& x, const AxisList& axes) {
  const TensorType type = x.type();
  const uint32_t mask = axes.mask(type.shape.rank());
  Extents extents;
  for (int i = 0; i < type.shape.rank(); ++i) {
    if ((mask >> i & 1) == 0) {
      extents.push_back(type.shape[i]);
    } else if (type.shape[i] != 1) {
      throw ShapeError(
          str("squeeze of ", type, ": axis ", i, " has extent ", type.shape[i], ", not 1"));
    }
  }
  return reshaped(x, type, extents);
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  const TensorType type = x.type();
  const int place = normalize_axis(axis, type.shape.rank() + 1);
  Extents extents;
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i == place) extents.push_back(1);
    extents.push_back(type.shape[i]);
  }
  if (place == type.shape.rank()) extents.push_back(1);
  return reshaped(x, type, extents);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  const TensorType from = x.type();
  if (from.shape == shape) return x.value();
  const TensorType to{from.dtype, shape};
  return record(Op::BroadcastTo, x, {}, &to);
}

Tensor flip(const Tensor& x, const AxisList& axes) {
  const TensorType type = x.type();
  const uint32_t mask = axes.mask(type.shape.rank());
  Extents starts, steps;
  for (int i = 0; i < type.shape.rank(); ++i) {
    const bool turned = (mask >> i & 1) != 0 && type.shape[i] > 0;
    starts.push_back(turned ? type.shape[i] - 1 : 0);
    steps.push_back(turned ? -1 : 1);
  }
  return record(Op::Slice, x, Attrs().add_ints(starts).add_ints(steps), &type);
}

Tensor slice(const Tensor& x, int64_t axis, Range range) {
  const int place = normalize_axis(axis, x.rank());
  std::vector<Index> indices(static_cast<size_t>(place), Index(Range{}));
  indices.emplace_back(range);
  return at(x, indices);
}

Tensor at(const Tensor& x, std::span<const Index> indices) {
  const TensorType type = x.type();
  const int rank = type.shape.rank();
  if (static_cast<int>(indices.size()) > rank) {
    throw IndexError(str(indices.size(), " indices into ", type, ", which has rank ", rank));
  }
  Extents starts, steps, sliced, kept;
  for (int i = 0; i < rank; ++i) {
    const int64_t extent = type.shape[i];
    const Index index = i < static_cast<int>(indices.size()) ? indices[i] : Index(Range{});
    if (index.is_range()) {
      const Positions positions = resolve(index.range(), extent);
      starts.push_back(positions.start);
      steps.push_back(positions.count <= 1 ? 1 : index.range().step);
      sliced.push_back(positions.count);
      kept.push_back(positions.count);
    } else {
      const int64_t position = index.position();
      if (position < -extent || position >= extent) {
        throw IndexError(str("index ", position, " is out of range for axis ", i, " of ", type,
                             ", which has extent ", extent));
      }
      starts.push_back(position < 0 ? position + extent : position);
      steps.push_back(1);
      sliced.push_back(1);
    }
  }
  const TensorType part{type.dtype, Shape(sliced)};
  bool whole = part.shape == type.shape;
  for (const int64_t step : steps) whole = whole && step == 1;
  if (whole && kept.size() == sliced.size()) return x.value();
  const Tensor cut =
      whole ? x.value() : record(Op::Slice, x, Attrs().add_ints(starts).add_ints(steps), &part);
  return reshaped(cut, part, kept);
}

Tensor pad(const Tensor& x, std::span<const int64_t> low, std::span<const int64_t> high) {
  return record(Op::Pad, x, Attrs().add_ints(low).add_ints(high));
}

Tensor concat(std::span<const Tensor> parts, int64_t axis) {
  if (parts.empty()) throw ShapeError("concat of no tensors");
  DType dtype = parts[0].dtype();
  for (const Tensor& part : parts.subspan(1)) dtype = promote(dtype, part.dtype());
  std::vector<Tensor> same;
  std::vector<TensorId> ids;
  for (const Tensor& part : parts) {
    same.push_back(part.dtype() == dtype ? part : cast(part, dtype));
    ids.push_back(same.back().id());
  }
  return record(Op::Concat, ids, Attrs().add_int(normalize_axis(axis, parts[0].rank())));
}

Tensor concat(std::initializer_list<Tensor> parts, int64_t axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

Tensor stack(std::span<const Tensor> parts, int64_t axis) {
  if (parts.empty()) throw ShapeError("stack of no tensors");
  const Shape shape = parts[0].shape();
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    if (part.shape() != shape) {
      throw ShapeError(str("stack of different shapes: ", shape, " and ", part.shape()));
    }
    rows.push_back(unsqueeze(part, axis));
  }
  return concat(rows, axis);
}

Tensor stack(std::initializer_list<Tensor> parts, int64_t axis) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}

std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis) {
  const TensorType type = x.type();
  const int64_t extent = type.shape[normalize_axis(axis, type.shape.rank())];
  if (parts <= 0 || extent % parts != 0) {
    throw ShapeError(str("split of ", type, ": extent ", extent, " of axis ", axis,
                         " does not come out even in ", parts, " parts"));
  }
  constexpr int64_t most = int64_t{1} << 24;  // of an axis without elements any count comes out
  if (parts > most) throw ShapeError(str("split of ", type, " in ", parts, " parts, past ", most));
  const int64_t length = extent / parts;
  std::vector<Tensor> result;
  for (int64_t i = 0; i < parts; ++i) {
    result.push_back(slice(x, axis, {i * length, (i + 1) * length}));
  }
  return result;
}

}  // namespace reprise
