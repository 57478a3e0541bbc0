// Scalar: a number that a replay reads again, and numbers computed from it.
#include <cmath>
#include <memory>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

py::object number_object(const Number& number) {
  switch (number.category()) {
    case DTypeCategory::Bool:
      return py::bool_(number.as_double() != 0);
    case DTypeCategory::Integer:
      return number.default_dtype() == DType::U64
                 ? py::object(py::int_(number.bits(DType::U64)))
                 : py::object(py::int_(static_cast<int64_t>(number.bits(DType::I64))));
    case DTypeCategory::Float:
    case DTypeCategory::Complex:
    case DTypeCategory::ComplexInteger:
      break;
  }
  return py::float_(number.as_double());
}

/// A number, or what a cell holds whenever it is asked.
class Source {
 public:
  explicit Source(const Number& number)
      : number_(number), cell_(number.cell() ? number.cell()->shared_from_this() : nullptr) {}
  [[nodiscard]] double now() const { return (cell_ ? cell_->value() : number_).as_double(); }

 private:
  Number number_;
  std::shared_ptr<const ScalarCell> cell_;
};

/// A Scalar that each replay of the tape that is open computes anew, before its ops read it. So it
/// stays what a Python number is: weak beside tensors.
template <class Formula>
Scalar computed(const Formula& formula) {
  Scalar result{Number(formula())};
  Runtime::get().at_replay([result, formula](ReplayEvent event) mutable {
    switch (event) {
      case ReplayEvent::Begins:
        result.set(formula());
        break;
      case ReplayEvent::Failed:
        break;  // computed anew before it is read
    }
  });
  return result;
}

using Arithmetic = double (*)(double, double);

// Floored, as everywhere here.
double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && std::signbit(rest) != std::signbit(b) ? rest + b : rest;
}
double floor_quotient(double a, double b) {
  return b == 0 ? a / b : std::round((a - modulo(a, b)) / b);
}

Scalar combine(const char* name, Arithmetic function, const Number& a, const Number& b) {
  if (a.category() != DTypeCategory::Float && b.category() != DTypeCategory::Float) {
    throw UnsupportedError(str(name, " of the Scalars or numbers ", a, " and ", b,
                               ": one of the two must be a float"));
  }
  return computed([function, x = Source(a), y = Source(b)] { return function(x.now(), y.now()); });
}

using OnTensors = Tensor (*)(Operand, Operand);

void bind_arithmetic(py::class_<Scalar>& scalar, const std::string& name, Arithmetic function,
                     OnTensors on_tensors) {
  const auto bind = [&](const std::string& method, const auto& numbers, const auto& tensors) {
    scalar.def(method.c_str(), numbers, py::is_operator());
    scalar.def(method.c_str(), tensors, py::is_operator(), Unlocked());  // arrays too
  };
  bind(
      "__" + name + "__",
      [name, function](const Scalar& a, const Number& b) {
        return combine(name.c_str(), function, a, b);
      },
      [on_tensors](const Scalar& a, const TensorArg& b) { return on_tensors(Number(a), b.value); });
  bind(
      "__r" + name + "__",
      [name, function](const Scalar& a, const Number& b) {
        return combine(name.c_str(), function, b, a);
      },
      [on_tensors](const Scalar& a, const TensorArg& b) { return on_tensors(b.value, Number(a)); });
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(
      what +
      " of a Scalar, which may change between replays, so Python cannot decide by it: compute with "
      "tensors (where, maximum), name the argument of a jitted function in static_argnums or "
      "static_argnames, or outside of one use its value");
}

}  // namespace

void bind_scalar(py::module_& module) {
  py::class_<Scalar> scalar(
      module, "Scalar",
      "A number that may change between the replays of a recorded step: an op recorded with it "
      "reads its value then, a replay reads it again. What is computed from it and numbers is a "
      "Scalar too, which follows it at each replay.");
  scalar.def(py::init<Number>(), py::arg("value"))
      .def(
          "set", [](Scalar& s, const Number& value) { s.set(value); }, py::arg("value"),
          "DTypeError for a number of another category; a float takes any.")
      .def_property_readonly("value",
                             [](const Scalar& s) {
                               require_readable("the value of a Scalar");
                               return number_object(s.value());
                             })
      .def("__repr__", [](const Scalar& s) { return str("Scalar(", s.value(), ")"); })
      .def("__hash__", [](const py::object& s) { return reinterpret_cast<intptr_t>(s.ptr()) >> 4; })
      .def("__pos__", [](const Scalar& s) { return s; })
      .def("__neg__",
           [](const Scalar& s) {
             return combine(
                 "neg", [](double a, double) { return -a; }, s, Number(0.0));
           })
      .def("__abs__", [](const Scalar& s) {
        return combine(
            "abs", [](double a, double) { return std::abs(a); }, s, Number(0.0));
      });
  const auto arithmetic = [&](const char* name, Arithmetic function, OnTensors on_tensors) {
    bind_arithmetic(scalar, name, function, on_tensors);
  };
  arithmetic(
      "add", [](double a, double b) { return a + b; }, &add);
  arithmetic(
      "sub", [](double a, double b) { return a - b; }, &subtract);
  arithmetic(
      "mul", [](double a, double b) { return a * b; }, &multiply);
  arithmetic(
      "truediv", [](double a, double b) { return a / b; }, &divide);
  arithmetic("floordiv", floor_quotient, &floor_divide);
  arithmetic("mod", modulo, &remainder);
  arithmetic(
      "pow", [](double a, double b) { return std::pow(a, b); }, &pow);
  for (const char* name : {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}) {
    scalar.def(
        name, [](const Scalar&, const Number&) -> bool { refuse("a comparison"); },
        py::is_operator());
  }
  for (const char* name : {"bool", "int", "float", "index", "round", "floor", "ceil", "trunc"}) {
    scalar.def(("__" + std::string(name) + "__").c_str(),
               [name](const Scalar&, const py::args&) -> bool { refuse(str("the ", name)); });
  }
  scalar.attr("__array_ufunc__") = py::none();  // arrays leave their operators to this class
}

}  // namespace reprise::python
