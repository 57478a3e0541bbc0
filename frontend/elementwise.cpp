// Elementwise ops: promotion, weak numbers, then one recorded node.
#include "ir/elementwise.h"

#include <cmath>

#include "frontend/complex.h"
#include "frontend/ops.h"
#include "frontend/record.h"

namespace reprise {

namespace {

/// A handle on `x` in another dtype.
Tensor converted(const Tensor& x, DType dtype) {
  return record(Op::Cast, x, Attrs().add_type(dtype));
}

Tensor unary(Op op, const Tensor& x) {
  if (const TensorId id = Runtime::get().try_record(op, x.id()); id.valid()) return Tensor(id);
  const DType have = x.dtype();
  if (is_pair(have)) return complex_unary(op, x);
  const DType want = computed_in(op, have);
  return have == want ? record(op, x) : record(op, converted(x, want));
}

/// False and true have no sign to lose.
Tensor magnitude(Op op, const Tensor& x) {
  return x.dtype() == DType::Bool ? x.value() : unary(op, x);
}

/// Rounding an integer changes nothing.
Tensor rounding(Op op, const Tensor& x) {
  const DType dtype = x.dtype();
  if (is_pair(dtype)) return complex_unary(op, x);
  return is_integer(dtype) || dtype == DType::Bool ? x.value() : record(op, x);
}

/// What a number is beside a tensor where the two are computed in pairs of `joined`: a real one is
/// no more than a part.
Tensor beside_pairs(Number number, DType joined) {
  if (is_complex_integer(joined)) return constant(0, joined);  // which is refused as it is
  const bool whole = number.category() == DTypeCategory::Complex;
  return parameter(number, whole ? joined : part_of(joined));
}

Tensor binary(Op op, const Operand& a, const Operand& b) {
  if (a.tensor() != nullptr) {
    return b.tensor() != nullptr ? record_binary(op, *a.tensor(), *b.tensor())
                                 : record_binary(op, *a.tensor(), b.number());
  }
  if (b.tensor() == nullptr) {
    throw Error(str(op, " of the numbers ", a.number(), " and ", b.number(),
                    ": at least one operand must be a tensor"));
  }
  return record_binary(op, a.number(), *b.tensor());
}

}  // namespace

void require_fit(const char* what, Number first, Number last, DType dtype) {
  dtype = part_of(dtype);
  if (is_float(dtype)) return;
  for (const Number& number : {first, last}) {
    bool fits = true;
    if (number.category() == DTypeCategory::Float) {
      const double whole = std::trunc(number.as_double());
      fits = whole >= static_cast<double>(min_integer(dtype)) &&
             whole < static_cast<double>(max_integer(dtype)) + 1;
    } else {
      fits = number.fits(dtype);
    }
    if (!fits) throw DTypeError(str(what, " of ", first, " to ", last, " does not fit ", dtype));
  }
}

Tensor parameter_pair(Number value, DType dtype) {
  const DType part = part_of(dtype);
  const Tensor real = parameter(value.real_part(), part);
  const Tensor imag = value.category() == DTypeCategory::Complex
                          ? parameter(value.imaginary_part(), part)
                          : constant(0, part);
  return record(Op::Complex, {real.id(), imag.id()});
}

Tensor constant(double value, DType dtype) {
  const TensorType type{dtype, {}};
  return record(Op::Constant, std::span<const TensorId>(), Attrs().add_float(value), &type);
}

namespace {

[[gnu::noinline]] Tensor record_promoted(Op op, const Tensor& a, const Tensor& b) {
  const DType left = a.dtype();
  const DType right = b.dtype();
  if (is_pair(left) || is_pair(right)) return complex_binary(op, a, b);
  const DType dtype = computed_in(op, left == right ? left : promote(left, right));
  if (left == dtype && right == dtype) return record(op, {a.id(), b.id()});
  const Tensor x = left == dtype ? a : converted(a, dtype);
  const Tensor y = right == dtype ? b : converted(b, dtype);
  return record(op, {x.id(), y.id()});
}

}  // namespace

Tensor record_binary(Op op, const Tensor& a, const Tensor& b) {
  const TensorId id = Runtime::get().try_record(op, a.id(), b.id());
  return id.valid() ? Tensor(id) : record_promoted(op, a, b);
}

Tensor record_binary(Op op, const Tensor& a, Number b) {
  if (const TensorId id = Runtime::get().try_record(op, a.id(), b, Runtime::NumberIs::Second);
      id.valid()) {
    return Tensor(id);
  }
  const DType have = a.dtype();
  if (const DType pair = b.join(have); is_pair(pair)) {
    return complex_binary(op, a, beside_pairs(b, pair));
  }
  const DType dtype = computed_in(op, b.join(have));
  const Tensor y = parameter(b, dtype);
  if (have == dtype) return record(op, {a.id(), y.id()});
  return record(op, {converted(a, dtype).id(), y.id()});
}

Tensor record_binary(Op op, Number a, const Tensor& b) {
  if (const TensorId id = Runtime::get().try_record(op, b.id(), a, Runtime::NumberIs::First);
      id.valid()) {
    return Tensor(id);
  }
  const DType have = b.dtype();
  if (const DType pair = a.join(have); is_pair(pair)) {
    return complex_binary(op, beside_pairs(a, pair), b);
  }
  const DType dtype = computed_in(op, a.join(have));
  const Tensor x = parameter(a, dtype);
  if (have == dtype) return record(op, {x.id(), b.id()});
  return record(op, {x.id(), converted(b, dtype).id()});
}

#define REPRISE_BINARY_OPERATOR(symbol, Name)                \
  Tensor operator symbol(const Tensor& a, const Tensor& b) { \
    return record_binary(Op::Name, a, b);                    \
  }                                                          \
  Tensor operator symbol(const Tensor& a, Number b) {        \
    return record_binary(Op::Name, a, b);                    \
  }                                                          \
  Tensor operator symbol(Number a, const Tensor& b) {        \
    return record_binary(Op::Name, a, b);                    \
  }
REPRISE_BINARY_OPERATOR(+, Add)
REPRISE_BINARY_OPERATOR(-, Subtract)
REPRISE_BINARY_OPERATOR(*, Multiply)
REPRISE_BINARY_OPERATOR(/, Divide)
REPRISE_BINARY_OPERATOR(%, Remainder)
REPRISE_BINARY_OPERATOR(&, BitwiseAnd)
REPRISE_BINARY_OPERATOR(|, BitwiseOr)
REPRISE_BINARY_OPERATOR(^, BitwiseXor)
REPRISE_BINARY_OPERATOR(<<, LeftShift)
REPRISE_BINARY_OPERATOR(>>, RightShift)
REPRISE_BINARY_OPERATOR(==, Equal)
REPRISE_BINARY_OPERATOR(!=, NotEqual)
REPRISE_BINARY_OPERATOR(<, Less)
REPRISE_BINARY_OPERATOR(<=, LessEqual)
REPRISE_BINARY_OPERATOR(>, Greater)
REPRISE_BINARY_OPERATOR(>=, GreaterEqual)
#undef REPRISE_BINARY_OPERATOR

Tensor operator-(const Tensor& a) {
  return record(Op::Negative, a);
}
Tensor operator+(const Tensor& a) {
  return a.value();
}
Tensor operator~(const Tensor& a) {
  return record(Op::BitwiseInvert, a);
}
Tensor operator!(const Tensor& a) {
  return a == false;
}

#define REPRISE_UNARY(function, Name) \
  Tensor function(const Tensor& x) {  \
    return unary(Op::Name, x);        \
  }
REPRISE_UNARY(negative, Negative)
REPRISE_UNARY(sign, Sign)
REPRISE_UNARY(square, Square)
REPRISE_UNARY(isnan, IsNan)
REPRISE_UNARY(isinf, IsInf)
REPRISE_UNARY(isfinite, IsFinite)
REPRISE_UNARY(bitwise_invert, BitwiseInvert)
REPRISE_UNARY(sqrt, Sqrt)
REPRISE_UNARY(rsqrt, Rsqrt)
REPRISE_UNARY(reciprocal, Reciprocal)
REPRISE_UNARY(exp, Exp)
REPRISE_UNARY(log, Log)
REPRISE_UNARY(sin, Sin)
REPRISE_UNARY(cos, Cos)
REPRISE_UNARY(tanh, Tanh)
REPRISE_UNARY(sigmoid, Sigmoid)
REPRISE_UNARY(erf, Erf)
REPRISE_UNARY(erfinv, Erfinv)
REPRISE_UNARY(exp2, Exp2)
REPRISE_UNARY(expm1, Expm1)
REPRISE_UNARY(log2, Log2)
REPRISE_UNARY(log10, Log10)
REPRISE_UNARY(log1p, Log1p)
REPRISE_UNARY(tan, Tan)
REPRISE_UNARY(asin, Asin)
REPRISE_UNARY(acos, Acos)
REPRISE_UNARY(atan, Atan)
REPRISE_UNARY(sinh, Sinh)
REPRISE_UNARY(cosh, Cosh)
REPRISE_UNARY(asinh, Asinh)
REPRISE_UNARY(acosh, Acosh)
REPRISE_UNARY(atanh, Atanh)
REPRISE_UNARY(cbrt, Cbrt)
REPRISE_UNARY(erfc, Erfc)
REPRISE_UNARY(lgamma, Lgamma)
REPRISE_UNARY(digamma, Digamma)
REPRISE_UNARY(signbit, SignBit)
REPRISE_UNARY(relu6, Relu6)
REPRISE_UNARY(selu, Selu)
REPRISE_UNARY(silu, Silu)
REPRISE_UNARY(mish, Mish)
REPRISE_UNARY(softplus, Softplus)
REPRISE_UNARY(softsign, Softsign)
REPRISE_UNARY(hardsigmoid, HardSigmoid)
REPRISE_UNARY(hardswish, HardSwish)
REPRISE_UNARY(logsigmoid, LogSigmoid)
REPRISE_UNARY(tanhshrink, TanhShrink)
REPRISE_UNARY(stop_gradient, StopGradient)
#undef REPRISE_UNARY

Tensor abs(const Tensor& x) {
  return magnitude(Op::Abs, x);
}
Tensor relu(const Tensor& x) {
  return magnitude(Op::Relu, x);
}
Tensor floor(const Tensor& x) {
  return rounding(Op::Floor, x);
}
Tensor ceil(const Tensor& x) {
  return rounding(Op::Ceil, x);
}
Tensor trunc(const Tensor& x) {
  return rounding(Op::Trunc, x);
}
Tensor round(const Tensor& x) {
  return rounding(Op::Round, x);
}

Tensor cast(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x.value() : converted(x, dtype);
}

Tensor as_float(const Tensor& x) {
  const DType dtype = x.dtype();
  if (is_pair(dtype)) throw DTypeError(str("real numbers are needed, not ", x.type()));
  return is_integer(dtype) || dtype == DType::Bool ? converted(x, DType::F32) : x;
}

#define REPRISE_BINARY(function, Name)    \
  Tensor function(Operand a, Operand b) { \
    return binary(Op::Name, a, b);        \
  }
REPRISE_BINARY(add, Add)
REPRISE_BINARY(subtract, Subtract)
REPRISE_BINARY(multiply, Multiply)
REPRISE_BINARY(divide, Divide)
REPRISE_BINARY(floor_divide, FloorDivide)
REPRISE_BINARY(remainder, Remainder)
REPRISE_BINARY(fmod, FMod)
REPRISE_BINARY(maximum, Maximum)
REPRISE_BINARY(minimum, Minimum)
REPRISE_BINARY(copysign, CopySign)
REPRISE_BINARY(atan2, Atan2)
REPRISE_BINARY(hypot, Hypot)
REPRISE_BINARY(logaddexp, LogAddExp)
REPRISE_BINARY(nextafter, NextAfter)
REPRISE_BINARY(leaky_relu, LeakyRelu)
REPRISE_BINARY(elu, Elu)
REPRISE_BINARY(celu, Celu)
REPRISE_BINARY(bitwise_and, BitwiseAnd)
REPRISE_BINARY(bitwise_or, BitwiseOr)
REPRISE_BINARY(bitwise_xor, BitwiseXor)
REPRISE_BINARY(left_shift, LeftShift)
REPRISE_BINARY(right_shift, RightShift)
REPRISE_BINARY(equal, Equal)
REPRISE_BINARY(not_equal, NotEqual)
REPRISE_BINARY(less, Less)
REPRISE_BINARY(less_equal, LessEqual)
REPRISE_BINARY(greater, Greater)
REPRISE_BINARY(greater_equal, GreaterEqual)
#undef REPRISE_BINARY

Tensor pow(Operand base, Operand exponent) {
  if (base.tensor() != nullptr && exponent.tensor() == nullptr &&
      is_pair(exponent.number().join(base.tensor()->dtype())) &&
      exponent.number().cell() == nullptr) {
    return complex_power(*base.tensor(), exponent.number());
  }
  if (base.tensor() == nullptr || exponent.tensor() != nullptr ||
      exponent.number().cell() != nullptr) {
    return binary(Op::Pow, base, exponent);
  }
  // A literal exponent is nearly always one that compiles to something cheaper than pow.
  const Tensor& x = *base.tensor();
  const DType have = x.dtype();
  const DType dtype = exponent.number().join(have);
  static_cast<void>(exponent.number().bits(dtype));  // the range check
  const Tensor literal = constant(exponent.number().as_double(), dtype);
  if (have == dtype) return record(Op::Pow, {x.id(), literal.id()});
  return record(Op::Pow, {converted(x, dtype).id(), literal.id()});
}

Tensor where(const Tensor& condition, Operand yes, Operand no) {
  const Tensor* a = yes.tensor();
  const Tensor* b = no.tensor();
  DType dtype;
  if (a != nullptr && b != nullptr) {
    dtype = promote(a->dtype(), b->dtype());
  } else if (a != nullptr) {
    dtype = no.number().join(a->dtype());
  } else if (b != nullptr) {
    dtype = yes.number().join(b->dtype());
  } else {
    dtype = yes.number().join(no.number().default_dtype());
  }
  const Tensor test = cast(condition, DType::Bool);
  const Tensor x = a == nullptr ? parameter(yes.number(), dtype) : cast(*a, dtype);
  const Tensor y = b == nullptr ? parameter(no.number(), dtype) : cast(*b, dtype);
  return record(Op::Where, {test.id(), x.id(), y.id()});
}

namespace {

/// Records an op on operands of one dtype: theirs by promotion, or f32 where the op wants floats.
Tensor record_agreed(Op op, std::initializer_list<Operand> operands) {
  std::optional<DType> dtype;
  for (const Operand& operand : operands) {
    if (operand.tensor() == nullptr) continue;
    const DType own = operand.tensor()->dtype();
    dtype = dtype ? promote(*dtype, own) : own;
  }
  if (!dtype) throw Error(str(op, ": at least one operand must be a tensor"));
  for (const Operand& operand : operands) {
    if (operand.tensor() == nullptr) dtype = operand.number().join(*dtype);
  }
  dtype = computed_in(op, *dtype);
  SmallVector<TensorId, 4> ids;
  std::vector<Tensor> held;
  for (const Operand& operand : operands) {
    held.push_back(operand.tensor() != nullptr ? cast(*operand.tensor(), *dtype)
                                               : parameter(operand.number(), *dtype));
    ids.push_back(held.back().id());
  }
  return record(op, ids);
}

Operand truth(const Operand& operand, Tensor& held) {
  if (operand.tensor() == nullptr) return Number(!operand.number().is_zero());
  held = cast(*operand.tensor(), DType::Bool);
  return held;
}

Tensor logical(Op op, const Operand& a, const Operand& b) {
  Tensor left, right;
  return binary(op, truth(a, left), truth(b, right));
}

}  // namespace

Tensor logical_and(Operand a, Operand b) {
  return logical(Op::BitwiseAnd, a, b);
}
Tensor logical_or(Operand a, Operand b) {
  return logical(Op::BitwiseOr, a, b);
}
Tensor logical_xor(Operand a, Operand b) {
  return logical(Op::BitwiseXor, a, b);
}
Tensor logical_not(const Tensor& x) {
  return record(Op::BitwiseInvert, cast(x, DType::Bool));
}

Tensor frac(const Tensor& x) {
  const DType dtype = x.dtype();
  return is_integer(dtype) || dtype == DType::Bool ? record_agreed(Op::Subtract, {x, x})
                                                   : record(Op::Frac, x);
}

Tensor bitcast(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x.value() : record(Op::Bitcast, x, Attrs().add_type(dtype));
}

Tensor ldexp(const Tensor& x, const Tensor& exponent) {
  if (!is_integer(exponent.dtype())) {
    throw DTypeError(str("ldexp: the exponents are integers, not ", exponent.type()));
  }
  const Tensor mantissa = cast(x, computed_in(Op::Exp, x.dtype()));
  // What i64 does not hold is infinite like any other number that large.
  const Tensor held = exponent.dtype() == DType::U64 ? minimum(exponent, 1 << 20) : exponent;
  return record(Op::Ldexp, {mantissa.id(), cast(held, DType::I64).id()});
}

Tensor polygamma(int64_t order, const Tensor& x) {
  if (order < 0) throw Error(str("polygamma: an order of ", order, ", expected 0 or more"));
  if (order == 0) return digamma(x);
  return record(Op::Polygamma, as_float(x), Attrs().add_int(order));
}

Tensor gelu(const Tensor& x, Gelu form) {
  if (form == Gelu::Erf) return unary(Op::Gelu, x);
  const Tensor wide = cast(x, computed_in(Op::Gelu, x.dtype()));
  return record(Op::Gelu, wide, Attrs().add_int(1));
}

Tensor clamp(const Tensor& x, Operand low, Operand high) {
  return record_agreed(Op::Clip, {x, low, high});
}
Tensor clip(const Tensor& x, Operand low, Operand high) {
  return clamp(x, low, high);
}
Tensor hardtanh(const Tensor& x, Operand low, Operand high) {
  return clamp(x, low, high);
}
Tensor lerp(Operand start, Operand end, Operand weight) {
  return record_agreed(Op::Lerp, {start, end, weight});
}
Tensor threshold(const Tensor& x, Operand bound, Operand value) {
  return record_agreed(Op::Threshold, {x, bound, value});
}

Tensor nan_to_num(const Tensor& x, Number nan, std::optional<Number> posinf,
                  std::optional<Number> neginf) {
  const DType dtype = x.dtype();
  if (is_complex(dtype)) {
    const Parts z = parts_of(x);
    return joined({nan_to_num(z.re, nan, posinf, neginf), nan_to_num(z.im, nan, posinf, neginf)});
  }
  if (!is_float(dtype)) return x.value();
  const double largest = largest_finite(dtype);
  return record_agreed(Op::NanToNum, {x, nan, posinf.value_or(largest), neginf.value_or(-largest)});
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  const Shape shape = x.shape();
  if (weight.numel() == 1) return leaky_relu(x, reshape(weight, {}));
  if (weight.rank() != 1 || shape.rank() < 2 || weight.size(0) != shape[1]) {
    throw ShapeError(
        str("prelu: the weight has one element, or one for each of the input's axis 1: ", x.type(),
            " and ", weight.type()));
  }
  SmallVector<int64_t, kMaxDims> along{shape[1]};
  for (int axis = 2; axis < shape.rank(); ++axis) along.push_back(1);
  return leaky_relu(x, reshape(weight, along));
}

Tensor glu(const Tensor& x, int64_t axis) {
  const int64_t extent = x.size(axis);
  if (extent % 2 != 0) {
    throw ShapeError(
        str("glu: axis ", axis, " of ", x.type(), " has extent ", extent, ", which is not even"));
  }
  const Tensor half = slice(x, axis, {.start = extent / 2});
  return slice(x, axis, {.stop = extent / 2}) * sigmoid(half);
}

}  // namespace reprise
