// Layers as modules: their parameters, and the functions that they call.
#include "frontend/nn_layers.h"

#include <algorithm>
#include <cmath>

#include "frontend/create.h"
#include "frontend/random.h"

namespace reprise::nn {

namespace {

/// The extents of a weight: two of channels, and the kernel's.
Shape weight_shape(int64_t first, int64_t second, const PerAxis& kernel, int axes,
                   std::string_view what) {
  SmallVector<int64_t, kMaxDims> extents{first, second};
  for (const int64_t extent : kernel.of(axes, what)) extents.push_back(extent);
  return Shape(std::span<const int64_t>(extents));
}

void require_groups(std::string_view what, int64_t in, int64_t out, int64_t groups) {
  if (groups >= 1 && in % groups == 0 && out % groups == 0) return;
  throw ShapeError(
      str(what, ": ", in, " and ", out, " channels do not come out even in ", groups, " groups"));
}

/// 1 / sqrt of what one element of the result sums.
double bound_of(const Shape& weight) {
  const int64_t summed = weight[0] == 0 ? 0 : weight.numel() / weight[0];
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(summed, 1)));
}

}  // namespace

template <int axes>
Conv<axes>::Conv(int64_t in, int64_t out, const PerAxis& kernel, const ConvOptions& options,
                 Bias bias, DType dtype)
    : options_(options) {
  initialize(in, out, kernel, bias, dtype);
}

template <int axes>
Conv<axes>::Conv(Module& parent, std::string_view name, int64_t in, int64_t out,
                 const PerAxis& kernel, const ConvOptions& options, Bias bias, DType dtype)
    : Module(parent, name), options_(options) {
  initialize(in, out, kernel, bias, dtype);
}

template <int axes>
void Conv<axes>::initialize(int64_t in, int64_t out, const PerAxis& kernel, Bias with_bias,
                            DType dtype) {
  require_groups("a convolution", in, out, options_.groups);
  const Shape shape =
      weight_shape(out, in / options_.groups, kernel, axes, "a convolution's kernel");
  const double bound = bound_of(shape);
  weight = parameter("weight", uniform(shape, -bound, bound, dtype));
  if (with_bias == Bias::Yes) bias = parameter("bias", uniform({out}, -bound, bound, dtype));
}

template <int axes>
Tensor Conv<axes>::operator()(const Tensor& x) const {
  if constexpr (axes == 1) return conv1d(x, weight, bias, options_);
  if constexpr (axes == 2) return conv2d(x, weight, bias, options_);
  if constexpr (axes == 3) return conv3d(x, weight, bias, options_);
}

template <int axes>
ConvTranspose<axes>::ConvTranspose(int64_t in, int64_t out, const PerAxis& kernel,
                                   const ConvTransposeOptions& options, Bias bias, DType dtype)
    : options_(options) {
  initialize(in, out, kernel, bias, dtype);
}

template <int axes>
ConvTranspose<axes>::ConvTranspose(Module& parent, std::string_view name, int64_t in, int64_t out,
                                   const PerAxis& kernel, const ConvTransposeOptions& options,
                                   Bias bias, DType dtype)
    : Module(parent, name), options_(options) {
  initialize(in, out, kernel, bias, dtype);
}

template <int axes>
void ConvTranspose<axes>::initialize(int64_t in, int64_t out, const PerAxis& kernel, Bias with_bias,
                                     DType dtype) {
  require_groups("a transposed convolution", in, out, options_.groups);
  const Shape shape =
      weight_shape(in, out / options_.groups, kernel, axes, "a transposed convolution's kernel");
  const double bound = bound_of(shape);
  weight = parameter("weight", uniform(shape, -bound, bound, dtype));
  if (with_bias == Bias::Yes) bias = parameter("bias", uniform({out}, -bound, bound, dtype));
}

