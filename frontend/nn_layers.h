// Layers of images, sequences and batches as modules: convolutions, pooling, normalization,
// dropout.
//
// Each is made alone or, with a parent and a name before its other arguments, as a submodule.
#pragma once

#include "frontend/convolution.h"
#include "frontend/layers.h"
#include "frontend/nn.h"
#include "frontend/pooling.h"

namespace reprise::nn {

/// A convolution over `axes` spatial axes (conv1d to conv3d): x (N, in, spatial..) gives
/// (N, out, spatial..); weight is (out, in / groups, kernel..), bias (out). Both start uniform
/// between
/// +-1/sqrt(in / groups * kernel elements), as Linear's do. Throws ShapeError where channels and
/// groups do not come out even.
template <int axes>
class Conv : public Module {
 public:
  Conv(int64_t in, int64_t out, const PerAxis& kernel, const ConvOptions& options = {},
       Bias bias = Bias::Yes, DType dtype = DType::F32);
  Conv(Module& parent, std::string_view name, int64_t in, int64_t out, const PerAxis& kernel,
       const ConvOptions& options = {}, Bias bias = Bias::Yes, DType dtype = DType::F32);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Tensor weight;
  Tensor bias;  ///< empty without one

 private:
  void initialize(int64_t in, int64_t out, const PerAxis& kernel, Bias bias, DType dtype);
  ConvOptions options_;
};
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

/// The transpose of a convolution: weight is (in, out / groups, kernel..), bias (out), uniform
/// between +-1/sqrt(out / groups * kernel elements).
template <int axes>
class ConvTranspose : public Module {
 public:
  ConvTranspose(int64_t in, int64_t out, const PerAxis& kernel,
                const ConvTransposeOptions& options = {}, Bias bias = Bias::Yes,
                DType dtype = DType::F32);
  ConvTranspose(Module& parent, std::string_view name, int64_t in, int64_t out,
                const PerAxis& kernel, const ConvTransposeOptions& options = {},
                Bias bias = Bias::Yes, DType dtype = DType::F32);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Tensor weight;
  Tensor bias;  ///< empty without one

 private:
  void initialize(int64_t in, int64_t out, const PerAxis& kernel, Bias bias, DType dtype);
  ConvTransposeOptions options_;
};
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

/// max_pool1d to max_pool3d. Nothing to train: a value, no module.
template <int axes>
struct MaxPool {
  PerAxis kernel;
  MaxPoolOptions options{};
  [[nodiscard]] Tensor operator()(const Tensor& x) const;
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

/// avg_pool1d to avg_pool3d.
template <int axes>
struct AvgPool {
  PerAxis kernel;
  AvgPoolOptions options{};
  [[nodiscard]] Tensor operator()(const Tensor& x) const;
};
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

/// The axes from `first` on as one.
struct Flatten {
  int64_t first = 1;
  [[nodiscard]] Tensor operator()(const Tensor& x) const;
};

/// batch_norm of x (N, channels, ..): by the batch's own statistics while it trains, which go into
/// the running ones; by those when it infers.
class BatchNorm : public Module {
 public:
  explicit BatchNorm(int64_t channels, double eps = 1e-5, double momentum = 0.1,
                     DType dtype = DType::F32);
  BatchNorm(Module& parent, std::string_view name, int64_t channels, double eps = 1e-5,
            double momentum = 0.1, DType dtype = DType::F32);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Tensor weight, bias;                    ///< (channels), 1 and 0 at first
  Tensor running_mean, running_variance;  ///< buffers; 0 and 1 at first

 private:
  void initialize(int64_t channels, DType dtype);
  double eps_, momentum_;
};

/// layer_norm over the last axis, of extent `features`.
class LayerNorm : public Module {
 public:
  explicit LayerNorm(int64_t features, double eps = 1e-5, DType dtype = DType::F32);
  LayerNorm(Module& parent, std::string_view name, int64_t features, double eps = 1e-5,
            DType dtype = DType::F32);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Tensor weight, bias;  ///< (features), 1 and 0 at first

 private:
  void initialize(int64_t features, DType dtype);
  double eps_;
};

/// Rows of a table (count, features), normal with deviation 1 at first, at integer indices.
class Embedding : public Module {
 public:
  Embedding(int64_t count, int64_t features, DType dtype = DType::F32);
  Embedding(Module& parent, std::string_view name, int64_t count, int64_t features,
            DType dtype = DType::F32);
  [[nodiscard]] Tensor operator()(const Tensor& indices) const;

  Tensor weight;
};

/// dropout while it trains, x itself when it infers.
class Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5) : p_(p) {}
  Dropout(Module& parent, std::string_view name, double p = 0.5) : Module(parent, name), p_(p) {}
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  double p_;
};

}  // namespace reprise::nn
