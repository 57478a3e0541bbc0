// Pooling and resampling, under PyTorch's names.
#include "frontend/pooling.h"

#include <string>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

PerAxis or_kernel(const std::optional<Integers>& stride) {
  return stride ? PerAxis(stride->values) : PerAxis();
}
CeilMode ceil_mode_of(bool ceil_mode) {
  return ceil_mode ? CeilMode::Yes : CeilMode::No;
}

/// Extents of which None keeps the input's.
PerAxis size_of_result(const py::object& size) {
  if (size.is_none()) return -1;
  if (const std::optional<int64_t> one = integer_of(size)) return *one;
  if (!py::isinstance<py::sequence>(size)) throw py::type_error("a size is integers, or None");
  std::vector<int64_t> sizes;
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(size)) {
    const std::optional<int64_t> extent = item.is_none() ? -1 : integer_of(item);
    if (!extent) throw py::type_error("a size is integers, or None");
    sizes.push_back(*extent);
  }
  return sizes;
}

py::object values_or_both(const Pooled& pooled, bool both) {
  if (both) return py::make_tuple(pooled.first, pooled.second);
  return py::cast(pooled.first);
}

using MaxPool = Tensor (*)(const Tensor&, const PerAxis&, const MaxPoolOptions&);
using MaxPoolBoth = Pooled (*)(const Tensor&, const PerAxis&, const MaxPoolOptions&);
void bind_max(py::module_& module, const char* name, MaxPool function, MaxPoolBoth both) {
  module.def(
      name,
      [function, both](const TensorArg& x, const Integers& kernel,
                       const std::optional<Integers>& stride, const Integers& padding,
                       const Integers& dilation, bool ceil_mode, bool return_indices) {
        const MaxPoolOptions options{.stride = or_kernel(stride),
                                     .padding = padding.values,
                                     .dilation = dilation.values,
                                     .ceil_mode = ceil_mode_of(ceil_mode)};
        const Pooled pooled = unlocked([&]() -> Pooled {
          if (return_indices) return both(x.value, kernel.values, options);
          return {function(x.value, kernel.values, options), Tensor()};
        });
        return values_or_both(pooled, return_indices);
      },
      py::arg("x"), py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
      py::arg("dilation") = 1, py::arg("ceil_mode") = false, py::arg("return_indices") = false,
      "The largest element of each window; with return_indices also where it lies in its plane.");
}

using AvgPool = Tensor (*)(const Tensor&, const PerAxis&, const AvgPoolOptions&);
void bind_avg(py::module_& module, const char* name, AvgPool function) {
  module.def(
      name,
      [function](const TensorArg& x, const Integers& kernel, const std::optional<Integers>& stride,
                 const Integers& padding, bool ceil_mode, bool count_include_pad,
                 std::optional<int64_t> divisor) {
        return function(x.value, kernel.values,
                        {.stride = or_kernel(stride),
                         .padding = padding.values,
                         .ceil_mode = ceil_mode_of(ceil_mode),
                         .count_padding = count_include_pad ? CountPadding::Yes : CountPadding::No,
                         .divisor = divisor});
      },
      py::arg("x"), py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
      py::arg("ceil_mode") = false, py::arg("count_include_pad") = true,
      py::arg("divisor_override") = py::none(),
      "The sum of each window divided by how many elements it has.", Unlocked());
}

using LpPool = Tensor (*)(const Tensor&, double, const PerAxis&, const LpPoolOptions&);
void bind_lp(py::module_& module, const char* name, LpPool function) {
  module.def(
      name,
      [function](const TensorArg& x, double norm_type, const Integers& kernel,
                 const std::optional<Integers>& stride, bool ceil_mode) {
        return function(x.value, norm_type, kernel.values,
                        {.stride = or_kernel(stride), .ceil_mode = ceil_mode_of(ceil_mode)});
      },
      py::arg("x"), py::arg("norm_type"), py::arg("kernel_size"), py::arg("stride") = py::none(),
      py::arg("ceil_mode") = false, "The norm of each window.", Unlocked());
}

