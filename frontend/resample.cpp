// Pooling and interpolation to a size: elements read at places that an axis' extents decide.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontend/create.h"
#include "frontend/pooling.h"
#include "frontend/rearrange.h"
#include "frontend/record.h"
#include "ir/elementwise.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

AxisList last_axes(int count) {
  std::vector<int64_t> axes;
  for (int i = 0; i < count; ++i) axes.push_back(i - count);
  return axes;
}

/// A vector as the only axis longer than 1 among `rank`.
Tensor along(const Tensor& values, int axis, int rank) {
  Extents extents;
  for (int i = 0; i < rank; ++i) extents.push_back(i == axis ? values.numel() : 1);
  return reshape(values, extents);
}

// ---- Adaptive pooling ----

/// The windows of an axis that is pooled to `size`: where they start, and how long the longest is.
struct AxisWindows {
  int64_t extent, size, longest = 0;
  [[nodiscard]] bool even() const { return extent % size == 0; }
  [[nodiscard]] Tensor start() const { return floor_divide(arange(size) * extent, size); }
  /// One past the end.
  [[nodiscard]] Tensor stop() const {
    return floor_divide((arange(size) + 1) * extent + (size - 1), size);
  }
};

/// x seen through windows along its last axes, (.., sizes.., window elements..), and for each axis
/// that has windows of several lengths which elements count, as (.., size, .., longest, ..).
struct AdaptiveWindows {
  Tensor seen;
  std::vector<AxisWindows> axes;
  Tensor counts;  ///< elements of each window, (sizes..); empty where all have as many
  Tensor inside;  ///< which elements count; empty where all do
};

AdaptiveWindows adaptive_windows(std::string_view name, int axes, const Tensor& x,
                                 const PerAxis& size) {
  const std::string what = str(name, axes, "d");
  const Extents sizes = size.of(axes, what);
  const TensorType type = x.type();
  const int rank = type.shape.rank();
  if (rank != axes + 1 && rank != axes + 2) {
    throw ShapeError(
        str(what, ": the input is ", type, ", it needs rank ", axes + 2, ", or ", axes + 1));
  }
  AdaptiveWindows result{.seen = x, .axes = {}, .counts = {}, .inside = {}};
  for (int i = 0; i < axes; ++i) {
    AxisWindows axis{.extent = type.shape[rank - axes + i], .size = sizes[i]};
    if (axis.size == -1) axis.size = axis.extent;
    if (axis.size < 1 || axis.extent < 1) {
      throw ShapeError(
          str(what, ": axis ", rank - axes + i, " of ", type, " to a size of ", sizes[i]));
    }
    // Windows repeat after `period` of them, over `advance` elements; among these one starts at
    // each multiple of 1/period past an element, and the one that starts last reaches furthest.
    const int64_t common = std::gcd(axis.extent, axis.size);
    const int64_t period = axis.size / common, advance = axis.extent / common;
    axis.longest = (advance + 2 * (period - 1)) / period;
    result.axes.push_back(axis);
  }
  // Windows go behind, one axis after the other: (.., sizes.., longest..).
  for (int i = 0; i < axes; ++i) {
    const AxisWindows& axis = result.axes[static_cast<size_t>(i)];
    const int place = rank - axes + i;
    const Tensor last = moveaxis(result.seen, place, -1);
    Tensor taken;
    if (axis.even()) {
      const int64_t step = axis.extent / axis.size;
      taken = unfold(last, -1, step, step);
    } else {
      const Tensor element = unsqueeze(axis.start(), 1) + arange(axis.longest);
      const Tensor counts = axis.stop() - axis.start();
      const Tensor inside = unsqueeze(counts, 1) > arange(axis.longest);
      taken = gather(last, minimum(element, axis.extent - 1), -1);
      Extents extents;
      for (int j = 0; j < 2 * axes; ++j) {
        extents.push_back(j == i ? axis.size : j == axes + i ? axis.longest : 1);
      }
      const Tensor mask = reshape(inside, extents);
      result.inside = result.inside.empty_handle() ? mask : logical_and(result.inside, mask);
    }
    result.seen = moveaxis(taken, -2, place);
  }
  if (!result.inside.empty_handle()) {
    for (int i = 0; i < axes; ++i) {
      const AxisWindows& axis = result.axes[static_cast<size_t>(i)];
      const Tensor own = along(axis.stop() - axis.start(), i, axes);
      result.counts = result.counts.empty_handle() ? own : result.counts * own;
    }
  }
  return result;
}

Tensor adaptive_avg_pool(int axes, const Tensor& x, const PerAxis& size) {
  const Tensor value = as_float(x);
  const DType dtype = value.dtype();
  const bool half = dtype == DType::F16 || dtype == DType::BF16;
  const DType wide = half ? DType::F32 : dtype;
  const AdaptiveWindows windows =
      adaptive_windows("adaptive_avg_pool", axes, cast(value, wide), size);
  if (windows.inside.empty_handle()) {
    int64_t count = 1;
    for (const AxisWindows& axis : windows.axes) count *= axis.longest;
    return cast(sum(windows.seen, last_axes(axes)) / count, dtype);
  }
  const Tensor total = sum(where(windows.inside, windows.seen, 0), last_axes(axes));
  return cast(total / cast(windows.counts, wide), dtype);
}

