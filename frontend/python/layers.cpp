// Normalization, attention and softmax, the functions that layers are made of.
#include "frontend/python/arguments.h"
#include "frontend/random.h"

namespace reprise::python {

namespace {

void bind_channel_norms(py::module_& module) {
  module.def(
      "group_norm",
      [](const TensorArg& x, int64_t groups, const std::optional<TensorArg>& weight,
         const std::optional<TensorArg>& bias,
         Number eps) { return group_norm(x.value, groups, or_empty(weight), or_empty(bias), eps); },
      py::arg("x"), py::arg("num_groups"), py::arg("weight") = py::none(),
      py::arg("bias") = py::none(), py::arg("eps") = 1e-5,
      "x (N, C, ..) normalized over each group of channels and all that follows.", Unlocked());
  module.def(
      "instance_norm",
      [](const TensorArg& x, const std::optional<TensorArg>& weight,
         const std::optional<TensorArg>& bias,
         Number eps) { return instance_norm(x.value, or_empty(weight), or_empty(bias), eps); },
      py::arg("x"), py::arg("weight") = py::none(), py::arg("bias") = py::none(),
      py::arg("eps") = 1e-5, "group_norm with every channel a group.", Unlocked());
  module.def(
      "batch_norm",
      [](const TensorArg& x, const std::optional<TensorArg>& mean,
         const std::optional<TensorArg>& variance, const std::optional<TensorArg>& weight,
         const std::optional<TensorArg>& bias, bool training, Number momentum, Number eps) {
        if (!training && mean && variance) {
          return batch_norm(x.value, mean->value, variance->value, or_empty(weight), or_empty(bias),
                            eps);
        }
        return batch_norm_training(x.value, or_empty(mean), or_empty(variance), or_empty(weight),
                                   or_empty(bias), momentum, eps);
      },
      py::arg("x"), py::arg("running_mean") = py::none(), py::arg("running_var") = py::none(),
      py::arg("weight") = py::none(), py::arg("bias") = py::none(), py::arg("training") = false,
      py::arg("momentum") = 0.1, py::arg("eps") = 1e-5,
      "x (N, C, ..) normalized by each channel's statistics: the running ones, or in training the "
      "batch's, of which the running ones then remember a part. Without running ones always the "
      "batch's.",
      Unlocked());
  module.def(
      "local_response_norm",
      [](const TensorArg& x, int64_t size, Number alpha, Fixed beta, Number k) {
        return local_response_norm(x.value, size, alpha, beta.value, k);
      },
      py::arg("x"), py::arg("size"), py::arg("alpha") = 1e-4, py::arg("beta") = 0.75,
      py::arg("k") = 1.0, "x / (k + alpha * mean of the squares of the channels around)^beta.",
      Unlocked());
}

void bind_attention(py::module_& module) {
  module.def(
      "scaled_dot_product_attention",
      [](const TensorArg& q, const TensorArg& k, const TensorArg& v,
         const std::optional<TensorArg>& mask, bool is_causal, const std::optional<Number>& scale) {
        return scaled_dot_product_attention(q.value, k.value, v.value, or_empty(mask),
                                            is_causal ? Causal::Yes : Causal::No, scale);
      },
      py::arg("query"), py::arg("key"), py::arg("value"), py::arg("attn_mask") = py::none(),
      py::arg("is_causal") = false, py::arg("scale") = py::none(),
      "softmax(q k^T scale) v over the last two axes. Heads share keys and values in groups where "
      "there are fewer of those; a position that sees nothing gives 0; with fewer queries than "
      "keys "
      "is_causal takes them for the last ones.",
      Unlocked());
  module.def(
      "rope",
      [](const TensorArg& x, Number offset, Fixed base) {
        return rope(x.value, offset, base.value);
      },
      py::arg("x"), py::arg("offset") = 0, py::arg("base") = 10000.0,
      "Rotary positions: pairs (i, i + D / 2) turned by (offset + t) * base^(-2 i / D).",
      Unlocked());
  module.def(
      "dropout",
      [](const TensorArg& x, Number p, bool training, Generator* generator) {
        return training ? dropout(x.value, p, generator) : x.value.value();
      },
      py::arg("x"), py::arg("p") = 0.5, py::arg("training") = true,
      py::arg("generator") = py::none(),
      "Each element 0 with probability p, else divided by 1 - p; every replay draws anew. Without "
      "training x itself.",
      Unlocked());
}

}  // namespace

void bind_layers(py::module_& module, TensorClass&) {
  bind_channel_norms(module);
  bind_attention(module);
  module.def(
      "softmax", [](const TensorArg& x, const AxisList& axis) { return softmax(x.value, axis); },
      py::arg("x"), py::arg("axis") = -1,
      "exp(x) / sum(exp(x)) over one axis or several; NaN for a row of -inf.", Unlocked());
  module.def(
      "log_softmax",
      [](const TensorArg& x, const AxisList& axis) { return log_softmax(x.value, axis); },
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
         Number eps) { return layer_norm(x.value, axis, or_empty(weight), or_empty(bias), eps); },
      py::arg("x"), py::arg("axis") = -1, py::arg("weight") = py::none(),
      py::arg("bias") = py::none(), py::arg("eps") = 1e-5,
      "(x - mean) / sqrt(variance + eps) * weight + bias over the axes; weight and bias have x's "
      "extents there.",
      Unlocked());
  module.def(
      "rms_norm",
      [](const TensorArg& x, const AxisList& axis, const std::optional<TensorArg>& weight,
         Number eps) { return rms_norm(x.value, axis, or_empty(weight), eps); },
      py::arg("x"), py::arg("axis") = -1, py::arg("weight") = py::none(), py::arg("eps") = 1e-5,
      "x / sqrt(mean(x * x) + eps) * weight over the axes.", Unlocked());
}

}  // namespace reprise::python