template <int axes>
Tensor ConvTranspose<axes>::operator()(const Tensor& x) const {
  if constexpr (axes == 1) return conv_transpose1d(x, weight, bias, options_);
  if constexpr (axes == 2) return conv_transpose2d(x, weight, bias, options_);
  if constexpr (axes == 3) return conv_transpose3d(x, weight, bias, options_);
}

template <int axes>
Tensor MaxPool<axes>::operator()(const Tensor& x) const {
  if constexpr (axes == 1) return max_pool1d(x, kernel, options);
  if constexpr (axes == 2) return max_pool2d(x, kernel, options);
  if constexpr (axes == 3) return max_pool3d(x, kernel, options);
}

template <int axes>
Tensor AvgPool<axes>::operator()(const Tensor& x) const {
  if constexpr (axes == 1) return avg_pool1d(x, kernel, options);
  if constexpr (axes == 2) return avg_pool2d(x, kernel, options);
  if constexpr (axes == 3) return avg_pool3d(x, kernel, options);
}

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;
template struct MaxPool<1>;
template struct MaxPool<2>;
template struct MaxPool<3>;
template struct AvgPool<1>;
template struct AvgPool<2>;
template struct AvgPool<3>;

Tensor Flatten::operator()(const Tensor& x) const {
  const Shape shape = x.shape();
  const int64_t begin = first < 0 ? first + shape.rank() : first;
  if (begin < 0 || begin >= shape.rank()) {
    throw IndexError(str("Flatten: axis ", first, " is out of range for ", x.type()));
  }
  SmallVector<int64_t, kMaxDims> extents;
  int64_t rest = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis < begin) {
      extents.push_back(shape[axis]);
    } else {
      rest *= shape[axis];
    }
  }
  extents.push_back(rest);
  return reshape(x, extents);
}

BatchNorm::BatchNorm(int64_t channels, double eps, double momentum, DType dtype)
    : eps_(eps), momentum_(momentum) {
  initialize(channels, dtype);
}

BatchNorm::BatchNorm(Module& parent, std::string_view name, int64_t channels, double eps,
                     double momentum, DType dtype)
    : Module(parent, name), eps_(eps), momentum_(momentum) {
  initialize(channels, dtype);
}

void BatchNorm::initialize(int64_t channels, DType dtype) {
  weight = parameter("weight", ones({channels}, dtype));
  bias = parameter("bias", zeros({channels}, dtype));
  running_mean = buffer("running_mean", zeros({channels}, dtype));
  running_variance = buffer("running_variance", ones({channels}, dtype));
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  switch (mode()) {
    case Mode::Train:
      return batch_norm_training(x, running_mean, running_variance, weight, bias, momentum_, eps_);
    case Mode::Infer:
      return batch_norm(x, running_mean, running_variance, weight, bias, eps_);
  }
  return x;
}

LayerNorm::LayerNorm(int64_t features, double eps, DType dtype) : eps_(eps) {
  initialize(features, dtype);
}

LayerNorm::LayerNorm(Module& parent, std::string_view name, int64_t features, double eps,
                     DType dtype)
    : Module(parent, name), eps_(eps) {
  initialize(features, dtype);
}

void LayerNorm::initialize(int64_t features, DType dtype) {
  weight = parameter("weight", ones({features}, dtype));
  bias = parameter("bias", zeros({features}, dtype));
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return layer_norm(x, -1, weight, bias, eps_);
}

Embedding::Embedding(int64_t count, int64_t features, DType dtype)
    : weight(parameter("weight", randn({count, features}, dtype))) {}

Embedding::Embedding(Module& parent, std::string_view name, int64_t count, int64_t features,
                     DType dtype)
    : Module(parent, name), weight(parameter("weight", randn({count, features}, dtype))) {}

Tensor Embedding::operator()(const Tensor& indices) const {
  return gather(weight, indices);
}

Tensor Dropout::operator()(const Tensor& x) const {
  switch (mode()) {
    case Mode::Train:
      return dropout(x, p_);
    case Mode::Infer:
      return x.value();
  }
  return x;
}

}  // namespace reprise::nn
