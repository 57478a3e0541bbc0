// The perceptron's training step as an expert would write it by hand: a library's matrix products,
// loops for the rest, every buffer made beforehand.
#pragma once

#include <vector>

#include "matrix_libraries.h"

namespace reprise::bench {

class ExpertMlp {
 public:
  /// The numbers that Training's "mlp" starts from; SGD.
  ExpertMlp(MatrixLibrary library, int threads);
  /// One step; returns its loss.
  float step();

 private:
  struct Layer {
    int64_t inputs, outputs;
    std::vector<float> weight, bias;
    std::vector<float> result, gradient;  ///< (batch, outputs)
  };
  void forward(const float* x, Layer& layer, bool is_last);
  /// The gradient of the last layer's result; returns the loss.
  float loss();
  /// Into the gradient of the layer before.
  void backward(const Layer& layer, Layer& before);
  void update(const float* x, Layer& layer);

  MatrixLibrary library_;
  int threads_;
  std::vector<float> x_;
  std::vector<Layer> layers_;
};

}  // namespace reprise::bench
