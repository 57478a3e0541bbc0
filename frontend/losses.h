// Losses: how far predictions are from what they should be. Shapes broadcast unless told; numbers
// are read at every launch, they never recompile. Integers become f32.
#pragma once

#include <optional>

#include "frontend/ops.h"

namespace reprise {

/// (prediction - target)^2 and |prediction - target|.
[[nodiscard]] Tensor mse_loss(const Tensor& prediction, const Tensor& target,
                              LossReduction reduction = LossReduction::Mean);
[[nodiscard]] Tensor l1_loss(const Tensor& prediction, const Tensor& target,
                             LossReduction reduction = LossReduction::Mean);
/// Of the difference d: d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.
[[nodiscard]] Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target,
                                    LossReduction reduction = LossReduction::Mean,
                                    Number beta = 1.0);
/// Of the difference d: d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2).
[[nodiscard]] Tensor huber_loss(const Tensor& prediction, const Tensor& target,
                                LossReduction reduction = LossReduction::Mean, Number delta = 1.0);

/// -(t log p + (1 - t) log(1 - p)) of probabilities p, the logarithms no less than -100.
[[nodiscard]] Tensor bce_loss(const Tensor& probability, const Tensor& target,
                              LossReduction reduction = LossReduction::Mean);
/// The same of sigmoid(logit), without loss at either end. `positive_weight`, unless it is an empty
/// handle, multiplies the term of t.
[[nodiscard]] Tensor bce_with_logits_loss(const Tensor& logit, const Tensor& target,
                                          LossReduction reduction = LossReduction::Mean,
                                          const Tensor& positive_weight = {});

struct ClassWeights {
  Tensor weight = {};                         ///< (C), or an empty handle: all 1
  std::optional<int64_t> ignored_label = {};  ///< rows with this label count for nothing
  double label_smoothing = 0;  ///< this part of each label goes evenly to all classes
};
/// -log_probability at each row's label, by the class's weight: log-probabilities (.., C), integer
/// labels (..). Mean divides by the sum of the weights of the rows that count. A label out of range
/// throws IndexError when a result is read.
[[nodiscard]] Tensor nll_loss(const Tensor& log_probability, const Tensor& labels,
                              LossReduction reduction = LossReduction::Mean,
                              const ClassWeights& classes = {});
/// nll_loss of log_softmax(logits), smoothed; or, for labels of a float dtype and the logits'
/// shape, -sum(label * log_softmax(logits)) of each row.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                                   LossReduction reduction, const ClassWeights& classes);

/// target (log(target) - log_probability), 0 where the target is 0; with LogTarget::Yes the target
/// is a logarithm itself.
enum class LogTarget : uint8_t { No, Yes };
[[nodiscard]] Tensor kl_div_loss(const Tensor& log_probability, const Tensor& target,
                                 LossReduction reduction = LossReduction::Mean,
                                 LogTarget log_target = LogTarget::No);
/// max(0, 1 - prediction * target) for targets of -1 and 1.
[[nodiscard]] Tensor hinge_loss(const Tensor& prediction, const Tensor& target,
                                LossReduction reduction = LossReduction::Mean);
/// sum(a b) / (max(|a|, eps) max(|b|, eps)) over an axis of their common shape.
[[nodiscard]] Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis = -1,
                                       Number eps = 1e-8);
/// max(0, |anchor - positive| - |anchor - negative| + margin) of the rows, by the Euclidean norm of
/// the last axis.
[[nodiscard]] Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative, Number margin = 1.0,
                                         LossReduction reduction = LossReduction::Mean);

}  // namespace reprise
