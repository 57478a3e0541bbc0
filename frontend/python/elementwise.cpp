// Elementwise functions under the array API standard's names, PyTorch's where it has none.
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(Operand, Operand);

struct UnaryRow {
  const char* name;
  Unary function;
  const char* doc;
};
struct BinaryRow {
  const char* name;
  Binary function;
  const char* doc;
};

const UnaryRow kUnary[] = {
    {"negative", &negative, "-x. Integers wrap; DTypeError for bool."},
    {"abs", &abs, "Magnitude. The least integer stays what it is."},
    {"sign", &sign, "-1, 0 or 1; of NaN NaN."},
    {"square", &square, "x * x."},
    {"floor", &floor, "Toward -inf; integers stay."},
    {"ceil", &ceil, "Toward +inf; integers stay."},
    {"trunc", &trunc, "Toward 0; integers stay."},
    {"round", &round, "To the nearest integer, ties to even."},
    {"relu", &relu, "max(x, 0); NaN stays."},
    {"isnan", &isnan, "Whether it is NaN."},
    {"isinf", &isinf, "Whether it is an infinity."},
    {"isfinite", &isfinite, "Whether it is neither NaN nor an infinity."},
    {"bitwise_invert", &bitwise_invert, "~x of integers, not x of bools."},
    {"sqrt", &sqrt, "Square root; integers become float32."},
    {"rsqrt", &rsqrt, "1 / sqrt(x); integers become float32."},
    {"reciprocal", &reciprocal, "1 / x; integers become float32."},
    {"exp", &exp, "e to the x; integers become float32."},
    {"log", &log, "Natural logarithm; integers become float32."},
    {"sin", &sin, "Sine; integers become float32."},
    {"cos", &cos, "Cosine; integers become float32."},
    {"tanh", &tanh, "Hyperbolic tangent; integers become float32."},
    {"sigmoid", &sigmoid, "1 / (1 + exp(-x)); integers become float32."},
    {"gelu", &gelu, "x * Phi(x), by erf; integers become float32."},
    {"erf", &erf, "Error function; integers become float32."},
    {"erfinv", &erfinv, "Inverse of erf; integers become float32."},
    {"stop_gradient", &stop_gradient, "The value, through which no gradient flows."},
};

const BinaryRow kBinary[] = {
    {"add", &add, "a + b; of bools: or."},
    {"subtract", &subtract, "a - b. DTypeError for bools."},
    {"multiply", &multiply, "a * b; of bools: and."},
    {"divide", &divide, "a / b; integers become float32."},
    {"floor_divide", &floor_divide, "floor(a / b); of integers by 0: 0."},
    {"remainder", &remainder, "a - floor(a / b) * b, of b's sign; of integers by 0: 0."},
    {"pow", &pow,
     "a to the b. A number as exponent is compiled in; integers wrap, negative exponents give 0."},
    {"maximum", &maximum, "The larger; NaN if either is."},
    {"minimum", &minimum, "The smaller; NaN if either is."},
    {"copysign", &copysign, "a's magnitude with b's sign."},
    {"bitwise_and", &bitwise_and, "a & b of integers or bools."},
    {"bitwise_or", &bitwise_or, "a | b of integers or bools."},
    {"bitwise_xor", &bitwise_xor, "a ^ b of integers or bools."},
    {"bitwise_left_shift", &left_shift, "a << b; counts outside the width shift all out."},
    {"bitwise_right_shift", &right_shift, "a >> b; counts outside the width shift all out."},
    {"equal", &equal, "a == b, as bools."},
    {"not_equal", &not_equal, "a != b, as bools."},
    {"less", &less, "a < b, as bools."},
    {"less_equal", &less_equal, "a <= b, as bools."},
    {"greater", &greater, "a > b, as bools."},
    {"greater_equal", &greater_equal, "a >= b, as bools."},
};

Tensor truths(const Tensor& x) {
  return cast(x, DType::Bool);
}
/// A number as a bool, or a tensor of bools in `held`.
Operand truth_operand(const Operand& operand, Tensor& held) {
  if (operand.tensor() == nullptr) return Number(operand.number().as_double() != 0);
  held = truths(*operand.tensor());
  return held;
}
template <Binary function>
Tensor logical(const Operand& a, const Operand& b) {
  Tensor left, right;
  return function(truth_operand(a, left), truth_operand(b, right));
}

Tensor clip(const Tensor& x, const std::optional<Operand>& low,
            const std::optional<Operand>& high) {
  if (low && high) return clamp(x, *low, *high);
  if (low) return maximum(x, *low);
  if (high) return minimum(x, *high);
  return x.value();
}

}  // namespace

void bind_elementwise(py::module_& module, TensorClass& tensor) {
  for (const UnaryRow& row : kUnary) {
    const Unary function = row.function;
    const auto call = [function](const TensorArg& x) { return function(x.value); };
    def_both(module, tensor, row.name, call, row.doc, Unlocked());
  }
  for (const BinaryRow& row : kBinary) {
    module.def(row.name, row.function, py::arg("x1"), py::arg("x2"), row.doc, Unlocked());
  }
  module.def(
      "positive", [](const TensorArg& x) { return x.value.value(); }, py::arg("x"), "x itself.",
      Unlocked());
  module.def(
      "logical_not", [](const TensorArg& x) { return bitwise_invert(truths(x.value)); },
      py::arg("x"), "Whether x is 0.", Unlocked());
  module.def("logical_and", &logical<&bitwise_and>, py::arg("x1"), py::arg("x2"),
             "Whether both are not 0.", Unlocked());
  module.def("logical_or", &logical<&bitwise_or>, py::arg("x1"), py::arg("x2"),
             "Whether either is not 0.", Unlocked());
  module.def("logical_xor", &logical<&bitwise_xor>, py::arg("x1"), py::arg("x2"),
             "Whether exactly one is not 0.", Unlocked());
  def_both(
      module, tensor, "astype",
      [](const TensorArg& x, const DTypeArg& dtype) { return cast(x.value, dtype.value); },
      py::arg("dtype"),
      "Converts: float to integer saturates and NaN gives 0, integers wrap. A pair of casts is "
      "never left out.",
      Unlocked());
  module.def(
      "where",
      [](const TensorArg& condition, Operand x1, Operand x2) {
        return where(condition.value, x1, x2);
      },
      py::arg("condition"), py::arg("x1"), py::arg("x2"),
      "x1 where the condition (as bools) holds, else x2; the branch not taken gives a gradient no "
      "NaN.",
      Unlocked());
  def_both(
      module, tensor, "clip",
      [](const TensorArg& x, const std::optional<Operand>& low,
         const std::optional<Operand>& high) { return clip(x.value, low, high); },
      py::arg("min") = py::none(), py::arg("max") = py::none(),
      "min(max(x, low), high); with both bounds no gradient flows to them.", Unlocked());
}

}  // namespace reprise::python
