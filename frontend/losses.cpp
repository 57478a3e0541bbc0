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

Tensor difference(const Tensor& prediction, const Tensor& target) {
  return as_float(prediction) - as_float(target);
}

/// Labels as i64, and which of them count; those that do not are 0, which is a class.
struct Counted {
  Tensor labels, counts;
};
Counted counted(std::string_view what, const Tensor& scores, const Tensor& labels,
                std::optional<int64_t> ignored_label) {
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
  const Tensor wide = cast(labels, DType::I64);
  if (!ignored_label) return {wide, ones(label_type.shape, DType::Bool)};
  const Tensor counts = wide != *ignored_label;
  return {where(counts, wide, 0), counts};
}

/// A weight for each row that counts, by its class.
Tensor row_weights(const Tensor& scores, const Counted& rows, const Tensor& weight) {
  if (weight.empty_handle()) return cast(rows.counts, scores.dtype());
  return where(rows.counts, gather(weight, rows.labels), 0);
}
void require_class_weights(std::string_view what, const Tensor& scores, const Tensor& weight) {
  if (weight.empty_handle() || weight.shape() == Shape{scores.size(-1)}) return;
  throw ShapeError(str(what, ": a weight for each of the ", scores.size(-1), " classes of ",
                       scores.type(), ", got ", weight.type()));
}

/// t * s, in which 0 times infinity is 0: a term that nobody asks for.
Tensor asked(const Tensor& t, const Tensor& s) {
  return where(logical_and(t == 0, isinf(s)), 0, t * s);
}

void require_positive(std::string_view what, std::string_view name, const Number& number,
                      bool zero) {
  const double value = number.as_double();
  if (value > 0 || (zero && value == 0)) return;
  throw Error(str(what, ": ", name, " is ", value, ", not ", zero ? "0 or more" : "above 0"));
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
  require_positive("smooth_l1_loss", "beta", beta, true);
  const Tensor distance = abs(difference(prediction, target));
  const Tensor bound = parameter(beta, distance.dtype());
  const Tensor inside = square(distance) * 0.5 / bound;
  return reduced(where(distance < bound, inside, distance - bound * 0.5), reduction);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction,
                  Number delta) {
  require_positive("huber_loss", "delta", delta, false);
  const Tensor distance = abs(difference(prediction, target));
  const Tensor bound = parameter(delta, distance.dtype());
  const Tensor outside = bound * (distance - bound * 0.5);
  return reduced(where(distance <= bound, square(distance) * 0.5, outside), reduction);
}

Tensor bce_loss(const Tensor& probability, const Tensor& target, LossReduction reduction) {
  const Tensor p = as_float(probability), t = as_float(target);
  const Tensor yes = maximum(log(p), -100.), no = maximum(log1p(-p), -100.);
  return reduced(-(t * yes + (1 - t) * no), reduction);
}

Tensor bce_with_logits_loss(const Tensor& logit, const Tensor& target, LossReduction reduction,
                            const Tensor& positive_weight) {
  const Tensor x = as_float(logit), t = as_float(target);
  const Tensor yes = asked(t, softplus(-x)), no = asked(1 - t, softplus(x));
  return reduced(positive_weight.empty_handle() ? yes + no : as_float(positive_weight) * yes + no,
                 reduction);
}

Tensor nll_loss(const Tensor& log_probability, const Tensor& labels, LossReduction reduction,
                const ClassWeights& classes) {
  const Tensor scores = as_float(log_probability);
  const Counted rows = counted("nll_loss", scores, labels, classes.ignored_label);
  require_class_weights("nll_loss", scores, classes.weight);
  const Tensor weights = row_weights(scores, rows, classes.weight);
  const Tensor losses = where(rows.counts, picked(scores, rows.labels) * weights, 0);
  return reduced_by_weight(losses, weights, reduction);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, LossReduction reduction,
                     const ClassWeights& classes) {
  const Tensor scores = log_softmax(logits);
  const double smoothing = classes.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1)) {
    throw Error(str("cross_entropy: a label smoothing of ", smoothing, " is not in [0, 1]"));
  }
  require_class_weights("cross_entropy", scores, classes.weight);
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
  const Counted rows = counted("cross_entropy", scores, labels, classes.ignored_label);
  const Tensor weights = row_weights(scores, rows, classes.weight);
  const Tensor even = -sum(by_class, -1) * (smoothing / static_cast<double>(count));
  const Tensor smooth = picked(by_class, rows.labels) * (1 - smoothing) + even;
  const Tensor losses = where(rows.counts, smooth, 0);
  return reduced_by_weight(losses, weights, reduction);
}

Tensor kl_div_loss(const Tensor& log_probability, const Tensor& target, LossReduction reduction,
                   LogTarget log_target) {
  const Tensor q = as_float(log_probability), t = as_float(target);
  if (log_target == LogTarget::Yes) return reduced(exp(t) * (t - q), reduction);
  return reduced(where(t == 0, 0, t * (log(t) - q)), reduction);
}

Tensor hinge_loss(const Tensor& prediction, const Tensor& target, LossReduction reduction) {
  return reduced(relu(1 - as_float(prediction) * as_float(target)), reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis, Number eps) {
  require_positive("cosine_similarity", "eps", eps, true);
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  const DType dtype = computed_in(Op::Sqrt, promote(a.dtype(), b.dtype()));
  // Half types neither hold the squares nor a small eps.
  const DType wide = dtype == DType::F64 ? DType::F64 : DType::F32;
  const Tensor x = broadcast_to(cast(a, wide), shape), y = broadcast_to(cast(b, wide), shape);
  const Tensor lengths = maximum(norm(x, 2, axis), eps) * maximum(norm(y, 2, axis), eps);
  return cast(sum(x * y, axis) / lengths, dtype);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           Number margin, LossReduction reduction) {
  const Tensor near = norm(difference(anchor, positive), 2, -1);
  const Tensor far = norm(difference(anchor, negative), 2, -1);
  return reduced(relu(near - far + margin), reduction);
}

}  // namespace reprise
