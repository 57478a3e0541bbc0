// Normalization and softmax, the functions that layers are made of.
#include "frontend/python/arguments.h"

namespace reprise::python {

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
}

}  // namespace reprise::python
