// Complex tensors: their parts, and each op as real arithmetic on these.
#include "frontend/complex.h"

#include <cmath>
#include <numbers>

#include "frontend/create.h"
#include "frontend/record.h"

namespace reprise {

namespace {

[[noreturn]] void refuse(Op op, const Tensor& z) {
  if (is_complex_integer(z.dtype())) {
    throw DTypeError(str(op, ": nothing is computed in ", z.type(), "; cast it to c64 or c128"));
  }
  throw DTypeError(str(op, ": is not defined for complex numbers, got ", z.type()));
}

/// The dtype of the parts in which two operands are computed, one of them complex.
DType common_part(Op op, const Tensor& a, const Tensor& b) {
  for (const Tensor* x : {&a, &b}) {
    if (is_complex_integer(x->dtype())) refuse(op, *x);
  }
  return part_of(promote(a.dtype(), b.dtype()));
}

/// The parts in `part`, those of a real tensor with an imaginary part of 0.
Parts parts_in(const Tensor& x, DType part) {
  if (!is_complex(x.dtype())) return {cast(x, part), constant(0, part)};
  const Parts z = parts_of(x);
  return {cast(z.re, part), cast(z.im, part)};
}

Tensor squared_magnitude(const Tensor& z) {
  const Parts parts = parts_of(z);
  return square(parts.re) + square(parts.im);
}

int64_t count_of(const Shape& shape, uint32_t axes) {
  int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if ((axes >> axis & 1) != 0) count *= shape[axis];
  }
  return count;
}

std::vector<int64_t> listed(uint32_t axes) {
  std::vector<int64_t> list;
  for (int axis = 0; axis < kMaxDims; ++axis) {
    if ((axes >> axis & 1) != 0) list.push_back(axis);
  }
  return list;
}

/// The factors along an axis, multiplied pairwise until one is left: element i with i + n/2.
Tensor folded_product(Tensor z, int axis) {
  const TensorType type = z.type();
  if (type.shape[axis] == 0) {
    SmallVector<int64_t, kMaxDims> extents(type.shape.extents());
    extents[static_cast<size_t>(axis)] = 1;
    return ones(Shape(extents), type.dtype);
  }
  for (int64_t count = type.shape[axis]; count > 1; count = (count + 1) / 2) {
    const int64_t half = count / 2;
    const Tensor pairs = slice(z, axis, {0, half}) * slice(z, axis, {half, 2 * half});
    z = count % 2 == 0 ? pairs : concat({pairs, slice(z, axis, {2 * half, count})}, axis);
  }
  return z;
}

/// Each element becomes the product of those up to it, in steps that double how far they reach.
Tensor running_product(Tensor z, int axis) {
  const int64_t count = z.size(axis);
  for (int64_t reach = 1; reach < count; reach *= 2) {
    const Tensor later = slice(z, axis, {reach, count}) * slice(z, axis, {0, count - reach});
    z = concat({slice(z, axis, {0, reach}), later}, axis);
  }
  return z;
}

/// base to a whole power, by squaring.
Tensor whole_power(const Tensor& base, int64_t exponent) {
  if (exponent < 0) return reciprocal(whole_power(base, -exponent));
  Tensor result, square_of = base;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = result.empty_handle() ? square_of : result * square_of;
    }
    if (exponent > 1) square_of = square(square_of);
  }
  return result.empty_handle() ? ones_like(base) : result;
}