using Adaptive = Tensor (*)(const Tensor&, const PerAxis&);
using AdaptiveBoth = Pooled (*)(const Tensor&, const PerAxis&);
void bind_adaptive(py::module_& module, const std::string& axes, Adaptive average, Adaptive largest,
                   AdaptiveBoth both) {
  module.def(("adaptive_avg_pool" + axes).c_str(),
             [average](const TensorArg& x, const py::object& size) {
               const PerAxis extents = size_of_result(size);
               return unlocked([&] { return average(x.value, extents); });
             },
             py::arg("x"), py::arg("output_size"), "avg_pool to a size; None keeps an extent.");
  module.def(("adaptive_max_pool" + axes).c_str(),
             [largest, both](const TensorArg& x, const py::object& size, bool return_indices) {
               const PerAxis extents = size_of_result(size);
               const Pooled pooled = unlocked([&]() -> Pooled {
                 if (return_indices) return both(x.value, extents);
                 return {largest(x.value, extents), Tensor()};
               });
               return values_or_both(pooled, return_indices);
             },
             py::arg("x"), py::arg("output_size"), py::arg("return_indices") = false,
             "max_pool to a size; None keeps an extent.");
}

Resample mode_named(const std::string& name, int rank) {
  if (name == "nearest") return Resample::Nearest;
  if (name == "nearest-exact") return Resample::NearestExact;
  if (name == "area") return Resample::Area;
  constexpr const char* kLinear[] = {"linear", "bilinear", "trilinear"};
  for (int axes = 1; axes <= 3; ++axes) {
    if (name != kLinear[axes - 1]) continue;
    if (rank == axes + 2) return Resample::Linear;
    throw ShapeError(str("interpolate: \"", name, "\" is for ", axes,
                         " spatial axes, the input has rank ", rank));
  }
  if (name == "cubic") return Resample::Cubic;
  if (name == "bicubic") {
    if (rank == 4) return Resample::Cubic;
    throw ShapeError(
        str("interpolate: \"bicubic\" is for 2 spatial axes, the input has rank ", rank));
  }
  throw Error(
      str("interpolate: mode is \"nearest\", \"nearest-exact\", \"linear\", \"bilinear\", "
          "\"trilinear\", \"cubic\", \"bicubic\" or \"area\", not \"",
          name, "\""));
}

Tensor interpolated(const TensorArg& x, const std::optional<Integers>& size,
                    const py::object& scale, const std::string& mode,
                    std::optional<bool> align_corners) {
  const Resample resample = mode_named(mode, x.value.rank());
  const AlignCorners corners = align_corners.value_or(false) ? AlignCorners::Yes : AlignCorners::No;
  if (size.has_value() == !scale.is_none()) {
    throw Error("interpolate: either size or scale_factor is to be given");
  }
  if (size) return unlocked([&] { return interpolate(x.value, size->values, resample, corners); });
  std::vector<double> scales;
  if (py::isinstance<py::sequence>(scale)) {
    scales = scale.cast<std::vector<double>>();
  } else {
    scales.push_back(scale.cast<double>());
  }
  return unlocked(
      [&] { return interpolate(x.value, std::span<const double>(scales), resample, corners); });
}

}  // namespace

void bind_pooling(py::module_& module) {
  bind_max(module, "max_pool1d", &max_pool1d, &max_pool1d_with_indices);
  bind_max(module, "max_pool2d", &max_pool2d, &max_pool2d_with_indices);
  bind_max(module, "max_pool3d", &max_pool3d, &max_pool3d_with_indices);
  bind_avg(module, "avg_pool1d", &avg_pool1d);
  bind_avg(module, "avg_pool2d", &avg_pool2d);
  bind_avg(module, "avg_pool3d", &avg_pool3d);
  bind_lp(module, "lp_pool1d", &lp_pool1d);
  bind_lp(module, "lp_pool2d", &lp_pool2d);
  bind_lp(module, "lp_pool3d", &lp_pool3d);
  bind_adaptive(module, "1d", &adaptive_avg_pool1d, &adaptive_max_pool1d,
                &adaptive_max_pool1d_with_indices);
  bind_adaptive(module, "2d", &adaptive_avg_pool2d, &adaptive_max_pool2d,
                &adaptive_max_pool2d_with_indices);
  bind_adaptive(module, "3d", &adaptive_avg_pool3d, &adaptive_max_pool3d,
                &adaptive_max_pool3d_with_indices);
  module.def("interpolate", &interpolated, py::arg("x"), py::arg("size") = py::none(),
             py::arg("scale_factor") = py::none(), py::arg("mode") = "nearest",
             py::arg("align_corners") = py::none(),
             "x (N, C, ..) resampled to a size, or by a factor.");
}

}  // namespace reprise::python
