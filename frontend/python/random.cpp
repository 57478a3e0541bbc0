// Random tensors.
#include "frontend/random.h"

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using MaybeDType = std::optional<DTypeArg>;
using GeneratorArg = Generator*;  // None: the global stream

DType or_f32(const MaybeDType& dtype) {
  return dtype ? dtype->value : DType::F32;
}

void bind_floats(py::module_& module) {
  using Drawn = Tensor (*)(const Shape&, DType, Generator*);
  const auto bind = [&](const char* name, Drawn function, const char* doc) {
    module.def(
        name,
        [function](const Shape& shape, const MaybeDType& dtype, GeneratorArg generator) {
          return function(shape, or_f32(dtype), generator);
        },
        py::arg("shape") = py::tuple(), py::arg("dtype") = py::none(),
        py::arg("generator") = py::none(), doc, Unlocked());
  };
  bind("rand", rand, "Uniform in [0, 1).");
  bind("randn", randn, "Standard normal.");
  module.def(
      "uniform",
      [](const Shape& shape, const Number& low, const Number& high, const MaybeDType& dtype,
         GeneratorArg generator) { return uniform(shape, low, high, or_f32(dtype), generator); },
      py::arg("shape") = py::tuple(), py::arg("low") = 0.0, py::arg("high") = 1.0,
      py::arg("dtype") = py::none(), py::arg("generator") = py::none(),
      "Uniform between low and high.", Unlocked());
  module.def(
      "exponential",
      [](const Shape& shape, const Number& rate, const MaybeDType& dtype, GeneratorArg generator) {
        return exponential(shape, rate, or_f32(dtype), generator);
      },
      py::arg("shape") = py::tuple(), py::arg("rate") = 1.0, py::arg("dtype") = py::none(),
      py::arg("generator") = py::none(), "Waiting times with mean 1 / rate.", Unlocked());
  module.def(
      "truncated_normal",
      [](const Shape& shape, Fixed low, Fixed high, const MaybeDType& dtype,
         GeneratorArg generator) {
        return truncated_normal(shape, low.value, high.value, or_f32(dtype), generator);
      },
      py::arg("shape") = py::tuple(), py::arg("low") = -2.0, py::arg("high") = 2.0,
      py::arg("dtype") = py::none(), py::arg("generator") = py::none(),
      "Standard normal between low and high, its tails cut off.", Unlocked());
}

void bind_integers(py::module_& module) {
  module.def(
      "randint",
      [](int64_t low, int64_t high, const Shape& shape, const MaybeDType& dtype,
         GeneratorArg generator) {
        return randint(shape, low, high, dtype ? dtype->value : DType::I64, generator);
      },
      py::arg("low"), py::arg("high"), py::arg("shape") = py::tuple(),
      py::arg("dtype") = py::none(), py::arg("generator") = py::none(),
      "Integers in [low, high), int64 unless told.", Unlocked());
  module.def(
      "permutation", [](int64_t n, GeneratorArg generator) { return permutation(n, generator); },
      py::arg("n"), py::arg("generator") = py::none(), "0 to n - 1 in random order.", Unlocked());
  module.def(
      "permutation",
      [](const TensorArg& x, int64_t axis, GeneratorArg generator) {
        return permutation(x.value, axis, generator);
      },
      py::arg("x"), py::arg("axis") = 0, py::arg("generator") = py::none(),
      "x's positions along an axis in random order.", Unlocked());
  module.def(
      "bernoulli",
      [](const TensorArg& p, GeneratorArg generator) { return bernoulli(p.value, generator); },
      py::arg("p"), py::arg("generator") = py::none(), "1 with each probability, else 0.",
      Unlocked());
  module.def(
      "multinomial",
      [](const TensorArg& weights, int64_t count, bool replacement, GeneratorArg generator) {
        return multinomial(weights.value, count, replacement ? Replacement::Yes : Replacement::No,
                           generator);
      },
      py::arg("weights"), py::arg("num_samples"), py::arg("replacement") = false,
      py::arg("generator") = py::none(),
      "Positions of rows of weights, as likely as they weigh; none twice without replacement. "
      "Reading them is an IndexError where weights are negative, not finite or too few positive.",
      Unlocked());
}

}  // namespace

void bind_random(py::module_& module) {
  module.def("set_seed", &set_seed, py::arg("seed"),
             "Starts the global stream of random numbers anew.", Unlocked());
  py::class_<Generator>(module, "Generator",
                        "A stream of random numbers of its own. A jitted function that draws from "
                        "it goes on at each call.")
      .def(py::init<uint64_t>(), py::arg("seed"), Unlocked());
  bind_floats(module);
  bind_integers(module);
}

}  // namespace reprise::python
