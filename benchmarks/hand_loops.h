// What an expert would write by hand for one machine: the peer of fused kernels.
#pragma once

#include <cstdint>

namespace reprise::bench {

// Over `count` elements, on `threads` threads. Compiled for this machine, with reassociation.
void hand_scaled_tanh(const float* x, float* y, int64_t count,
                      int threads);                                    ///< 2 tanh(relu(x)) + 1
void hand_gelu(const float* x, float* y, int64_t count, int threads);  ///< tanh form
void hand_exp(const float* x, float* y, int64_t count, int threads);
void hand_two_products(const float* a, const float* b, const float* c, const float* d, float* y,
                       int64_t count, int threads);  ///< a b + c d
[[nodiscard]] float hand_sum_of_squares(const float* x, int64_t count, int threads);

// Over the rows of a matrix.
void hand_softmax(const float* x, float* y, int64_t rows, int64_t columns, int threads);
void hand_logsumexp(const float* x, float* y, int64_t rows, int64_t columns, int threads);
void hand_layer_norm(const float* x, float* y, int64_t rows, int64_t columns, int threads);

}  // namespace reprise::bench
