// Pooling: reductions of windows, which are views.
#include "frontend/pooling.h"

#include <algorithm>
#include <limits>

#include "frontend/contractions.h"
#include "frontend/create.h"
#include "frontend/rearrange.h"
#include "frontend/record.h"
#include "ir/elementwise.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

/// What pools share: the windows of the spatial axes.
struct Pool {
  std::string what;
  int axes;
  Extents kernel, stride, padding, dilation;
  Extents counts{};  ///< windows along each axis
  Extents beyond{};  ///< elements past the padding that the last windows reach

  [[nodiscard]] int64_t reach(int i) const { return (kernel[i] - 1) * dilation[i]; }
};

Pool pool_of(std::string_view name, int axes, const Tensor& x, const PerAxis& kernel,
             const PerAxis& stride, const PerAxis& padding, const PerAxis& dilation,
             CeilMode mode) {
  Pool pool{.what = str(name, axes, "d"),
            .axes = axes,
            .kernel = {},
            .stride = {},
            .padding = {},
            .dilation = {}};
  pool.kernel = kernel.of(axes, pool.what);
  pool.stride = stride.empty() ? pool.kernel : stride.of(axes, pool.what);
  pool.padding = padding.of(axes, pool.what);
  pool.dilation = dilation.of(axes, pool.what);
  const TensorType type = x.type();
  const int rank = type.shape.rank();
  if (rank != axes + 1 && rank != axes + 2) {
    throw ShapeError(
        str(pool.what, ": the input is ", type, ", it needs rank ", axes + 2, ", or ", axes + 1));
  }
  for (int i = 0; i < axes; ++i) {
    const int axis = rank - axes + i;
    if (pool.kernel[i] < 1 || pool.stride[i] < 1 || pool.dilation[i] < 1) {
      throw ShapeError(str(pool.what, ": kernel ", pool.kernel[i], ", stride ", pool.stride[i],
                           " and dilation ", pool.dilation[i], "; none may be below 1"));
    }
    const int64_t reach = pool.reach(i);
    if (pool.padding[i] < 0 || pool.padding[i] > (reach + 1) / 2) {
      throw ShapeError(str(pool.what, ": padding of ", pool.padding[i],
                           " is more than half of a window of ", reach + 1));
    }
    const int64_t extent = type.shape[axis], padded = extent + 2 * pool.padding[i];
    // What is left for steps; less than nothing where the window is longer, of which ceil_mode
    // takes what there is.
    const int64_t room = padded - reach - 1, stride = pool.stride[i];
    int64_t count = room < 0 ? 0 : room / stride + 1;
    if (mode == CeilMode::Yes && room > -stride && room % stride != 0 &&
        count * stride < extent + pool.padding[i]) {
      ++count;
    }
    if (count < 1) {
      throw ShapeError(str(pool.what, ": a window of ", reach + 1,
                           " does not fit the padded extent ", padded, " of axis ", axis, " of ",
                           type));
    }
    pool.counts.push_back(count);
    pool.beyond.push_back(std::max<int64_t>(0, (count - 1) * stride + reach + 1 - padded));
  }
  return pool;
}

/// (.., counts.., kernel..) of x with zeros around.
Tensor windows(const Pool& pool, const Tensor& x) {
  Extents low, high;
  for (int axis = 0; axis < x.rank() - pool.axes; ++axis) {
    low.push_back(0);
    high.push_back(0);
  }
  for (int i = 0; i < pool.axes; ++i) {
    low.push_back(pool.padding[i]);
    high.push_back(pool.padding[i] + pool.beyond[i]);
  }
  return record(Op::Window, pad(x, low, high),
                Attrs().add_ints(pool.kernel).add_ints(pool.stride).add_ints(pool.dilation));
}

AxisList last_axes(int count) {
  std::vector<int64_t> axes;
  for (int i = 0; i < count; ++i) axes.push_back(i - count);
  return axes;
}

/// What is less than everything else of a dtype.
Number lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  if (dtype == DType::Bool) return false;
  return min_integer(dtype);
}

/// A vector along one of the spatial axes, beside the others and `after` more axes.
Tensor along(const Tensor& values, int place, int axes, int after = 0) {
  Extents extents;
  for (int i = 0; i < axes + after; ++i) extents.push_back(i == place ? values.numel() : 1);
  return reshape(values, extents);
}

/// The windows of x with the least value where there is no element.
Tensor max_windows(const Pool& pool, const Tensor& x) {
  const bool whole =
      std::all_of(pool.padding.begin(), pool.padding.end(),
                  [](int64_t width) { return width == 0; }) &&
      std::all_of(pool.beyond.begin(), pool.beyond.end(), [](int64_t width) { return width == 0; });
  const Tensor seen = windows(pool, x);
  if (whole || x.dtype() == DType::Bool) return seen;
  Extents own;
  for (int i = 0; i < pool.axes; ++i) own.push_back(x.size(i - pool.axes));
  const Tensor inside = windows(pool, ones(Shape(own), DType::Bool));
  return where(inside, seen, Operand(lowest(x.dtype())));
}

Tensor max_pool(const Pool& pool, const Tensor& x) {
  return max(max_windows(pool, x), last_axes(pool.axes));
}

