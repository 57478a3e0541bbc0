// Tensors from nothing: filled, counted and random ones.
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
  module.def(
      "eye",
      [](int64_t rows, const std::optional<int64_t>& columns, const MaybeDType& dtype) {
        return eye(rows, columns, or_f32(dtype));
      },
      py::arg("n_rows"), py::arg("n_cols") = py::none(), py::arg("dtype") = py::none(),
      "Ones on the diagonal.", Unlocked());
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
}

void bind_random(py::module_& module) {
  module.def("set_seed", &set_seed, py::arg("seed"),
             "Starts the stream of random numbers anew: the same seed, the same numbers.",
             Unlocked());
  module.def(
      "rand",
      [](const Shape& shape, const MaybeDType& dtype) { return rand(shape, or_f32(dtype)); },
      py::arg("shape") = py::tuple(), py::arg("dtype") = py::none(), "Uniform in [0, 1).",
      Unlocked());
  module.def(
      "randn",
      [](const Shape& shape, const MaybeDType& dtype) { return randn(shape, or_f32(dtype)); },
      py::arg("shape") = py::tuple(), py::arg("dtype") = py::none(), "Standard normal.",
      Unlocked());
  module.def(
      "uniform",
      [](const Shape& shape, const Number& low, const Number& high, const MaybeDType& dtype) {
        return uniform(shape, low, high, or_f32(dtype));
      },
      py::arg("shape") = py::tuple(), py::arg("low") = 0.0, py::arg("high") = 1.0,
      py::arg("dtype") = py::none(), "Uniform between low and high.", Unlocked());
  module.def(
      "randint",
      [](int64_t low, int64_t high, const Shape& shape, const MaybeDType& dtype) {
        return randint(shape, low, high, dtype ? dtype->value : DType::I64);
      },
      py::arg("low"), py::arg("high"), py::arg("shape") = py::tuple(),
      py::arg("dtype") = py::none(), "Integers in [low, high), int64 unless told.", Unlocked());
}

}  // namespace

void bind_create(py::module_& module) {
  bind_filled(module);
  bind_random(module);
}

}  // namespace reprise::python
