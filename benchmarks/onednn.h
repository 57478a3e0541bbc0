// oneDNN's primitives as peers, where its headers are. They run on as many threads as OpenMP has
// when they are made.
#pragma once

#include <cstdint>
#include <functional>

namespace reprise::bench {

/// Images (batch, inputs, extent, extent), a square kernel, the output of the same extent.
struct Convolution {
  int64_t batch, inputs, outputs, extent, kernel;
  [[nodiscard]] int64_t padding() const { return kernel / 2; }
};
enum class Pass : uint8_t { Forward, InputGradient, WeightGradient };

/// A pass with everything in plain layouts: what oneDNN wants laid out otherwise is reordered in
/// each call, the result too. `source` is x, or the cotangent where there is no x; `other` the
/// weights, for Pass::WeightGradient the cotangent. Empty where
/// it was not built in. Throws where oneDNN has no such algorithm.
enum class Algorithm : uint8_t { Direct, Winograd };
[[nodiscard]] std::function<void()> onednn_convolution(const Convolution& shape, Pass pass,
                                                       Algorithm algorithm, const float* source,
                                                       const float* other, float* result);

/// c = a b of matrices (m, k) and (k, n) in row-major order: bf16 giving bf16, or i8 giving i32.
/// Empty where it was not built in. Throws where oneDNN has no such product for this machine.
enum class Narrow : uint8_t { BF16, I8 };
[[nodiscard]] std::function<void()> onednn_matmul(Narrow factors, int64_t m, int64_t n, int64_t k,
                                                  const void* a, const void* b, void* c);

}  // namespace reprise::bench
