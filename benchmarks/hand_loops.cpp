#include "hand_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reprise::bench {
namespace {

// e^x = 2^n e^r with r in [-ln2/2, ln2/2]; the polynomial's error is below an ulp. No denormals.
[[gnu::always_inline]] inline float fast_exp(float x) {
  x = x < -87 ? -87 : x > 88 ? 88 : x;
  const float n = std::nearbyint(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  return p * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
}

[[gnu::always_inline]] inline float fast_tanh(float x) {
  return 1 - 2 / (fast_exp(2 * x) + 1);
}

}  // namespace

void hand_scaled_tanh(const float* x, float* y, int64_t count, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; ++i) y[i] = 2 * fast_tanh(x[i] > 0 ? x[i] : 0) + 1;
}

void hand_gelu(const float* x, float* y, int64_t count, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const float v = x[i];
    y[i] = 0.5f * v * (1 + fast_tanh(0.79788456f * (v + 0.044715f * v * v * v)));
  }
}

void hand_exp(const float* x, float* y, int64_t count, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; ++i) y[i] = fast_exp(x[i]);
}

void hand_two_products(const float* a, const float* b, const float* c, const float* d, float* y,
                       int64_t count, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; ++i) y[i] = a[i] * b[i] + c[i] * d[i];
}

float hand_sum_of_squares(const float* x, int64_t count, int threads) {
  float total = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : total)
  for (int64_t i = 0; i < count; ++i) total += x[i] * x[i];
  return total;
}

void hand_softmax(const float* x, float* y, int64_t rows, int64_t columns, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float largest = in[0], total = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < columns; ++i) largest = std::max(largest, in[i]);
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < columns; ++i) total += out[i] = fast_exp(in[i] - largest);
    const float scale = 1 / total;
#pragma omp simd
    for (int64_t i = 0; i < columns; ++i) out[i] *= scale;
  }
}

void hand_logsumexp(const float* x, float* y, int64_t rows, int64_t columns, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float largest = in[0], total = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < columns; ++i) largest = std::max(largest, in[i]);
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < columns; ++i) total += fast_exp(in[i] - largest);
    y[row] = std::log(total) + largest;
  }
}

void hand_layer_norm(const float* x, float* y, int64_t rows, int64_t columns, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float total = 0, squares = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < columns; ++i) total += in[i];
    const float mean = total / static_cast<float>(columns);
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < columns; ++i) squares += (in[i] - mean) * (in[i] - mean);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(columns) + 1e-5f);
#pragma omp simd
    for (int64_t i = 0; i < columns; ++i) out[i] = (in[i] - mean) * scale;
  }
}

}  // namespace reprise::bench