/// Row-major index of the largest element of each window in the input's plane.
Tensor max_places(const Pool& pool, const Tensor& x) {
  Tensor inside = argmax(max_windows(pool, x), last_axes(pool.axes));
  Tensor place;
  int64_t stride = 1;
  for (int i = pool.axes; i-- > 0;) {
    const int64_t extent = x.size(i - pool.axes);
    const Tensor step = i == 0 ? inside : remainder(inside, pool.kernel[i]);
    if (i > 0) inside = floor_divide(inside, pool.kernel[i]);
    const Tensor start = arange(pool.counts[i]) * pool.stride[i] - pool.padding[i];
    Tensor at = along(start, i, pool.axes) + step * pool.dilation[i];
    if (pool.padding[i] > 0) {
      // A window of nothing but the least value: its first element rather than padding before it.
      at = where(at < 0, remainder(at, pool.dilation[i]), at);
    }
    at = at * stride;
    place = place.empty_handle() ? at : place + at;
    stride *= extent;
  }
  return place;
}

/// How many elements of each window lie in [0, end) of an axis, from its first at `first`.
Tensor overlap(const Tensor& first, int64_t size, int64_t begin, int64_t end) {
  return minimum(first + size, end) - maximum(first, begin);
}

Tensor avg_pool(const Pool& pool, const Tensor& x, const AvgPoolOptions& options) {
  const Tensor value = as_float(x);
  const DType dtype = value.dtype();
  const bool half = dtype == DType::F16 || dtype == DType::BF16;
  const DType wide = half ? DType::F32 : dtype;
  const Tensor total = sum(windows(pool, cast(value, wide)), last_axes(pool.axes));
  if (options.divisor) {
    if (*options.divisor == 0) throw Error(str(pool.what, ": a divisor of 0"));
    return cast(total / *options.divisor, dtype);
  }
  int64_t count = 1;
  bool even = true;
  for (int i = 0; i < pool.axes; ++i) {
    count *= pool.kernel[i];
    even = even && pool.beyond[i] == 0 &&
           (pool.padding[i] == 0 || options.count_padding == CountPadding::Yes);
  }
  if (even) return cast(total / count, dtype);
  Tensor counts;
  for (int i = 0; i < pool.axes; ++i) {
    const int64_t extent = x.size(i - pool.axes);
    const int64_t around = options.count_padding == CountPadding::Yes ? pool.padding[i] : 0;
    const Tensor first = arange(pool.counts[i]) * pool.stride[i] - pool.padding[i];
    const Tensor own =
        along(overlap(first, pool.kernel[i], -around, extent + around), i, pool.axes);
    counts = counts.empty_handle() ? own : counts * own;
  }
  return cast(total / cast(counts, wide), dtype);
}

Pool max_pool_of(int axes, const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return pool_of("max_pool", axes, x, kernel, options.stride, options.padding, options.dilation,
                 options.ceil_mode);
}
Tensor max_pool(int axes, const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool(max_pool_of(axes, x, kernel, options), x);
}
Pooled max_pool_with_indices(int axes, const Tensor& x, const PerAxis& kernel,
                             const MaxPoolOptions& options) {
  const Pool pool = max_pool_of(axes, x, kernel, options);
  return {max_pool(pool, x), max_places(pool, x)};
}

Tensor avg_pool(int axes, const Tensor& x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool(
      pool_of("avg_pool", axes, x, kernel, options.stride, options.padding, 1, options.ceil_mode),
      x, options);
}

Tensor lp_pool(int axes, const Tensor& x, double p, const PerAxis& kernel,
               const LpPoolOptions& options) {
  const Pool pool = pool_of("lp_pool", axes, x, kernel, options.stride, 0, 1, options.ceil_mode);
  return norm(windows(pool, x), p, last_axes(axes));
}

}  // namespace

Tensor max_pool1d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool(1, x, kernel, options);
}
Tensor max_pool2d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool(2, x, kernel, options);
}
Tensor max_pool3d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool(3, x, kernel, options);
}
Pooled max_pool1d_with_indices(const Tensor& x, const PerAxis& kernel,
                               const MaxPoolOptions& options) {
  return max_pool_with_indices(1, x, kernel, options);
}
Pooled max_pool2d_with_indices(const Tensor& x, const PerAxis& kernel,
                               const MaxPoolOptions& options) {
  return max_pool_with_indices(2, x, kernel, options);
}
Pooled max_pool3d_with_indices(const Tensor& x, const PerAxis& kernel,
                               const MaxPoolOptions& options) {
  return max_pool_with_indices(3, x, kernel, options);
}
Tensor avg_pool1d(const Tensor& x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool(1, x, kernel, options);
}
Tensor avg_pool2d(const Tensor& x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool(2, x, kernel, options);
}
Tensor avg_pool3d(const Tensor& x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool(3, x, kernel, options);
}
Tensor lp_pool1d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options) {
  return lp_pool(1, x, p, kernel, options);
}
Tensor lp_pool2d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options) {
  return lp_pool(2, x, p, kernel, options);
}
Tensor lp_pool3d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options) {
  return lp_pool(3, x, p, kernel, options);
}

}  // namespace reprise