/// exp(b log a); 1 for an exponent of 0, 0 for a base of 0 and an exponent with a positive real
/// part.
Tensor general_power(const Tensor& a, const Tensor& b) {
  const DType part = common_part(Op::Pow, a, b);
  const Parts base = parts_in(a, part), exponent = parts_in(b, part);
  const Tensor zero = constant(0, part), one = constant(1, part);
  const auto is_zero = [&](const Parts& z) {
    return bitwise_and(equal(z.re, zero), equal(z.im, zero));
  };
  const Tensor of_zero = is_zero(base), by_zero = is_zero(exponent);
  const Parts safe{where(of_zero, one, base.re), where(of_zero, zero, base.im)};
  const Parts power = complex_exp(complex_product(exponent, complex_log(safe)));
  const Tensor nan = constant(NAN, part);
  const Tensor vanishes = less(zero, exponent.re);
  const auto chosen = [&](const Tensor& value, const Tensor& at_zero) {
    return where(by_zero, at_zero, where(of_zero, where(vanishes, zero, nan), value));
  };
  return joined({chosen(power.re, one), chosen(power.im, zero)});
}

Tensor scaled_parts(const Parts& z, double factor) {
  const Tensor by = constant(factor, z.re.dtype());
  return joined({z.re * by, z.im * by});
}

/// Parts of one operand beside a real one: what is real there is not multiplied by, as in C.
Tensor beside_real(Op op, const Tensor& a, const Tensor& b, DType part) {
  const bool first = is_complex(a.dtype());
  const Parts z = parts_in(first ? a : b, part);
  const Tensor x = cast(first ? b : a, part);
  switch (op) {
    case Op::Add:
      return joined({z.re + x, z.im});
    case Op::Subtract:
      return first ? joined({z.re - x, z.im}) : joined({x - z.re, negative(z.im)});
    case Op::Multiply:
      return joined({z.re * x, z.im * x});
    case Op::Divide:
      return joined({z.re / x, z.im / x});
    default:
      REPRISE_ASSERT(false && "an op of parts");
      return {};
  }
}

}  // namespace

Parts parts_of(const Tensor& z) {
  return {record(Op::Real, z), record(Op::Imag, z)};
}

Tensor joined(const Parts& z) {
  return record(Op::Complex, {z.re.id(), z.im.id()});
}

Tensor real(const Tensor& x) {
  return is_pair(x.dtype()) ? record(Op::Real, x) : x.value();
}

Tensor imag(const Tensor& x) {
  return is_pair(x.dtype()) ? record(Op::Imag, x) : zeros_like(x);
}

Tensor conj(const Tensor& x) {
  const DType dtype = x.dtype();
  if (!is_pair(dtype)) return x.value();
  const Parts z = parts_of(x);
  if (is_unsigned_integer(part_of(dtype))) {
    throw DTypeError(str("conj: ", x.type(), " has no negative parts"));
  }
  return joined({z.re, negative(z.im)});
}

Tensor angle(const Tensor& x) {
  const DType dtype = x.dtype();
  if (is_complex_integer(dtype)) refuse(Op::Atan2, x);
  if (is_complex(dtype)) {
    const Parts z = parts_of(x);
    return atan2(z.im, z.re);
  }
  const Tensor value = as_float(x);
  const DType own = value.dtype();
  const Tensor is_left = less(value, constant(0, own));
  const Tensor side = where(is_left, constant(std::numbers::pi, own), constant(0, own));
  return where(isnan(value), value, side);
}

Tensor complex(Operand re, Operand im) {
  std::optional<DType> dtype;
  for (const Operand* part : {&re, &im}) {
    if (part->tensor() == nullptr) continue;
    const DType own = part->tensor()->dtype();
    dtype = dtype ? promote(*dtype, own) : own;
  }
  if (!dtype) {
    throw Error(str("complex of the numbers ", re.number(), " and ", im.number(),
                    ": at least one operand must be a tensor"));
  }
  for (const Operand* part : {&re, &im}) {
    if (part->tensor() == nullptr) dtype = part->number().join(*dtype);
  }
  if (*dtype == DType::F16 || *dtype == DType::BF16) dtype = DType::F32;
  const auto held = [&](const Operand& part) {
    return part.tensor() != nullptr ? cast(*part.tensor(), *dtype)
                                    : parameter(part.number(), *dtype);
  };
  return joined({held(re), held(im)});
}

