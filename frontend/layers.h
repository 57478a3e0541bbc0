// What layers compute: normalization by groups and batches, attention, dropout. Weights and biases
// may be empty handles; numbers are read at every launch, they never recompile.
#pragma once

#include <optional>

#include "frontend/ops.h"

namespace reprise {

class Generator;

/// x (N, C, ..) normalized over each group of C / groups channels and all that follows, then scaled
/// and shifted by channel (C). Throws ShapeError where the groups do not come out even.
[[nodiscard]] Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight = {},
                                const Tensor& bias = {}, Number eps = 1e-5);
/// The same with every channel a group.
[[nodiscard]] Tensor instance_norm(const Tensor& x, const Tensor& weight = {},
                                   const Tensor& bias = {}, Number eps = 1e-5);
/// x (N, C, ..) normalized by statistics of each channel (C).
[[nodiscard]] Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                const Tensor& weight = {}, const Tensor& bias = {},
                                Number eps = 1e-5);
/// The same by the batch's own statistics, which differentiate. The running ones are assigned:
/// (1 - momentum) running + momentum batch, the variance by n - 1. Both may be empty handles: none
/// are kept then.
[[nodiscard]] Tensor batch_norm_training(const Tensor& x, const Tensor& running_mean,
                                         const Tensor& running_variance, const Tensor& weight = {},
                                         const Tensor& bias = {}, Number momentum = 0.1,
                                         Number eps = 1e-5);
/// x (N, C, ..) / (k + alpha * mean of the squares of `size` channels around)^beta, channels that
/// do not exist counting 0.
[[nodiscard]] Tensor local_response_norm(const Tensor& x, int64_t size, Number alpha = 1e-4,
                                         double beta = 0.75, Number k = 1.0);

enum class Causal : uint8_t { No, Yes };
/// softmax(q k^T scale) v over the last two axes: q (.., heads, T, D), k (.., kv_heads, S, D),
/// v (.., kv_heads, S, E) give (.., heads, T, E). Heads share keys and values in groups where there
/// are fewer of those. `mask`: bools say what is seen, other numbers are added. Causal::Yes:
/// position t sees keys up to t + S - T. A position that sees nothing gives 0. The scale is 1 /
/// sqrt(D) unless told.
[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const Tensor& mask = {},
                                                  Causal causal = Causal::No,
                                                  std::optional<Number> scale = {});
/// Rotary positions of x (.., T, D): pairs (i, i + D / 2) are turned by
/// (offset + t) * base^(-2 i / D). Throws ShapeError for an odd D.
[[nodiscard]] Tensor rope(const Tensor& x, Number offset = 0, double base = 10000);
/// Each element 0 with probability p, else divided by 1 - p. Every replay draws anew.
[[nodiscard]] Tensor dropout(const Tensor& x, Number p = 0.5, Generator* generator = nullptr);

}  // namespace reprise
