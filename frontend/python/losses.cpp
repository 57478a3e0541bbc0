// Losses, under PyTorch's names.
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using PairLoss = Tensor (*)(const Tensor&, const Tensor&, LossReduction);

ClassWeights class_weights(const std::optional<TensorArg>& weight,
                           std::optional<int64_t> ignore_index, double label_smoothing) {
  return {or_empty(weight), ignore_index, label_smoothing};
}

}  // namespace

void bind_losses(py::module_& module) {
  const auto pair = [&](const char* name, PairLoss function, const char* doc) {
    module.def(
        name,
        [function](const TensorArg& input, const TensorArg& target, const std::string& reduction) {
          return function(input.value, target.value, reduction_named(reduction));
        },
        py::arg("input"), py::arg("target"), py::arg("reduction") = "mean", doc, Unlocked());
  };
  pair("mse_loss", &mse_loss, "(input - target)^2.");
  pair("l1_loss", &l1_loss, "|input - target|.");
  pair("binary_cross_entropy", &bce_loss,
       "-(t log p + (1 - t) log(1 - p)) of probabilities p, the logarithms no less than -100.");
  pair("hinge_loss", &hinge_loss, "max(0, 1 - input * target) for targets of -1 and 1.");
  module.def(
      "smooth_l1_loss",
      [](const TensorArg& input, const TensorArg& target, const std::string& reduction,
         Number beta) {
        return smooth_l1_loss(input.value, target.value, reduction_named(reduction), beta);
      },
      py::arg("input"), py::arg("target"), py::arg("reduction") = "mean", py::arg("beta") = 1.0,
      "Of the difference d: d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.", Unlocked());
  module.def(
      "huber_loss",
      [](const TensorArg& input, const TensorArg& target, const std::string& reduction,
         Number delta) {
        return huber_loss(input.value, target.value, reduction_named(reduction), delta);
      },
      py::arg("input"), py::arg("target"), py::arg("reduction") = "mean", py::arg("delta") = 1.0,
      "Of the difference d: d^2 / 2 where |d| <= delta, else delta * (|d| - delta / 2).",
      Unlocked());
  module.def(
      "binary_cross_entropy_with_logits",
      [](const TensorArg& input, const TensorArg& target, const std::string& reduction,
         const std::optional<TensorArg>& pos_weight) {
        return bce_with_logits_loss(input.value, target.value, reduction_named(reduction),
                                    or_empty(pos_weight));
      },
      py::arg("input"), py::arg("target"), py::arg("reduction") = "mean",
      py::arg("pos_weight") = py::none(),
      "binary_cross_entropy of sigmoid(input), without loss at either end.", Unlocked());
  module.def(
      "nll_loss",
      [](const TensorArg& input, const TensorArg& target, const std::string& reduction,
         const std::optional<TensorArg>& weight, std::optional<int64_t> ignore_index) {
        return nll_loss(input.value, target.value, reduction_named(reduction),
                        class_weights(weight, ignore_index, 0));
      },
      py::arg("input"), py::arg("target"), py::arg("reduction") = "mean",
      py::arg("weight") = py::none(), py::arg("ignore_index") = py::none(),
      "-input at each row's label, by the class's weight; the mean divides by the weights.",
      Unlocked());
  module.def(
      "cross_entropy",
      [](const TensorArg& logits, const TensorArg& labels, const std::string& reduction,
         const std::optional<TensorArg>& weight, std::optional<int64_t> ignore_index,
         Fixed label_smoothing) {
        const LossReduction how = reduction_named(reduction);
        const bool plain = !weight && !ignore_index && label_smoothing.value == 0;
        if (plain && is_integer(labels.value.dtype())) {
          return cross_entropy(logits.value, labels.value, how);
        }
        return cross_entropy(logits.value, labels.value, how,
                             class_weights(weight, ignore_index, label_smoothing.value));
      },
      py::arg("logits"), py::arg("labels"), py::arg("reduction") = "mean",
      py::arg("weight") = py::none(), py::arg("ignore_index") = py::none(),
      py::arg("label_smoothing") = 0.0,
      "-log_softmax(logits) at each row's label: logits (.., C), integer labels (..), or "
      "probabilities (.., C). 'mean' (divided by the classes' weights), 'sum', or 'none' for all "
      "of "
      "them. A label out of range raises IndexError when a result is read.",
      Unlocked());
  module.def(
      "kl_div",
      [](const TensorArg& input, const TensorArg& target, const std::string& reduction,
         bool log_target) {
        const LogTarget target_is = log_target ? LogTarget::Yes : LogTarget::No;
        if (reduction != "batchmean") {
          return kl_div_loss(input.value, target.value, reduction_named(reduction), target_is);
        }
        const int64_t rows = input.value.rank() == 0 ? 1 : input.value.size(0);
        return kl_div_loss(input.value, target.value, LossReduction::Sum, target_is) / rows;
      },
      py::arg("input"), py::arg("target"), py::arg("reduction") = "mean",
      py::arg("log_target") = false,
      "target * (log(target) - input), 0 where the target is. \"batchmean\" divides the sum by the "
      "rows.",
      Unlocked());
  module.def(
      "cosine_similarity",
      [](const TensorArg& x1, const TensorArg& x2, int64_t axis, Number eps) {
        return cosine_similarity(x1.value, x2.value, axis, eps);
      },
      py::arg("x1"), py::arg("x2"), py::arg("axis") = -1, py::arg("eps") = 1e-8,
      "sum(x1 * x2) / max(|x1| |x2|, eps) over an axis.", Unlocked());
  module.def(
      "triplet_margin_loss",
      [](const TensorArg& anchor, const TensorArg& positive, const TensorArg& negative,
         Number margin, const std::string& reduction) {
        return triplet_margin_loss(anchor.value, positive.value, negative.value, margin,
                                   reduction_named(reduction));
      },
      py::arg("anchor"), py::arg("positive"), py::arg("negative"), py::arg("margin") = 1.0,
      py::arg("reduction") = "mean",
      "max(0, |anchor - positive| - |anchor - negative| + margin) of the rows.", Unlocked());
}

}  // namespace reprise::python