Tensor polar(const Tensor& magnitude, const Tensor& angle) {
  return complex(magnitude * cos(angle), magnitude * sin(angle));
}

Tensor complex_unary(Op op, const Tensor& z) {
  if (!is_complex(z.dtype())) refuse(op, z);
  const Parts parts = parts_of(z);
  const auto like = [&](double value) { return constant(value, parts.re.dtype()); };
  switch (op) {
    case Op::Abs:
      return hypot(parts.re, parts.im);
    case Op::Sign: {  // of magnitude 1, but for 0
      const Tensor magnitude = hypot(parts.re, parts.im);
      const Tensor is_zero = equal(magnitude, like(0));
      const Tensor by = where(is_zero, like(1), magnitude);
      return joined({parts.re / by, parts.im / by});
    }
    case Op::Square:
      return joined(complex_product(parts, parts));
    case Op::Reciprocal:
      return joined(complex_quotient({like(1), like(0)}, parts));
    case Op::Sqrt:
      return joined(complex_sqrt(parts));
    case Op::Rsqrt:
      return joined(complex_quotient({like(1), like(0)}, complex_sqrt(parts)));
    case Op::Exp:
      return joined(complex_exp(parts));
    case Op::Exp2: {
      const Tensor ln2 = like(std::numbers::ln2);
      return joined(complex_exp({parts.re * ln2, parts.im * ln2}));
    }
    case Op::Expm1:
      return joined(complex_expm1(parts));
    case Op::Log:
      return joined(complex_log(parts));
    case Op::Log1p:
      return joined(complex_log1p(parts));
    case Op::Log2:
      return scaled_parts(complex_log(parts), std::numbers::log2e);
    case Op::Log10:
      return scaled_parts(complex_log(parts), std::numbers::log10e);
    case Op::Sinh:
      return joined(complex_sinh(parts));
    case Op::Cosh:
      return joined(complex_cosh(parts));
    case Op::Tanh:
      return joined(complex_tanh(parts));
    case Op::Sin:
      return joined(times_minus_i(complex_sinh(times_i(parts))));
    case Op::Cos:
      return joined(complex_cosh(times_i(parts)));
    case Op::Tan:
      return joined(times_minus_i(complex_tanh(times_i(parts))));
    case Op::Asin:
      return joined(complex_asin(parts));
    case Op::Acos:
      return joined(complex_acos(parts));
    case Op::Atan:
      return joined(times_minus_i(complex_atanh(times_i(parts))));
    case Op::Asinh:
      return joined(times_minus_i(complex_asin(times_i(parts))));
    case Op::Acosh:
      return joined(complex_acosh(parts));
    case Op::Atanh:
      return joined(complex_atanh(parts));
    case Op::Sigmoid: {
      const Parts decay = complex_exp({negative(parts.re), negative(parts.im)});
      return joined(complex_quotient({like(1), like(0)}, {decay.re + like(1), decay.im}));
    }
    case Op::IsNan:
    case Op::IsInf:
      return bitwise_or(record(op, parts.re), record(op, parts.im));
    case Op::IsFinite:
      return bitwise_and(isfinite(parts.re), isfinite(parts.im));
    case Op::Round:
      return joined({round(parts.re), round(parts.im)});
    default:  // the table is open, and an order or a sign is what most of the others need
      refuse(op, z);
  }
}

