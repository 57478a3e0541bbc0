// Normalization and classification, the functions that layers are made of.
#include <string>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

Tensor or_empty(const std::optional<TensorArg>& tensor) {
  return tensor ? tensor->value : Tensor();
}

LossReduction reduction_named(const std::string& name) {
  if (name == "mean") return LossReduction::Mean;
  if (name == "sum") return LossReduction::Sum;
  if (name == "none") return LossReduction::None;
  throw Error(str("reduction '", name, "': expected 'mean', 'sum' or 'none'"));
}

}  // namespace

void bind_layers(py::module_& module, TensorClass&) {
  module.def(
      "softmax", [](const TensorArg& x, int64_t axis) { return softmax(x.value, axis); },
      py::arg("x"), py::arg("axis") = -1, "exp(x) / sum(exp(x)); NaN for a row of -inf.",
      Unlocked());
  module.def(
      "log_softmax", [](const TensorArg& x, int64_t axis) { return log_softmax(x.value, axis); },
      py::arg("x"), py::arg("axis") = -1, "log(softmax(x)) without overflow.", Unlocked());
  module.def(
      "one_hot",
      [](const TensorArg& indices, int64_t classes, const std::optional<DTypeArg>& dtype) {
        return one_hot(indices.value, classes, dtype ? dtype->value : DType::F32);
      },
      py::arg("indices"), py::arg("num_classes"), py::arg("dtype") = py::none(),
      "1 at each index along a new last axis; an index out of range gives zeros.", Unlocked());
  module.def(
      "layer_norm",
      [](const TensorArg& x, const AxisList& axis, const std::optional<TensorArg>& weight,
         const std::optional<TensorArg>& bias,
         double eps) { return layer_norm(x.value, axis, or_empty(weight), or_empty(bias), eps); },
      py::arg("x"), py::arg("axis") = -1, py::arg("weight") = py::none(),
      py::arg("bias") = py::none(), py::arg("eps") = 1e-5,
      "(x - mean) / sqrt(variance + eps) * weight + bias over the axes; weight and bias have x's "
      "extents there.",
      Unlocked());
  module.def(
      "rms_norm",
      [](const TensorArg& x, const AxisList& axis, const std::optional<TensorArg>& weight,
         double eps) { return rms_norm(x.value, axis, or_empty(weight), eps); },
      py::arg("x"), py::arg("axis") = -1, py::arg("weight") = py::none(), py::arg("eps") = 1e-5,
      "x / sqrt(mean(x * x) + eps) * weight over the axes.", Unlocked());
  module.def(
      "cross_entropy",
      [](const TensorArg& logits, const TensorArg& labels, const std::string& reduction) {
        return cross_entropy(logits.value, labels.value, reduction_named(reduction));
      },
      py::arg("logits"), py::arg("labels"), py::arg("reduction") = "mean",
      "-log_softmax(logits) at each row's label: logits (.., C), integer labels (..); their "
      "'mean', "
      "'sum', or 'none' for all of them. A label out of range raises IndexError when a result is "
      "read.",
      Unlocked());
}

}  // namespace reprise::python
