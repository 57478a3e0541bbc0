// Convolution and windows, under PyTorch's names.
#include "frontend/convolution.h"

#include <string>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

/// "same", "valid", or widths.
ConvPadding padding_of(const py::object& padding) {
  if (py::isinstance<py::str>(padding)) {
    const auto name = padding.cast<std::string>();
    if (name == "same") return ConvPadding::Rule::Same;
    if (name == "valid") return ConvPadding::Rule::Valid;
    throw Error(str("padding is \"same\", \"valid\" or integers, not \"", name, "\""));
  }
  Integers widths;
  if (!load_integers(padding, widths.values)) {
    throw py::type_error("padding is \"same\", \"valid\" or integers");
  }
  return PerAxis(widths.values);
}

using Convolution = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&);
void bind_conv(py::module_& module, const char* name, Convolution function, const char* doc) {
  module.def(
      name,
      [function](const TensorArg& x, const TensorArg& weight, const std::optional<TensorArg>& bias,
                 const Integers& stride, const py::object& padding, const Integers& dilation,
                 int64_t groups) {
        const ConvOptions options{.stride = stride.values,
                                  .padding = padding_of(padding),
                                  .dilation = dilation.values,
                                  .groups = groups};
        return unlocked([&] { return function(x.value, weight.value, or_empty(bias), options); });
      },
      py::arg("x"), py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1,
      py::arg("padding") = 0, py::arg("dilation") = 1, py::arg("groups") = 1, doc);
}

using Transposed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&,
                              const ConvTransposeOptions&);
void bind_transposed(py::module_& module, const char* name, Transposed function) {
  module.def(
      name,
      [function](const TensorArg& x, const TensorArg& weight, const std::optional<TensorArg>& bias,
                 const Integers& stride, const Integers& padding, const Integers& output_padding,
                 int64_t groups, const Integers& dilation) {
        return function(x.value, weight.value, or_empty(bias),
                        {.stride = stride.values,
                         .padding = padding.values,
                         .output_padding = output_padding.values,
                         .dilation = dilation.values,
                         .groups = groups});
      },
      py::arg("x"), py::arg("weight"), py::arg("bias") = py::none(), py::arg("stride") = 1,
      py::arg("padding") = 0, py::arg("output_padding") = 0, py::arg("groups") = 1,
      py::arg("dilation") = 1,
      "The transpose of a convolution: x (N, C, ..) with weights (C, O/groups, ..).", Unlocked());
}

WindowOptions options_of(const Integers& dilation, const Integers& padding,
                         const Integers& stride) {
  return {.dilation = dilation.values, .padding = padding.values, .stride = stride.values};
}

void bind_windows(py::module_& module, TensorClass& tensor) {
  def_both(
      module, tensor, "unfold",
      [](const TensorArg& x, int64_t axis, int64_t size, int64_t step) {
        return unfold(x.value, axis, size, step);
      },
      py::arg("axis"), py::arg("size"), py::arg("step") = 1,
      "All slices of `size` elements of an axis, each `step` further, as a new last axis; a view.",
      Unlocked());
  module.def(
      "im2col",
      [](const TensorArg& x, const Integers& kernel, const Integers& dilation,
         const Integers& padding, const Integers& stride) {
        return im2col(x.value, kernel.values, options_of(dilation, padding, stride));
      },
      py::arg("x"), py::arg("kernel_size"), py::arg("dilation") = 1, py::arg("padding") = 0,
      py::arg("stride") = 1, "x (N, C, H, W) as its windows: (N, C * kernel elements, places).",
      Unlocked());
  module.def(
      "col2im",
      [](const TensorArg& x, const Integers& size, const Integers& kernel, const Integers& dilation,
         const Integers& padding, const Integers& stride) {
        return col2im(x.value, size.values, kernel.values, options_of(dilation, padding, stride));
      },
      py::arg("x"), py::arg("output_size"), py::arg("kernel_size"), py::arg("dilation") = 1,
      py::arg("padding") = 0, py::arg("stride") = 1,
      "Windows (N, C * kernel elements, places) summed where they overlap.", Unlocked());
  module.def(
      "pixel_shuffle",
      [](const TensorArg& x, int64_t factor) { return pixel_shuffle(x.value, factor); },
      py::arg("x"), py::arg("upscale_factor"),
      "(.., C * factor^2, H, W) to (.., C, H * factor, W * factor).", Unlocked());
  module.def(
      "pixel_unshuffle",
      [](const TensorArg& x, int64_t factor) { return pixel_unshuffle(x.value, factor); },
      py::arg("x"), py::arg("downscale_factor"),
      "(.., C, H * factor, W * factor) to (.., C * factor^2, H, W).", Unlocked());
}

}  // namespace

void bind_convolution(py::module_& module, TensorClass& tensor) {
  constexpr const char* kDoc =
      "x (N, C, ..) with weights (O, C/groups, ..) gives (N, O, ..); padding is a width, one for "
      "each spatial axis, \"same\" or \"valid\".";
  bind_conv(module, "conv1d", &conv1d, kDoc);
  bind_conv(module, "conv2d", &conv2d, kDoc);
  bind_conv(module, "conv3d", &conv3d, kDoc);
  bind_transposed(module, "conv_transpose1d", &conv_transpose1d);
  bind_transposed(module, "conv_transpose2d", &conv_transpose2d);
  bind_transposed(module, "conv_transpose3d", &conv_transpose3d);
  bind_windows(module, tensor);
}

}  // namespace reprise::python
