// Functions of complex numbers in real arithmetic, accurate where the textbook's formulas are not.
#include <cmath>
#include <numbers>

#include "frontend/complex.h"
#include "frontend/record.h"

namespace reprise {

namespace {

/// A number of the formulas, part of what is compiled.
Tensor like(const Tensor& x, double value) {
  return constant(value, x.dtype());
}
Tensor scaled(const Tensor& x, double factor) {
  return x * like(x, factor);
}
Tensor both(const Tensor& a, const Tensor& b) {
  return bitwise_and(a, b);
}
Tensor plus_one(const Tensor& x) {
  return x + like(x, 1);
}

/// The larger and the smaller magnitude of the parts.
std::pair<Tensor, Tensor> magnitudes(const Parts& z) {
  const Tensor x = abs(z.re), y = abs(z.im);
  const Tensor swap = less(x, y);
  return {where(swap, y, x), where(swap, x, y)};
}

bool is_f64(const Tensor& x) {
  return x.dtype() == DType::F64;
}

/// log|z|. Near |z| = 1 from |z|^2 - 1, which is known better; where |z| would overflow, of z / 2.
Tensor log_magnitude(const Parts& z) {
  const auto [large, small] = magnitudes(z);
  const Tensor near = both(less(like(large, 0.5), large), less(large, like(large, 2)));
  const Tensor safe = where(near, large, like(large, 1));
  const Tensor one = like(large, 1);
  const Tensor beyond = (safe - one) * plus_one(safe) + square(where(near, small, like(small, 0)));
  const Tensor is_huge = less(like(large, largest_finite(large.dtype()) / 2), large);
  const Tensor half = where(is_huge, like(large, 0.5), one);
  const Tensor far = log(hypot(where(near, like(large, 2), large * half), small * half));
  const Tensor added = where(is_huge, like(large, std::numbers::ln2), like(large, 0));
  return where(near, scaled(log1p(beyond), 0.5), far + added);
}

}  // namespace

Parts complex_product(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// Smith's: by the ratio of the divisor's parts, so that no square overflows. By zero each part is
/// divided by zero.
Parts complex_quotient(const Parts& a, const Parts& b) {
  const Tensor swap = less(abs(b.re), abs(b.im));
  const Tensor p = where(swap, b.im, b.re), q = where(swap, b.re, b.im);
  const Tensor u = where(swap, a.im, a.re), v = where(swap, a.re, a.im);
  const Tensor is_zero = equal(p, like(p, 0));
  const Tensor ratio = where(is_zero, like(p, 0), q / where(is_zero, like(p, 1), p));
  const Tensor divisor = where(is_zero, abs(p), p + q * ratio);
  const Tensor re = where(is_zero, u, u + v * ratio) / divisor;
  const Tensor im = where(is_zero, v, v - u * ratio) / divisor;
  return {re, where(swap, negative(im), im)};
}

Parts complex_exp(const Parts& z) {
  // Where exp(x) overflows, its product with cos or sin need not.
  const double limit = is_f64(z.re) ? 709 : 88;
  const Tensor is_huge = less(like(z.re, limit), z.re);
  const Tensor magnitude = exp(where(is_huge, z.re - like(z.re, limit / 2), z.re));
  const Tensor factor =
      where(is_huge, like(z.re, is_f64(z.re) ? std::exp(354.5) : static_cast<float>(std::exp(44.))),
            like(z.re, 1));
  const Tensor is_real = equal(z.im, like(z.im, 0));
  const Tensor ends = isinf(z.re), wild = bitwise_invert(isfinite(z.im));
  const Tensor nothing = less(z.re, like(z.re, 0));  // exp(-inf + i inf) is 0
  const Tensor unknown = both(ends, wild);
  const Tensor at_end = where(nothing, like(z.re, 0), abs(z.re));
  const Tensor re = where(unknown, at_end, magnitude * cos(z.im) * factor);
  const Tensor im = where(both(unknown, nothing), like(z.im, 0), magnitude * sin(z.im) * factor);
  return {where(is_real, magnitude * factor, re), where(is_real, z.im, im)};
}

Parts complex_expm1(const Parts& z) {
  const Tensor half = sin(scaled(z.im, 0.5));
  const Parts whole = complex_exp(z);
  const Tensor near = less(abs(z.re), like(z.re, 1));
  const Tensor re = expm1(z.re) * cos(z.im) - scaled(square(half), 2);
  return {where(near, re, whole.re - like(z.re, 1)), whole.im};
}

Parts complex_log(const Parts& z) {
  return {log_magnitude(z), atan2(z.im, z.re)};
}

Parts complex_log1p(const Parts& z) {
  const Parts shifted{plus_one(z.re), z.im};
  const auto is_small = [](const Tensor& x) { return less(abs(x), like(x, 0.5)); };
  const Tensor near = both(is_small(z.re), is_small(z.im));
  const Tensor beyond = z.re * (z.re + like(z.re, 2)) + square(z.im);
  const Tensor close = scaled(log1p(where(near, beyond, like(beyond, 0))), 0.5);
  return {where(near, close, log_magnitude(shifted)), atan2(shifted.im, shifted.re)};
}

Parts complex_sqrt(const Parts& z) {
  // Scaled by a power of 4 where the magnitude would overflow or is a denormal.
  const auto [large, small] = magnitudes(z);
  const bool wide = is_f64(z.re);
  const Tensor is_huge = less(like(large, largest_finite(large.dtype()) / 4), large);
  const Tensor is_tiny = less(large, like(large, wide ? 0x1p-1020 : 0x1p-124));
  const auto choose = [&](double huge, double tiny) {
    return where(is_huge, like(large, huge), where(is_tiny, like(large, tiny), like(large, 1)));
  };
  const Tensor down = choose(0.0625, wide ? 0x1p108 : 0x1p48);
  const Tensor up = choose(4, wide ? 0x1p-54 : 0x1p-24);
  const Tensor x = z.re * down, y = z.im * down;
  const Tensor is_zero = both(equal(z.re, like(large, 0)), equal(z.im, like(large, 0)));
  const Tensor twice = abs(x) + hypot(x, y);
  const Tensor root = sqrt(scaled(where(is_zero, like(x, 1), twice), 0.5));
  const Tensor other = scaled(y, 0.5) / root;
  const Tensor is_left = signbit(x);
  const Tensor re = where(is_left, abs(other), root) * up;
  const Tensor im = where(is_left, copysign(root, y), other) * up;
  const Tensor ends = isinf(z.im);  // whatever the real part is
  return {where(ends, abs(z.im), where(is_zero, like(x, 0), re)),
          where(ends, z.im, where(is_zero, z.im, im))};
}

Parts complex_sinh(const Parts& z) {
  const Tensor zero = like(z.re, 0);
  const Tensor is_real = equal(z.im, zero), is_imaginary = equal(z.re, zero);
  const Tensor wild = both(isinf(z.re), bitwise_invert(isfinite(z.im)));
  const Tensor re = where(wild, z.re, sinh(z.re) * cos(z.im));
  const Tensor im = cosh(z.re) * sin(z.im);
  return {where(is_imaginary, z.re, where(is_real, sinh(z.re), re)), where(is_real, z.im, im)};
}

Parts complex_cosh(const Parts& z) {
  const Tensor zero = like(z.re, 0);
  const Tensor is_real = equal(z.im, zero), is_imaginary = equal(z.re, zero);
  const Tensor wild = both(isinf(z.re), bitwise_invert(isfinite(z.im)));
  const Tensor re = where(wild, abs(z.re), cosh(z.re) * cos(z.im));
  const Tensor im = sinh(z.re) * sin(z.im);
  const Tensor flat = copysign(like(z.re, 1), z.re) * z.im;  // of a real z: a signed 0
  const Tensor thin = where(isfinite(z.im), im, zero);       // of an imaginary one
  return {where(is_real, cosh(z.re), re), where(is_real, flat, where(is_imaginary, thin, im))};
}

/// Kahan's, from tan y and sinh x; past where tanh x is 1 the imaginary part alone is computed.
Parts complex_tanh(const Parts& z) {
  const Tensor one = like(z.re, 1), zero = like(z.re, 0);
  const Tensor is_far = less(like(z.re, is_f64(z.re) ? 20 : 10), abs(z.re));
  const Tensor x = where(is_far, zero, z.re);
  const Tensor t = tan(z.im), s = sinh(x);
  const Tensor beta = plus_one(square(t));
  const Tensor divisor = plus_one(beta * square(s));
  const Tensor decay = scaled(exp(scaled(abs(where(is_far, z.re, one)), -2)), 4);
  const Tensor far_im = where(isinf(z.re), zero, sin(z.im) * cos(z.im) * decay);
  const Tensor re = beta * cosh(x) * s / divisor;
  const Tensor is_real = equal(z.im, zero), is_imaginary = equal(z.re, zero);
  return {where(is_far, copysign(one, z.re), where(is_imaginary, z.re, re)),
          where(is_real, z.im, where(is_far, far_im, t / divisor))};
}

// Kahan's, by roots of 1 - z and 1 + z, whose signed zeros choose the side of the branch cuts.

Parts complex_asin(const Parts& z) {
  const Parts left = complex_sqrt({like(z.re, 1) - z.re, negative(z.im)});
  const Parts right = complex_sqrt({plus_one(z.re), z.im});
  return {atan2(z.re, left.re * right.re - left.im * right.im),
          asinh(left.re * right.im - left.im * right.re)};
}

Parts complex_acos(const Parts& z) {
  const Parts left = complex_sqrt({like(z.re, 1) - z.re, negative(z.im)});
  const Parts right = complex_sqrt({plus_one(z.re), z.im});
  return {scaled(atan2(left.re, right.re), 2), asinh(right.re * left.im - right.im * left.re)};
}

Parts complex_acosh(const Parts& z) {
  const Parts left = complex_sqrt({z.re - like(z.re, 1), z.im});
  const Parts right = complex_sqrt({plus_one(z.re), z.im});
  return {asinh(left.re * right.re + left.im * right.im), scaled(atan2(left.im, right.re), 2)};
}

Parts complex_atanh(const Parts& z) {
  // Odd: of the real part's magnitude, a logarithm of no less than 1.
  const Tensor x = abs(z.re);
  const Tensor rest = like(x, 1) - x;
  const Tensor squares = square(rest) + square(z.im);
  const Tensor far = rest * plus_one(x) - square(z.im);
  const Tensor re = copysign(scaled(log1p(scaled(x, 4) / squares), 0.25), z.re);
  return {re, scaled(atan2(scaled(z.im, 2), far), 0.5)};
}

}  // namespace reprise
