// Convolution over one to three spatial axes, windows as tensors, and what only moves channels.
#pragma once

#include "frontend/ops.h"

namespace reprise {

/// One number for all spatial axes, or one for each of them.
class PerAxis {
 public:
  PerAxis() = default;  ///< none, where what is not told follows from something else
  template <class T>
  requires std::is_integral_v<T> PerAxis(T value)
      : values_{static_cast<int64_t>(value)} {}                        // NOLINT: implicit
  PerAxis(std::initializer_list<int64_t> values) : values_(values) {}  // NOLINT: implicit
  PerAxis(std::span<const int64_t> values) : values_(values) {}        // NOLINT: implicit
  PerAxis(const std::vector<int64_t>& values)
      : values_(std::span<const int64_t>(values)) {}  // NOLINT
  [[nodiscard]] bool empty() const { return values_.empty(); }
  /// The numbers of `axes` axes. Throws ShapeError naming `what` where there are others, or one of
  /// more than 2^31.
  [[nodiscard]] SmallVector<int64_t, kMaxDims> of(int axes, std::string_view what) const;

 private:
  SmallVector<int64_t, kMaxDims> values_;
};

/// Zeros around: as many on both sides of each axis, or (Same) as many as keep its extent, the odd
/// one behind; none with Valid.
class ConvPadding {
 public:
  enum class Rule : uint8_t { Valid, Same };
  ConvPadding(Rule rule) : rule_(rule) {}  // NOLINT: implicit
  template <class T>
  requires std::is_integral_v<T> ConvPadding(T width) : given_(true), widths_(width) {}  // NOLINT
  ConvPadding(std::initializer_list<int64_t> widths) : given_(true), widths_(widths) {}  // NOLINT
  ConvPadding(PerAxis widths) : given_(true), widths_(std::move(widths)) {}              // NOLINT
  [[nodiscard]] bool is_same() const { return !given_ && rule_ == Rule::Same; }
  [[nodiscard]] const PerAxis& widths() const { return widths_; }

 private:
  Rule rule_ = Rule::Valid;
  bool given_ = false;
  PerAxis widths_ = 0;
};

struct ConvOptions {
  PerAxis stride = 1;
  ConvPadding padding = 0;
  PerAxis dilation = 1;
  int64_t groups = 1;
};
/// x (N, C, spatial..) with weights (O, C/groups, kernel..) gives (N, O, spatial..); without N
/// neither has the result one. `bias` (O) may be an empty handle. A sum is taken like matmul's,
/// over channels and then the kernel's positions. Throws ShapeError where channels, groups and
/// extents do not fit, or for Same with a stride.
[[nodiscard]] Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                            const ConvOptions& options = {});
[[nodiscard]] Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                            const ConvOptions& options = {});
[[nodiscard]] Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                            const ConvOptions& options = {});

struct ConvTransposeOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;         ///< elements that the result lacks on both sides
  PerAxis output_padding = 0;  ///< and has more at the end; below the stride or the dilation
  PerAxis dilation = 1;
  int64_t groups = 1;
};
/// The transpose of a convolution: x (N, C, spatial..) with weights (C, O/groups, kernel..) gives
/// (N, O, (extent - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1 ..).
[[nodiscard]] Tensor conv_transpose1d(const Tensor& x, const Tensor& weight,
                                      const Tensor& bias = {},
                                      const ConvTransposeOptions& options = {});
[[nodiscard]] Tensor conv_transpose2d(const Tensor& x, const Tensor& weight,
                                      const Tensor& bias = {},
                                      const ConvTransposeOptions& options = {});
[[nodiscard]] Tensor conv_transpose3d(const Tensor& x, const Tensor& weight,
                                      const Tensor& bias = {},
                                      const ConvTransposeOptions& options = {});

/// All slices of `size` elements of an axis, each `step` further, as a new last axis; a view.
[[nodiscard]] Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step = 1);

struct WindowOptions {
  PerAxis dilation = 1;
  PerAxis padding = 0;
  PerAxis stride = 1;
};
/// x (N, C, H, W) as its windows: (N, C * kernel elements, places), what PyTorch calls unfold.
[[nodiscard]] Tensor im2col(const Tensor& x, const PerAxis& kernel,
                            const WindowOptions& options = {});
/// Its transpose: windows (N, C * kernel elements, places) summed where they overlap, for images of
/// `size`; what PyTorch calls fold.
[[nodiscard]] Tensor col2im(const Tensor& columns, const PerAxis& size, const PerAxis& kernel,
                            const WindowOptions& options = {});

/// (.., C * factor^2, H, W) to (.., C, H * factor, W * factor), and back.
[[nodiscard]] Tensor pixel_shuffle(const Tensor& x, int64_t factor);
[[nodiscard]] Tensor pixel_unshuffle(const Tensor& x, int64_t factor);

}  // namespace reprise
