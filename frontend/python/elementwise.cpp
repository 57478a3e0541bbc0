// Elementwise functions under the array API standard's names, PyTorch's where it has none.
#include <string>

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
    {"abs", &abs, "Magnitude, of complex numbers a real one. The least integer stays what it is."},
    {"sign", &sign, "-1, 0 or 1; of NaN NaN; of complex x x / |x|."},
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
    {"erf", &erf, "Error function; integers become float32."},
    {"erfinv", &erfinv, "Inverse of erf; integers become float32."},
    {"erfc", &erfc, "1 - erf(x), accurate in its tail; integers become float32."},
    {"lgamma", &lgamma, "log |gamma(x)|; inf at 0 and negative integers; integers become float32."},
    {"digamma", &digamma, "The derivative of lgamma; integers become float32."},
    {"exp2", &exp2, "2 to the x, exact for whole x; integers become float32."},
    {"expm1", &expm1, "exp(x) - 1, accurate near 0; integers become float32."},
    {"log2", &log2, "Logarithm to the base 2; integers become float32."},
    {"log10", &log10, "Logarithm to the base 10; integers become float32."},
    {"log1p", &log1p, "log(1 + x), accurate near 0; integers become float32."},
    {"cbrt", &cbrt, "Cube root, of negative numbers too; integers become float32."},
    {"tan", &tan, "Tangent; integers become float32."},
    {"asin", &asin, "Arc sine, NaN outside [-1, 1]; integers become float32."},
    {"acos", &acos, "Arc cosine, NaN outside [-1, 1]; integers become float32."},
    {"atan", &atan, "Arc tangent; integers become float32."},
    {"sinh", &sinh, "Hyperbolic sine; integers become float32."},
    {"cosh", &cosh, "Hyperbolic cosine; integers become float32."},
    {"asinh", &asinh, "Inverse of sinh; integers become float32."},
    {"acosh", &acosh, "Inverse of cosh, NaN below 1; integers become float32."},
    {"atanh", &atanh, "Inverse of tanh, NaN outside [-1, 1]; integers become float32."},
    {"frac", &frac, "x - trunc(x), of x's sign; of integers 0."},
    {"signbit", &signbit, "Whether the sign bit is set, of -0 and NaN too."},
    {"logical_not", &logical_not, "Whether x is 0."},
    {"relu6", &relu6, "min(max(x, 0), 6); NaN stays."},
    {"selu", &selu, "The scaled exponential linear unit."},
    {"silu", &silu, "x * sigmoid(x); 0 at -inf."},
    {"mish", &mish, "x * tanh(softplus(x)); 0 at -inf."},
    {"softplus", &softplus, "log(1 + exp(x)), accurate in its tail."},
    {"softsign", &softsign, "x / (1 + |x|); -1 and 1 at the infinities."},
    {"hardsigmoid", &hardsigmoid, "relu6(x + 3) / 6."},
    {"hardswish", &hardswish, "x * hardsigmoid(x); 0 at -inf."},
    {"logsigmoid", &logsigmoid, "log(sigmoid(x)), accurate at both ends."},
    {"tanhshrink", &tanhshrink, "x - tanh(x)."},
    {"conj", &conj, "The complex conjugate; a real x itself."},
    {"angle", &angle, "atan2(imag, real); of real numbers 0 or pi."},
    {"stop_gradient", &stop_gradient, "The value, through which no gradient flows."},
};

const BinaryRow kBinary[] = {
    {"add", &add, "a + b; of bools: or."},
    {"subtract", &subtract, "a - b. DTypeError for bools."},
    {"multiply", &multiply, "a * b; of bools: and."},
    {"divide", &divide, "a / b; integers become float32."},
    {"floor_divide", &floor_divide, "floor(a / b); of integers by 0: 0."},
    {"remainder", &remainder, "a - floor(a / b) * b, of b's sign; of integers by 0: 0."},
    {"fmod", &fmod, "a - trunc(a / b) * b, of a's sign; of integers by 0: 0."},
    {"pow", &pow,
     "a to the b. A number as exponent is compiled in; integers wrap, negative exponents give 0."},
    {"maximum", &maximum, "The larger; NaN if either is."},
    {"minimum", &minimum, "The smaller; NaN if either is."},
    {"copysign", &copysign, "a's magnitude with b's sign."},
    {"atan2", &atan2, "The angle of the point (x2, x1); integers become float32."},
    {"hypot", &hypot, "sqrt(a*a + b*b) without overflow; integers become float32."},
    {"logaddexp", &logaddexp, "log(exp(a) + exp(b)) without overflow; integers become float32."},
    {"nextafter", &nextafter, "The next float after a toward b; integers become float32."},
    {"complex", &complex,
     "re + 1j * im: of float32 complex64, of float64 complex128, of integers complex integers."},
    {"logical_and", &logical_and, "Whether both are not 0."},
    {"logical_or", &logical_or, "Whether either is not 0."},
    {"logical_xor", &logical_xor, "Whether exactly one is not 0."},
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

Tensor clip(const Tensor& x, const std::optional<Operand>& low,
            const std::optional<Operand>& high) {
  if (low && high) return clamp(x, *low, *high);
  if (low) return maximum(x, *low);
  if (high) return minimum(x, *high);
  return x.value();
}

}  // namespace

