// Tensors from nothing: filled and counted ones.
#include "frontend/create.h"

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using MaybeDType = std::optional<DTypeArg>;

DType or_f32(const MaybeDType& dtype) {
  return dtype ? dtype->value : DType::F32;
}
Tensor full_of(const Shape& shape, const Number& value, const MaybeDType& dtype) {
  return dtype ? full(shape, value, dtype->value) : full(shape, value);
}

void bind_filled(py::module_& module) {
  module.def(
      "zeros",
      [](const Shape& shape, const MaybeDType& dtype) { return zeros(shape, or_f32(dtype)); },
      py::arg("shape"), py::arg("dtype") = py::none(), "Zeros, float32 unless told.", Unlocked());
  module.def(
      "ones",
      [](const Shape& shape, const MaybeDType& dtype) { return ones(shape, or_f32(dtype)); },
      py::arg("shape"), py::arg("dtype") = py::none(), "Ones, float32 unless told.", Unlocked());
  module.def(
      "empty",
      [](const Shape& shape, const MaybeDType& dtype) { return zeros(shape, or_f32(dtype)); },
      py::arg("shape"), py::arg("dtype") = py::none(),
      "Zeros: nothing can be written into a tensor, so none is without values.", Unlocked());
  module.def(
      "full", &full_of, py::arg("shape"), py::arg("fill_value"), py::arg("dtype") = py::none(),
      "The number everywhere, in its own dtype (int64, float32, bool) unless told.", Unlocked());
  const auto like = [&](const char* name, double value, const char* doc) {
    module.def(
        name,
        [value](const TensorArg& x, const MaybeDType& dtype) {
          const TensorType type = x.value.type();
          const DType want = dtype ? dtype->value : type.dtype;
          return value == 0 ? zeros(type.shape, want) : ones(type.shape, want);
        },
        py::arg("x"), py::arg("dtype") = py::none(), doc, Unlocked());
  };
  like("zeros_like", 0, "Zeros of x's shape, and dtype unless told.");
  like("ones_like", 1, "Ones of x's shape, and dtype unless told.");
  like("empty_like", 0, "Zeros of x's shape, and dtype unless told.");
  module.def(
      "full_like",
      [](const TensorArg& x, const Number& value, const MaybeDType& dtype) {
        const TensorType type = x.value.type();
        return full(type.shape, value, dtype ? dtype->value : type.dtype);
      },
      py::arg("x"), py::arg("fill_value"), py::arg("dtype") = py::none(),
      "The number everywhere, in x's shape, and dtype unless told.", Unlocked());
  const auto diagonals = [&](const char* name, bool below, const char* doc) {
    module.def(
        name,
        [below](int64_t rows, const std::optional<int64_t>& columns, int64_t k,
                const MaybeDType& dtype) {
          return below ? tri(rows, columns, k, or_f32(dtype))
                       : eye(rows, columns, or_f32(dtype), k);
        },
        py::arg("n_rows"), py::arg("n_cols") = py::none(), py::arg("k") = 0,
        py::arg("dtype") = py::none(), doc, Unlocked());
  };
  diagonals("eye", false, "Ones on diagonal k.");
  diagonals("tri", true, "Ones on diagonal k and below it.");
  module.def(
      "arange",
      [](const Number& start, const std::optional<Number>& stop, const Number& step,
         const MaybeDType& dtype) {
        const std::optional<DType> want = dtype ? std::optional(dtype->value) : std::nullopt;
        return stop ? arange(start, *stop, step, want) : arange(0, start, step, want);
      },
      py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1,
      py::arg("dtype") = py::none(),
      "start, start + step, .. short of stop; one number is the stop. int64 when all are integers, "
      "else float32.",
      Unlocked());
  const auto endpoint_of = [](bool included) {
    return included ? Endpoint::Included : Endpoint::Excluded;
  };
  module.def(
      "linspace",
      [endpoint_of](double start, double stop, int64_t num, bool endpoint,
                    const MaybeDType& dtype) {
        return linspace(start, stop, num, or_f32(dtype), endpoint_of(endpoint));
      },
      py::arg("start"), py::arg("stop"), py::arg("num") = 50, py::arg("endpoint") = true,
      py::arg("dtype") = py::none(), "Values at equal distances.", Unlocked());
  module.def(
      "logspace",
      [endpoint_of](double start, double stop, int64_t num, bool endpoint, double base,
                    const MaybeDType& dtype) {
        return logspace(start, stop, num, base, or_f32(dtype), endpoint_of(endpoint));
      },
      py::arg("start"), py::arg("stop"), py::arg("num") = 50, py::arg("endpoint") = true,
      py::arg("base") = 10.0, py::arg("dtype") = py::none(), "base to the power of linspace.",
      Unlocked());
}

}  // namespace

void bind_create(py::module_& module) {
  bind_filled(module);
}

}  // namespace reprise::python
