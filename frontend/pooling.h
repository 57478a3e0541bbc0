// Pooling over one to three spatial axes, and resampling.
#pragma once

#include <optional>
#include <utility>

#include "frontend/convolution.h"

namespace reprise {

/// Whether a window that starts inside the padded input but ends past it counts.
enum class CeilMode : uint8_t { No, Yes };

struct MaxPoolOptions {
  PerAxis stride{};     ///< the kernel unless told
  PerAxis padding = 0;  ///< at most half of what a window reaches over
  PerAxis dilation = 1;
  CeilMode ceil_mode = CeilMode::No;
};
/// The largest element of each window of x (N, C, spatial..) or (C, spatial..); NaN if any is.
/// Padding is less than everything: -infinity, an integer dtype's least value. With CeilMode::Yes
/// windows may end past the padding, but start in the input or the padding before it. Throws
/// ShapeError where a window does not fit.
[[nodiscard]] Tensor max_pool1d(const Tensor& x, const PerAxis& kernel,
                                const MaxPoolOptions& options = {});
[[nodiscard]] Tensor max_pool2d(const Tensor& x, const PerAxis& kernel,
                                const MaxPoolOptions& options = {});
[[nodiscard]] Tensor max_pool3d(const Tensor& x, const PerAxis& kernel,
                                const MaxPoolOptions& options = {});
/// And where each lies in its plane of spatial axes, row-major, as i64: the first NaN, else the
/// first largest.
using Pooled = std::pair<Tensor, Tensor>;
[[nodiscard]] Pooled max_pool1d_with_indices(const Tensor& x, const PerAxis& kernel,
                                             const MaxPoolOptions& options = {});
[[nodiscard]] Pooled max_pool2d_with_indices(const Tensor& x, const PerAxis& kernel,
                                             const MaxPoolOptions& options = {});
[[nodiscard]] Pooled max_pool3d_with_indices(const Tensor& x, const PerAxis& kernel,
                                             const MaxPoolOptions& options = {});

enum class CountPadding : uint8_t { No, Yes };
struct AvgPoolOptions {
  PerAxis stride{};     ///< the kernel unless told
  PerAxis padding = 0;  ///< at most half of the kernel
  CeilMode ceil_mode = CeilMode::No;
  /// Whether padding counts among the elements of a window. What lies past it never does.
  CountPadding count_padding = CountPadding::Yes;
  std::optional<int64_t> divisor{};  ///< instead of the count
};
/// The sum of each window divided by its count. Integers become f32.
[[nodiscard]] Tensor avg_pool1d(const Tensor& x, const PerAxis& kernel,
                                const AvgPoolOptions& options = {});
[[nodiscard]] Tensor avg_pool2d(const Tensor& x, const PerAxis& kernel,
                                const AvgPoolOptions& options = {});
[[nodiscard]] Tensor avg_pool3d(const Tensor& x, const PerAxis& kernel,
                                const AvgPoolOptions& options = {});

struct LpPoolOptions {
  PerAxis stride{};  ///< the kernel unless told
  CeilMode ceil_mode = CeilMode::No;
};
/// The p-norm (see `norm`) of each window.
[[nodiscard]] Tensor lp_pool1d(const Tensor& x, double p, const PerAxis& kernel,
                               const LpPoolOptions& options = {});
[[nodiscard]] Tensor lp_pool2d(const Tensor& x, double p, const PerAxis& kernel,
                               const LpPoolOptions& options = {});
[[nodiscard]] Tensor lp_pool3d(const Tensor& x, double p, const PerAxis& kernel,
                               const LpPoolOptions& options = {});

/// Pooling to a size: window i of n over an extent of L is [floor(i L / n), ceil((i + 1) L / n)).
/// A size of -1 keeps the extent.
[[nodiscard]] Tensor adaptive_avg_pool1d(const Tensor& x, const PerAxis& size);
[[nodiscard]] Tensor adaptive_avg_pool2d(const Tensor& x, const PerAxis& size);
[[nodiscard]] Tensor adaptive_avg_pool3d(const Tensor& x, const PerAxis& size);
[[nodiscard]] Tensor adaptive_max_pool1d(const Tensor& x, const PerAxis& size);
[[nodiscard]] Tensor adaptive_max_pool2d(const Tensor& x, const PerAxis& size);
[[nodiscard]] Tensor adaptive_max_pool3d(const Tensor& x, const PerAxis& size);
[[nodiscard]] Pooled adaptive_max_pool1d_with_indices(const Tensor& x, const PerAxis& size);
[[nodiscard]] Pooled adaptive_max_pool2d_with_indices(const Tensor& x, const PerAxis& size);
[[nodiscard]] Pooled adaptive_max_pool3d_with_indices(const Tensor& x, const PerAxis& size);

/// Nearest: element floor(i * L / n), exactly. NearestExact: floor((i + 1/2) * L / n). Linear:
/// between the two neighbours along each axis (bilinear, trilinear). Cubic: the convolution of four
/// neighbours with a = -3/4 (bicubic), those past the ends being the last ones. Area:
/// adaptive_avg_pool.
enum class Resample : uint8_t { Nearest, NearestExact, Linear, Cubic, Area };
/// Linear and cubic only: the centers of the first and last elements of both meet, or their outer
/// edges do.
enum class AlignCorners : uint8_t { No, Yes };
/// x (N, C, spatial..) resampled to `size`, extents of its 1 to 3 spatial axes.
[[nodiscard]] Tensor interpolate(const Tensor& x, const PerAxis& size,
                                 Resample mode = Resample::Nearest,
                                 AlignCorners corners = AlignCorners::No);
/// To floor(extent * scale), elements 1 / scale apart.
[[nodiscard]] Tensor interpolate(const Tensor& x, std::span<const double> scale,
                                 Resample mode = Resample::Nearest,
                                 AlignCorners corners = AlignCorners::No);

}  // namespace reprise
