#include "expert_mlp.h"

#include <algorithm>
#include <cmath>

#include "rows.h"

namespace reprise::bench {
namespace {

constexpr int64_t kBatch = 64;
constexpr float kRate = 1e-2f;

}  // namespace

ExpertMlp::ExpertMlp(MatrixLibrary library, int threads)
    : library_(std::move(library)), threads_(threads), x_(numbers(kBatch * 784, 1000)) {
  const int64_t widths[] = {784, 256, 128, 10};
  for (int i = 0; i < 3; ++i) {
    const int64_t in = widths[i], out = widths[i + 1];
    layers_.push_back({in, out, numbers(in * out, 2 * i + 1), std::vector<float>(out),
                       std::vector<float>(kBatch * out), std::vector<float>(kBatch * out)});
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(in)));
    for (float& value : layers_[i].weight) value *= scale;
  }
}

void ExpertMlp::forward(const float* x, Layer& layer, bool is_last) {
  const int64_t width = layer.outputs;
  library_.multiply({kBatch, width, layer.inputs}, x, layer.weight.data(), layer.result.data());
  const float floor = is_last ? -INFINITY : 0;
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (int64_t row = 0; row < kBatch; ++row) {
    float* y = layer.result.data() + row * width;
    for (int64_t i = 0; i < width; ++i) y[i] = std::max(y[i] + layer.bias[i], floor);
  }
}

float ExpertMlp::loss() {
  Layer& last = layers_.back();
  const int64_t width = last.outputs;
  float total = 0;
  for (int64_t row = 0; row < kBatch; ++row) {
    const float* y = last.result.data() + row * width;
    float* g = last.gradient.data() + row * width;
    const float largest = *std::max_element(y, y + width);
    float sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += g[i] = std::exp(y[i] - largest);
    const int64_t label = row % 10;
    total += std::log(sum) + largest - y[label];
    for (int64_t i = 0; i < width; ++i) g[i] /= sum * kBatch;
    g[label] -= 1.0f / kBatch;
  }
  return total / kBatch;
}

void ExpertMlp::backward(const Layer& layer, Layer& before) {
  library_.multiply({.m = kBatch, .n = layer.inputs, .k = layer.outputs, .b_is_transposed = true},
                    layer.gradient.data(), layer.weight.data(), before.gradient.data());
  const int64_t count = kBatch * layer.inputs;
#pragma omp parallel for simd num_threads(threads_) schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    before.gradient[i] = before.result[i] > 0 ? before.gradient[i] : 0;
  }
}

void ExpertMlp::update(const float* x, Layer& layer) {
  library_.multiply({.m = layer.inputs,
                     .n = layer.outputs,
                     .k = kBatch,
                     .a_is_transposed = true,
                     .alpha = -kRate,
                     .beta = 1},
                    x, layer.gradient.data(), layer.weight.data());
  for (int64_t row = 0; row < kBatch; ++row) {
    const float* g = layer.gradient.data() + row * layer.outputs;
    for (int64_t i = 0; i < layer.outputs; ++i) layer.bias[i] -= kRate * g[i];
  }
}

float ExpertMlp::step() {
  library_.set_threads(threads_);
  const float* inputs[] = {x_.data(), layers_[0].result.data(), layers_[1].result.data()};
  for (int i = 0; i < 3; ++i) forward(inputs[i], layers_[i], i == 2);
  const float value = loss();
  backward(layers_[2], layers_[1]);
  backward(layers_[1], layers_[0]);
  for (int i = 0; i < 3; ++i) update(inputs[i], layers_[i]);
  return value;
}

}  // namespace reprise::bench