Tensor complex_binary(Op op, const Tensor& a, const Tensor& b) {
  const DType part = common_part(op, a, b);
  const bool mixed = is_complex(a.dtype()) != is_complex(b.dtype());
  switch (op) {
    case Op::Add:
    case Op::Subtract: {
      if (mixed) return beside_real(op, a, b, part);
      const DType pair = *pair_of(part);
      return record(op, {cast(a, pair).id(), cast(b, pair).id()});
    }
    case Op::Multiply:
      if (mixed) return beside_real(op, a, b, part);
      return joined(complex_product(parts_in(a, part), parts_in(b, part)));
    case Op::Divide:
      if (mixed && is_complex(a.dtype())) return beside_real(op, a, b, part);
      return joined(complex_quotient(parts_in(a, part), parts_in(b, part)));
    case Op::Pow:
      return general_power(a, b);
    case Op::Equal:
    case Op::NotEqual: {
      const Parts x = parts_in(a, part), y = parts_in(b, part);
      return record(
          op == Op::Equal ? Op::BitwiseAnd : Op::BitwiseOr,
          {record(op, {x.re.id(), y.re.id()}).id(), record(op, {x.im.id(), y.im.id()}).id()});
    }
    default:
      refuse(op, is_complex(a.dtype()) ? a : b);
  }
}

Tensor complex_power(const Tensor& base, Number exponent) {
  const DType have = base.dtype();
  if (is_complex_integer(have)) refuse(Op::Pow, base);
  const DType pair = is_complex(have) ? have : exponent.join(have);
  const Tensor z = cast(base, pair);
  if (exponent.category() == DTypeCategory::Complex) {
    return general_power(z, parameter(exponent, pair));
  }
  const double power = exponent.as_double();
  constexpr double kMostMultiplied = 64;
  if (power == 0.5) return sqrt(z);
  if (std::trunc(power) == power && std::abs(power) <= kMostMultiplied) {
    return whole_power(z, static_cast<int64_t>(power));
  }
  return general_power(z, constant(power, part_of(pair)));
}

Tensor complex_reduction(Op op, const Tensor& z, uint32_t axes, KeepDims keep, int64_t ddof) {
  if (!is_complex(z.dtype())) refuse(op, z);
  const Shape shape = z.shape();
  const std::vector<int64_t> list = listed(axes);
  const int64_t count = count_of(shape, axes);
  const DType part = part_of(z.dtype());
  const auto mean_of = [&](const Tensor& total, int64_t of) {
    return total / constant(static_cast<double>(of), part);
  };
  switch (op) {
    case Op::Mean: {
      const Parts total = parts_of(sum(z, list, keep));
      return joined({mean_of(total.re, count), mean_of(total.im, count)});
    }
    case Op::Var:
    case Op::Std: {  // of the distances from the mean
      const Tensor mean = complex_reduction(Op::Mean, z, axes, KeepDims::Yes);
      const Tensor total = sum(squared_magnitude(z - mean), list, keep);
      const Tensor variance = mean_of(total, std::max<int64_t>(0, count - ddof));
      return op == Op::Std ? sqrt(variance) : variance;
    }
    case Op::Prod: {
      Tensor result = z;
      for (const int64_t axis : list) result = folded_product(result, static_cast<int>(axis));
      return keep == KeepDims::Yes || list.empty() ? result.value()
                                                   : squeeze(result, AxisList(list));
    }
    default:
      refuse(op, z);
  }
}

Tensor complex_scan(Op op, const Tensor& z, int axis) {
  if (op != Op::CumProd || !is_complex(z.dtype())) refuse(op, z);
  return running_product(z.value(), axis);
}

Tensor complex_matmul(const Tensor& a, const Tensor& b) {
  const DType part = common_part(Op::Matmul, a, b);
  const auto times = [](const Tensor& x, const Tensor& y) {
    return record(Op::Matmul, {x.id(), y.id()});
  };
  if (!is_complex(a.dtype())) {
    const Tensor x = cast(a, part);
    const Parts z = parts_in(b, part);
    return joined({times(x, z.re), times(x, z.im)});
  }
  const Parts left = parts_in(a, part);
  if (!is_complex(b.dtype())) {
    const Tensor x = cast(b, part);
    return joined({times(left.re, x), times(left.im, x)});
  }
  const Parts right = parts_in(b, part);
  return joined({times(left.re, right.re) - times(left.im, right.im),
                 times(left.re, right.im) + times(left.im, right.re)});
}

}  // namespace reprise
