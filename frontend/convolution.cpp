// Convolution over one to three spatial axes, windows as tensors, and what only moves channels.
#include "frontend/convolution.h"

#include <algorithm>

#include "frontend/rearrange.h"
#include "frontend/record.h"
#include "ir/elementwise.h"

namespace reprise {

namespace {

using Extents = SmallVector<int64_t, kMaxDims>;

std::string name_of(std::string_view what, int axes) {
  return str(what, axes, "d");
}

/// Checks the ranks; x gets a batch axis where it has none.
Tensor batched(const std::string& what, const Tensor& x, const Tensor& weight, int axes) {
  const TensorType type = x.type(), weights = weight.type();
  if (weights.shape.rank() != axes + 2) {
    throw ShapeError(str(what, ": the weights are ", weights, ", they need rank ", axes + 2));
  }
  if (type.shape.rank() == axes + 1) return unsqueeze(x, 0);
  if (type.shape.rank() != axes + 2) {
    throw ShapeError(
        str(what, ": the input is ", type, ", it needs rank ", axes + 2, ", or ", axes + 1));
  }
  return x;
}

Tensor with_bias(const std::string& what, const Tensor& result, const Tensor& bias, int axes) {
  if (bias.empty_handle()) return result;
  const int64_t channels = result.size(1);
  if (bias.shape() != Shape{channels}) {
    throw ShapeError(
        str(what, ": the bias is ", bias.type(), ", one of ", channels, " channels is wanted"));
  }
  Extents extents{channels};
  for (int i = 0; i < axes; ++i) extents.push_back(1);
  return result + reshape(bias, extents);
}

/// Records the product of two tensors of one dtype.
Tensor convolved(const Tensor& x, const Tensor& weight, int64_t groups, const Extents& strides,
                 const Extents& low, const Extents& high, const Extents& spacings,
                 const Extents& dilations) {
  const DType dtype = promote(x.dtype(), weight.dtype());
  return record(Op::Convolution, {cast(x, dtype).id(), cast(weight, dtype).id()},
                Attrs()
                    .add_int(groups)
                    .add_ints(strides)
                    .add_ints(low)
                    .add_ints(high)
                    .add_ints(spacings)
                    .add_ints(dilations));
}

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
            int axes) {
  const std::string what = name_of("conv", axes);
  const Tensor images = batched(what, x, weight, axes);
  const Extents strides = options.stride.of(axes, what);
  const Extents dilations = options.dilation.of(axes, what);
  Extents low = options.padding.widths().of(axes, what), high = low, ones;
  const Shape kernel = weight.shape();
  for (int i = 0; i < axes; ++i) {
    ones.push_back(1);
    if (low[i] < 0) throw ShapeError(str(what, ": padding of ", low[i], " along axis ", i + 2));
    if (!options.padding.is_same()) continue;
    if (strides[i] != 1) {
      throw ShapeError(str(what, ": a stride of ", strides[i],
                           " does not keep extents; Same padding takes a stride of 1"));
    }
    const int64_t total = dilations[i] * (kernel[2 + i] - 1);
    low[i] = total / 2;
    high[i] = total - low[i];
  }
  const Tensor result =
      convolved(images, weight, options.groups, strides, low, high, ones, dilations);
  const Tensor shifted = with_bias(what, result, bias, axes);
  return x.rank() == axes + 1 ? squeeze(shifted, 0) : shifted;
}

Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const ConvTransposeOptions& options, int axes) {
  const std::string what = name_of("conv_transpose", axes);
  const Tensor images = batched(what, x, weight, axes);
  const Extents strides = options.stride.of(axes, what);
  const Extents dilations = options.dilation.of(axes, what);
  const Extents padding = options.padding.of(axes, what);
  const Extents more = options.output_padding.of(axes, what);
  const Shape shape = weight.shape();
  const int64_t groups = options.groups;
  if (groups < 1 || shape[0] % groups != 0 || images.size(1) != shape[0]) {
    throw ShapeError(str(what, ": weights ", shape, " in ", groups, " groups do not take the ",
                         images.size(1), " channels of ", x.type()));
  }
  Extents low, high, ones, extents{groups * shape[1], shape[0] / groups};
  std::vector<int64_t> turned_axes;
  int64_t taps = 1;
  for (int i = 0; i < axes; ++i) {
    const int64_t kernel = shape[2 + i];
    if (strides[i] < 1 || dilations[i] < 1 || padding[i] < 0) {
      throw ShapeError(str(what, ": stride ", strides[i], ", dilation ", dilations[i],
                           " and padding ", padding[i], " along axis ", i + 2));
    }
    if (more[i] < 0 || more[i] >= std::max(strides[i], dilations[i])) {
      throw ShapeError(str(what, ": output padding of ", more[i],
                           " must be less than the stride or the dilation, ", strides[i], " and ",
                           dilations[i]));
    }
    low.push_back(dilations[i] * (kernel - 1) - padding[i]);
    high.push_back(low[i] + more[i]);
    ones.push_back(1);
    extents.push_back(kernel);
    turned_axes.push_back(2 + i);
    taps *= kernel;
  }
  const Tensor exchanged =
      permute(reshape(weight, {groups, shape[0] / groups, shape[1], taps}), {0, 2, 1, 3});
  const Tensor turned = flip(reshape(exchanged, extents), turned_axes);
  const Tensor result = convolved(images, turned, groups, ones, low, high, strides, dilations);
  const Tensor shifted = with_bias(what, result, bias, axes);
  return x.rank() == axes + 1 ? squeeze(shifted, 0) : shifted;
}