namespace {

/// Those with more than operands, and other ops with numbers.
void bind_activations(py::module_& module, TensorClass& tensor) {
  def_both(
      module, tensor, "gelu",
      [](const TensorArg& x, const std::string& approximate) {
        if (approximate != "none" && approximate != "tanh") {
          throw Error(str("gelu: approximate is \"none\" or \"tanh\", not \"", approximate, "\""));
        }
        return gelu(x.value, approximate == "tanh" ? Gelu::Tanh : Gelu::Erf);
      },
      py::arg("approximate") = "none", "x * Phi(x), by erf or tanh; integers become float32.",
      Unlocked());
  module.def(
      "polygamma", [](int64_t n, const TensorArg& x) { return polygamma(n, x.value); },
      py::arg("n"), py::arg("x"),
      "The n-th derivative of digamma, n up to 64; integers become float32.", Unlocked());
  module.def(
      "leaky_relu", [](Operand x, Operand slope) { return leaky_relu(x, slope); }, py::arg("x"),
      py::arg("negative_slope") = 0.01, "x above 0, else x times the slope.", Unlocked());
  module.def(
      "prelu",
      [](const TensorArg& x, const TensorArg& weight) { return prelu(x.value, weight.value); },
      py::arg("x"), py::arg("weight"),
      "leaky_relu with one slope, or one for each channel of axis 1.", Unlocked());
  module.def(
      "elu", [](Operand x, Operand alpha) { return elu(x, alpha); }, py::arg("x"),
      py::arg("alpha") = 1.0, "x above 0, else alpha * (exp(x) - 1).", Unlocked());
  module.def(
      "celu", [](Operand x, Operand alpha) { return celu(x, alpha); }, py::arg("x"),
      py::arg("alpha") = 1.0, "x above 0, else alpha * (exp(x / alpha) - 1).", Unlocked());
  module.def(
      "hardtanh",
      [](const TensorArg& x, Operand low, Operand high) { return hardtanh(x.value, low, high); },
      py::arg("x"), py::arg("min_val") = -1.0, py::arg("max_val") = 1.0,
      "min(max(x, min_val), max_val).", Unlocked());
  module.def(
      "threshold",
      [](const TensorArg& x, Operand bound, Operand value) {
        return threshold(x.value, bound, value);
      },
      py::arg("x"), py::arg("threshold"), py::arg("value"),
      "x above the threshold, else the value.", Unlocked());
  module.def(
      "glu", [](const TensorArg& x, int64_t axis) { return glu(x.value, axis); }, py::arg("x"),
      py::arg("axis") = -1, "The first half of an axis times the sigmoid of the second.",
      Unlocked());
  module.def(
      "lerp", [](Operand start, Operand end, Operand weight) { return lerp(start, end, weight); },
      py::arg("start"), py::arg("end"), py::arg("weight"),
      "start + weight * (end - start), exactly the ends at weights 0 and 1.", Unlocked());
  module.def(
      "ldexp", [](const TensorArg& x1, const TensorArg& x2) { return ldexp(x1.value, x2.value); },
      py::arg("x1"), py::arg("x2"), "x1 * 2**x2 for integers x2.", Unlocked());
  def_both(
      module, tensor, "nan_to_num",
      [](const TensorArg& x, const Number& nan, const std::optional<Number>& posinf,
         const std::optional<Number>& neginf) { return nan_to_num(x.value, nan, posinf, neginf); },
      py::arg("nan") = 0.0, py::arg("posinf") = py::none(), py::arg("neginf") = py::none(),
      "x with NaN and the infinities replaced: by 0 and the largest finite values unless told.",
      Unlocked());
  def_both(
      module, tensor, "bitcast",
      [](const TensorArg& x, const DTypeArg& dtype) { return bitcast(x.value, dtype.value); },
      py::arg("dtype"), "The same bits as another dtype of the same size.", Unlocked());
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
  // What is a property of a tensor is no method.
  const auto part = [&](const char* name, Unary function, const char* doc) {
    module.def(
        name, [function](const TensorArg& x) { return function(x.value); }, py::arg("x"), doc,
        Unlocked());
    tensor.def_property_readonly(
        name, [function](const Tensor& x) { return unlocked([&] { return function(x); }); }, doc);
  };
  part("real", &real, "The real part; a real x itself.");
  part("imag", &imag, "The imaginary part; of real numbers 0.");
  module.def(
      "polar",
      [](const TensorArg& abs, const TensorArg& angle) { return polar(abs.value, angle.value); },
      py::arg("abs"), py::arg("angle"), "Complex numbers of these magnitudes and angles.",
      Unlocked());
  module.def(
      "positive", [](const TensorArg& x) { return x.value.value(); }, py::arg("x"), "x itself.",
      Unlocked());
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
      py::arg("min") = py::none(), py::arg("max") = py::none(), "min(max(x, low), high).",
      Unlocked());
  bind_activations(module, tensor);
}

}  // namespace reprise::python