Tensor adaptive_max_windows(const AdaptiveWindows& windows) {
  if (windows.inside.empty_handle()) return windows.seen;
  const DType dtype = windows.seen.dtype();
  const Number least = is_float(dtype)        ? Number(-std::numeric_limits<double>::infinity())
                       : dtype == DType::Bool ? Number(false)
                                              : Number(min_integer(dtype));
  return where(windows.inside, windows.seen, least);
}

Tensor adaptive_max_pool(int axes, const Tensor& x, const PerAxis& size) {
  const AdaptiveWindows windows = adaptive_windows("adaptive_max_pool", axes, x, size);
  return max(adaptive_max_windows(windows), last_axes(axes));
}

Pooled adaptive_max_pool_with_indices(int axes, const Tensor& x, const PerAxis& size) {
  const AdaptiveWindows windows = adaptive_windows("adaptive_max_pool", axes, x, size);
  const Tensor seen = adaptive_max_windows(windows);
  Tensor inside = argmax(seen, last_axes(axes)), place;
  int64_t stride = 1;
  for (int i = axes; i-- > 0;) {
    const AxisWindows& axis = windows.axes[static_cast<size_t>(i)];
    const Tensor step = i == 0 ? inside : remainder(inside, axis.longest);
    if (i > 0) inside = floor_divide(inside, axis.longest);
    const Tensor at = (along(axis.start(), i, axes) + step) * stride;
    place = place.empty_handle() ? at : place + at;
    stride *= axis.extent;
  }
  return {max(seen, last_axes(axes)), place};
}

// ---- Interpolation ----

/// An axis that is resampled: element i of `size` lies at i * ratio of `extent`, exactly
/// extent / size unless a scale was given.
struct Resampled {
  int64_t extent, size;
  std::optional<double> scale;
};

Tensor nearest(const Tensor& x, int axis, const Resampled& to, bool exact) {
  const Tensor i = arange(to.size);
  Tensor element;
  if (to.scale) {
    const Tensor place = (cast(i, DType::F64) + (exact ? 0.5 : 0.0)) * (1 / *to.scale);
    element = minimum(cast(floor(place), DType::I64), to.extent - 1);
  } else if (exact) {
    element = floor_divide((i * 2 + 1) * to.extent, to.size * 2);
  } else {
    if (to.size % to.extent == 0) return repeat(x, to.size / to.extent, axis);
    if (to.extent % to.size == 0) return slice(x, axis, {.step = to.extent / to.size});
    element = floor_divide(i * to.extent, to.size);
  }
  return gather(x, element, axis);
}

/// Where the elements of the result lie among those of x.
Tensor places(const Resampled& to, AlignCorners corners) {
  const Tensor i = cast(arange(to.size), DType::F64);
  if (corners == AlignCorners::Yes) {
    const double step =
        to.size > 1 ? static_cast<double>(to.extent - 1) / static_cast<double>(to.size - 1) : 0;
    return i * step;
  }
  const double step =
      to.scale ? 1 / *to.scale : static_cast<double>(to.extent) / static_cast<double>(to.size);
  return (i + 0.5) * step - 0.5;
}

Tensor linear(const Tensor& x, int axis, const Resampled& to, AlignCorners corners) {
  const Tensor place = maximum(places(to, corners), 0.0);
  const Tensor low = minimum(cast(floor(place), DType::I64), to.extent - 1);
  const Tensor high = minimum(low + 1, to.extent - 1);
  const Tensor weight = cast(minimum(place - cast(low, DType::F64), 1.0), x.dtype());
  return lerp(gather(x, low, axis), gather(x, high, axis), along(weight, axis, x.rank()));
}

Tensor cubic(const Tensor& x, int axis, const Resampled& to, AlignCorners corners) {
  constexpr double kSharpness = -0.75;
  const Tensor place = places(to, corners);
  const Tensor below = floor(place);
  const Tensor part = place - below;
  // Weights of the neighbours nearer than 1, and of those between 1 and 2, at a distance of d.
  const auto near = [](const Tensor& d) {
    return ((kSharpness + 2) * d - (kSharpness + 3)) * d * d + 1;
  };
  const auto far = [](const Tensor& d) {
    return ((kSharpness * d - 5 * kSharpness) * d + 8 * kSharpness) * d - 4 * kSharpness;
  };
  const Tensor weights[] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
  const Tensor first = cast(below, DType::I64) - 1;
  Tensor total;
  for (int64_t i = 0; i < 4; ++i) {
    const Tensor element = clamp(first + i, 0, to.extent - 1);
    const Tensor weight = along(cast(weights[i], x.dtype()), axis, x.rank());
    const Tensor term = gather(x, element, axis) * weight;
    total = total.empty_handle() ? term : total + term;
  }
  return total;
}