Tensor windowed(const Tensor& x, const Extents& sizes, const Extents& strides,
                const Extents& dilations) {
  return record(Op::Window, x, Attrs().add_ints(sizes).add_ints(strides).add_ints(dilations));
}

}  // namespace

Extents PerAxis::of(int axes, std::string_view what) const {
  constexpr int64_t limit = int64_t{1} << 31;  // the product of two of them does not overflow
  for (const int64_t value : values_) {
    if (value > limit || value < -limit) {
      throw ShapeError(str(what, ": ", value, " along a spatial axis; at most ", limit));
    }
  }
  if (static_cast<int>(values_.size()) == axes) return values_;
  if (values_.size() != 1) {
    throw ShapeError(str(what, ": ", values_.size(), " numbers for ", axes, " spatial axes"));
  }
  Extents all;
  for (int i = 0; i < axes; ++i) all.push_back(values_[0]);
  return all;
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvOptions& options) {
  return conv(x, weight, bias, options, 1);
}
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvOptions& options) {
  return conv(x, weight, bias, options, 2);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvOptions& options) {
  return conv(x, weight, bias, options, 3);
}
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
  return conv_transpose(x, weight, bias, options, 1);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
  return conv_transpose(x, weight, bias, options, 2);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options) {
  return conv_transpose(x, weight, bias, options, 3);
}

Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step) {
  const int place = normalize_axis(axis, x.rank());
  if (size < 1 || size > x.size(place) || step < 1) {
    throw ShapeError(str("unfold of ", x.type(), ": slices of ", size, " elements by a step of ",
                         step, " from an axis of ", x.size(place)));
  }
  const Tensor slices = windowed(moveaxis(x, place, -1), {size}, {step}, {1});
  return moveaxis(slices, -2, place);
}

Tensor im2col(const Tensor& x, const PerAxis& kernel, const WindowOptions& options) {
  const TensorType type = x.type();
  if (type.shape.rank() != 4) throw ShapeError(str("im2col of ", type, ": it needs rank 4"));
  const Extents sizes = kernel.of(2, "im2col"), padding = options.padding.of(2, "im2col");
  const Extents widths{0, 0, padding[0], padding[1]};
  const Tensor seen = windowed(pad(x, widths, widths), sizes, options.stride.of(2, "im2col"),
                               options.dilation.of(2, "im2col"));
  const Shape shape = seen.shape();
  return reshape(permute(seen, {0, 1, 4, 5, 2, 3}),
                 {shape[0], shape[1] * shape[4] * shape[5], shape[2] * shape[3]});
}

