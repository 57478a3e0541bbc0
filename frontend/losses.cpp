// Losses: how far predictions are from what they should be.
#include "frontend/losses.h"

#include "frontend/contractions.h"
#include "frontend/create.h"
#include "frontend/record.h"
#include "ir/elementwise.h"

namespace reprise {

namespace {

Tensor reduced(const Tensor& losses, LossReduction reduction) {
  switch (reduction) {
    case LossReduction::Mean:
      return mean(losses);
    case LossReduction::Sum:
      return sum(losses);
    case LossReduction::None:
      break;
  }
  return losses;
}

Tensor as_float(const Tensor& x) {
  return cast(x, computed_in(Op::Sqrt, x.dtype()));
}

Tensor difference(const Tensor& prediction, const Tensor& target) {
  return as_float(prediction) - as_float(target);
}

/// Labels, and which of them count; those that do not are 0, which is a class.
struct Counted {
  Tensor labels, counts;
};
Counted counted(std::string_view what, const Tensor& scores, const Tensor& labels,
                int64_t ignored_label) {
  const TensorType type = scores.type(), label_type = labels.type();
  if (!is_integer(label_type.dtype)) {
    throw DTypeError(str(what, ": labels must be integers, they are ", label_type));
  }
  const Shape& shape = type.shape;
  if (shape.rank() == 0 ||
      label_type.shape != Shape(shape.extents().first(static_cast<size_t>(shape.rank() - 1)))) {
    throw ShapeError(
        str(what, ": scores [..., C] with labels [...], got ", type, " and ", label_type));
  }
  const Tensor counts = labels != ignored_label;
  return {where(counts, labels, 0), counts};
}

/// -scores at each row's label.
Tensor picked(const Tensor& scores, const Tensor& labels) {
  const int64_t classes = scores.size(-1);
  const Tensor checked = record(Op::CheckIndex, cast(labels, DType::I64), Attrs().add_int(classes));
  const Tensor is_label = unsqueeze(checked, -1) == arange(classes);
  return -sum(where(is_label, scores, 0), -1);
}

/// The reduction of rows that weigh differently.
Tensor reduced_by_weight(const Tensor& losses, const Tensor& weights, LossReduction reduction) {
  return reduction == LossReduction::Mean ? sum(losses) / sum(weights) : reduced(losses, reduction);
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction) {
  return reduced(square(difference(prediction, target)), reduction);
}

Tensor l1_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction) {
  return reduced(abs(difference(prediction, target)), reduction);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction,
                      Number beta) {
  const Tensor distance = abs(difference(prediction, target));
  const Tensor bound = parameter(beta, distance.dtype());
  const Tensor inside = square(distance) * 0.5 / bound;
  return reduced(where(distance < bound, inside, distance - bound * 0.5), reduction);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction,
                  Number delta) {
  const Tensor distance = abs(difference(prediction, target));
  const Tensor bound = parameter(delta, distance.dtype());
  const Tensor outside = bound * (distance - bound * 0.5);
  return reduced(where(distance <= bound, square(distance) * 0.5, outside), reduction);
}

Tensor bce_loss(const Tensor& probability, const Tensor& target, LossReduction reduction) {
  const Tensor p = as_float(probability);
  const Tensor yes = maximum(log(p), -100.), no = maximum(log1p(-p), -100.);
  return reduced(-(target * yes + (1 - target) * no), reduction);
}

Tensor bce_with_logits_loss(const Tensor& logit, const Tensor& target, LossReduction reduction,
                            const Tensor& positive_weight) {
  if (positive_weight.empty_handle()) {
    return reduced(softplus(logit) - logit * target, reduction);
  }
  const Tensor weight = (positive_weight - 1) * target + 1;
  return reduced((1 - target) * logit + weight * softplus(-logit), reduction);
}

Tensor nll_loss(const Tensor& log_probability, const Tensor& labels, LossReduction reduction,
                const ClassWeights& classes) {
  const Tensor scores = as_float(log_probability);
  const auto [label, counts] = counted("nll_loss", scores, labels, classes.ignored_label);
  const Tensor weights = classes.weight.empty_handle()
                             ? cast(counts, scores.dtype())
                             : where(counts, gather(classes.weight, label), 0);
  const Tensor losses = where(counts, picked(scores, label) * weights, 0);
  return reduced_by_weight(losses, weights, reduction);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, LossReduction reduction,
                     const ClassWeights& classes) {
  const Tensor scores = log_softmax(logits);
  const double smoothing = classes.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1)) {
    throw Error(str("cross_entropy: a label smoothing of ", smoothing, " is not in [0, 1]"));
  }
  const bool weighted = !classes.weight.empty_handle();
  const Tensor by_class = weighted ? scores * classes.weight : scores;
  const int64_t count = scores.size(-1);
  if (is_float(labels.dtype())) {
    if (labels.shape() != logits.shape()) {
      throw ShapeError(str("cross_entropy: probabilities of the logits' shape, got ", logits.type(),
                           " and ", labels.type()));
    }
    const Tensor smooth = labels * (1 - smoothing) + smoothing / static_cast<double>(count);
    return reduced(-sum(smooth * by_class, -1), reduction);
  }
  if (smoothing == 0) return nll_loss(scores, labels, reduction, classes);
  const auto [label, counts] = counted("cross_entropy", scores, labels, classes.ignored_label);
  const Tensor weights =
      weighted ? where(counts, gather(classes.weight, label), 0) : cast(counts, scores.dtype());
  const Tensor even = -sum(by_class, -1) * (smoothing / static_cast<double>(count));
  const Tensor losses = where(counts, picked(by_class, label) * (1 - smoothing) + even, 0);
  return reduced_by_weight(losses, weights, reduction);
}

Tensor kl_div_loss(const Tensor& log_probability, const Tensor& target, LossReduction reduction,
                   LogTarget log_target) {
  if (log_target == LogTarget::Yes) {
    return reduced(exp(target) * (target - log_probability), reduction);
  }
  const Tensor losses = target * (log(target) - log_probability);
  return reduced(where(target > 0, losses, 0), reduction);
}

Tensor hinge_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction) {
  return reduced(relu(1 - as_float(prediction) * target), reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis, Number eps) {
  const Tensor lengths = norm(a, 2, axis) * norm(b, 2, axis);
  return sum(as_float(a) * as_float(b), axis) / maximum(lengths, eps);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           Number margin, LossReduction reduction) {
  const Tensor near = norm(difference(anchor, positive), 2, -1);
  const Tensor far = norm(difference(anchor, negative), 2, -1);
  return reduced(relu(near - far + margin), reduction);
}

}  // namespace reprise