Tensor resample(const Tensor& x, std::span<const Resampled> axes, Resample mode,
                AlignCorners corners) {
  const TensorType type = x.type();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].size < 1 || axes[i].extent < 1) {
      throw ShapeError(
          str("interpolate: axis ", i + 2, " of ", type, " to ", axes[i].size, " elements"));
    }
  }
  const auto each = [&](Tensor value, const auto& one) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const int axis = 2 + static_cast<int>(i);
      if (axes[i].extent == axes[i].size && !axes[i].scale) continue;
      value = one(value, axis, axes[i]);
    }
    return value;
  };
  switch (mode) {
    case Resample::Nearest:
    case Resample::NearestExact:
      return each(x.value(), [&](const Tensor& value, int axis, const Resampled& to) {
        return nearest(value, axis, to, mode == Resample::NearestExact);
      });
    case Resample::Linear:
    case Resample::Cubic: {
      const Tensor value = as_float(x);
      const DType dtype = value.dtype();
      const bool half = dtype == DType::F16 || dtype == DType::BF16;
      const Tensor result = each(half ? cast(value, DType::F32) : value,
                                 [&](const Tensor& v, int axis, const Resampled& to) {
                                   return mode == Resample::Cubic ? cubic(v, axis, to, corners)
                                                                  : linear(v, axis, to, corners);
                                 });
      return cast(result, dtype);
    }
    case Resample::Area: {
      Extents sizes;
      for (const Resampled& axis : axes) sizes.push_back(axis.size);
      return adaptive_avg_pool(static_cast<int>(axes.size()), x,
                               PerAxis(std::span<const int64_t>(sizes.data(), sizes.size())));
    }
  }
  return {};
}

int spatial_axes(const Tensor& x) {
  const TensorType type = x.type();
  const int axes = type.shape.rank() - 2;
  if (axes < 1 || axes > 3) {
    throw ShapeError(str("interpolate of ", type, ": it needs rank 3 to 5, (N, C, spatial..)"));
  }
  return axes;
}

}  // namespace

Tensor adaptive_avg_pool1d(const Tensor& x, const PerAxis& size) {
  return adaptive_avg_pool(1, x, size);
}
Tensor adaptive_avg_pool2d(const Tensor& x, const PerAxis& size) {
  return adaptive_avg_pool(2, x, size);
}
Tensor adaptive_avg_pool3d(const Tensor& x, const PerAxis& size) {
  return adaptive_avg_pool(3, x, size);
}
Tensor adaptive_max_pool1d(const Tensor& x, const PerAxis& size) {
  return adaptive_max_pool(1, x, size);
}
Tensor adaptive_max_pool2d(const Tensor& x, const PerAxis& size) {
  return adaptive_max_pool(2, x, size);
}
Tensor adaptive_max_pool3d(const Tensor& x, const PerAxis& size) {
  return adaptive_max_pool(3, x, size);
}
Pooled adaptive_max_pool1d_with_indices(const Tensor& x, const PerAxis& size) {
  return adaptive_max_pool_with_indices(1, x, size);
}
Pooled adaptive_max_pool2d_with_indices(const Tensor& x, const PerAxis& size) {
  return adaptive_max_pool_with_indices(2, x, size);
}
Pooled adaptive_max_pool3d_with_indices(const Tensor& x, const PerAxis& size) {
  return adaptive_max_pool_with_indices(3, x, size);
}

Tensor interpolate(const Tensor& x, const PerAxis& size, Resample mode, AlignCorners corners) {
  const int axes = spatial_axes(x);
  const Extents sizes = size.of(axes, "interpolate");
  std::vector<Resampled> to;
  for (int i = 0; i < axes; ++i) to.push_back({x.size(2 + i), sizes[i], {}});
  return resample(x, to, mode, corners);
}

Tensor interpolate(const Tensor& x, std::span<const double> scale, Resample mode,
                   AlignCorners corners) {
  const int axes = spatial_axes(x);
  if (scale.size() != 1 && static_cast<int>(scale.size()) != axes) {
    throw ShapeError(str("interpolate of ", x.type(), ": ", scale.size(), " scales for ", axes,
                         " spatial axes"));
  }
  std::vector<Resampled> to;
  for (int i = 0; i < axes; ++i) {
    const double factor = scale[scale.size() == 1 ? 0 : static_cast<size_t>(i)];
    const double size = std::floor(static_cast<double>(x.size(2 + i)) * factor);
    constexpr double kMost = 1e15;
    if (!(factor > 0) || !(size < kMost)) {
      throw ShapeError(
          str("interpolate: a scale of ", factor, " along axis ", 2 + i, " of ", x.type()));
    }
    to.push_back({x.size(2 + i), static_cast<int64_t>(size), factor});
  }
  return resample(x, to, mode, corners);
}

}  // namespace reprise