Tensor col2im(const Tensor& columns, const PerAxis& size, const PerAxis& kernel,
              const WindowOptions& options) {
  const TensorType type = columns.type();
  const Extents extents = size.of(2, "col2im"), sizes = kernel.of(2, "col2im");
  const Extents padding = options.padding.of(2, "col2im");
  const Extents strides = options.stride.of(2, "col2im");
  const Extents dilations = options.dilation.of(2, "col2im");
  Extents counts;
  for (int i = 0; i < 2; ++i) {
    const int64_t reach = (sizes[i] - 1) * dilations[i];
    const int64_t padded = extents[i] + 2 * padding[i];
    if (sizes[i] < 1 || strides[i] < 1 || dilations[i] < 1 || padding[i] < 0 || reach >= padded) {
      throw ShapeError(str("col2im: a kernel of ", sizes[i], " with stride ", strides[i],
                           ", dilation ", dilations[i], " and padding ", padding[i],
                           " does not fit an extent of ", extents[i]));
    }
    counts.push_back((padded - reach - 1) / strides[i] + 1);
  }
  const int64_t elements = sizes[0] * sizes[1], places = counts[0] * counts[1];
  if (type.shape.rank() != 3 || type.shape[1] % elements != 0 || type.shape[2] != places) {
    throw ShapeError(str("col2im of ", type, ": windows of ", elements, " elements at ", places,
                         " places are wanted, (N, C * ", elements, ", ", places, ")"));
  }
  const int64_t images = type.shape[0], channels = type.shape[1] / elements;
  const Tensor seen =
      permute(reshape(columns, {images, channels, sizes[0], sizes[1], counts[0], counts[1]}),
              {0, 1, 4, 5, 2, 3});
  const TensorType padded{
      type.dtype, {images, channels, extents[0] + 2 * padding[0], extents[1] + 2 * padding[1]}};
  const Tensor sums =
      record(Op::OverlapAdd, seen, Attrs().add_ints(strides).add_ints(dilations), &padded);
  Tensor inner = slice(sums, 2, {padding[0], padding[0] + extents[0]});
  return slice(inner, 3, {padding[1], padding[1] + extents[1]});
}

Tensor pixel_shuffle(const Tensor& x, int64_t factor) {
  const TensorType type = x.type();
  const int rank = type.shape.rank();
  if (rank < 3 || factor < 1 || type.shape[rank - 3] % (factor * factor) != 0) {
    throw ShapeError(str("pixel_shuffle of ", type, " by ", factor,
                         ": it needs rank 3 and channels that divide by ", factor * factor));
  }
  const int64_t channels = type.shape[rank - 3] / (factor * factor);
  const int64_t rows = type.shape[rank - 2], columns = type.shape[rank - 1];
  Extents extents(type.shape.extents());
  int64_t images = 1;
  for (int i = 0; i < rank - 3; ++i) images *= extents[i];
  extents[rank - 3] = channels;
  extents[rank - 2] = rows * factor;
  extents[rank - 1] = columns * factor;
  return reshape(
      permute(reshape(x, {images * channels, factor, factor, rows, columns}), {0, 3, 1, 4, 2}),
      extents);
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor) {
  const TensorType type = x.type();
  const int rank = type.shape.rank();
  if (rank < 3 || factor < 1 || type.shape[rank - 2] % factor != 0 ||
      type.shape[rank - 1] % factor != 0) {
    throw ShapeError(str("pixel_unshuffle of ", type, " by ", factor,
                         ": it needs rank 3 and extents that divide by ", factor));
  }
  const int64_t channels = type.shape[rank - 3];
  const int64_t rows = type.shape[rank - 2] / factor, columns = type.shape[rank - 1] / factor;
  Extents extents(type.shape.extents());
  int64_t images = 1;
  for (int i = 0; i < rank - 3; ++i) images *= extents[i];
  extents[rank - 3] = channels * factor * factor;
  extents[rank - 2] = rows;
  extents[rank - 1] = columns;
  return reshape(
      permute(reshape(x, {images * channels, rows, factor, columns, factor}), {0, 2, 4, 1, 3}),
      extents);
}

}  // namespace reprise
