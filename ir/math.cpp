// Exp, log, tanh and erf, and parts of the first two that other functions are made of. The
// polynomials are minimax fits (Remez) with coefficients rounded in turn; each comment says what is
// approximated, where, and the error of the fit.
#include "ir/math.h"

#include <cmath>

#include "ir/error.h"
#include "ir/math_parts.h"

namespace reprise {
namespace {

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2: 2^-28 and 2^-60 of e^r.
constexpr double kExpSingle[] = {0x1.fffffcp-2, 0x1.555482p-3, 0x1.555826p-5, 0x1.12449ap-7,
                                 0x1.6afee4p-10};
constexpr double kExpDouble[] = {
    0x1.0000000000000p-1,  0x1.555555555555ep-3,  0x1.5555555555570p-5,  0x1.111111110e076p-7,
    0x1.6c16c16c07bdep-10, 0x1.a01a01b7dda89p-13, 0x1.a01a01f991385p-16, 0x1.71dde5882cdc2p-19,
    0x1.27e40811d0643p-22, 0x1.af7e078ac3800p-26, 0x1.20fba324d6b0fp-29};

// (ln(1+f) - f) / f^2 for |f| <= 1/3: 2^-26.6 of ln(1+f).
constexpr double kLogSingle[] = {-0x1.000000p-1, 0x1.55550ap-2,  -0x1.fffebcp-3,
                                 0x1.99cf04p-3,  -0x1.55b018p-3, 0x1.1ed554p-3,
                                 -0x1.f01bfep-4, 0x1.1ed040p-3,  -0x1.10457ep-3};
// (ln((1+s)/(1-s)) - 2s) / s^3 in s^2 for |s| <= 0.1716: 2^-58 of the logarithm.
constexpr double kLogDouble[] = {0x1.5555555555593p-1, 0x1.999999997f946p-2, 0x1.249249423a57fp-2,
                                 0x1.c71c51c70151bp-3, 0x1.74664dc0f8a2ap-3, 0x1.39a01eecae989p-3,
                                 0x1.2f16a423bdf6ap-3};

// (tanh(x)/x - 1) / x^2 in x^2 for |x| <= 0.625: 2^-27.7 and 2^-61 of tanh(x)/x.
constexpr double kTanhSingle[] = {-0x1.555532p-2, 0x1.1106f6p-3, -0x1.b835a4p-5, 0x1.51f8cep-6,
                                  -0x1.750ce4p-8};
constexpr double kTanhDouble[] = {
    -0x1.5555555555552p-2,  0x1.1111111110c51p-3,  -0x1.ba1ba1b9d182ap-5,  0x1.664f4870be3b2p-6,
    -0x1.226e32ceeff0dp-7,  0x1.d6d35a1c97fedp-9,  -0x1.7d9c3198ddea1p-10, 0x1.350b7a74aae25p-11,
    -0x1.f112b5235b470p-13, 0x1.80195bb601151p-14, -0x1.fabc7e474ea5fp-16, 0x1.95f4fed752b5fp-18};

// erf(x)/x - 1 in x^2, for x <= 0.928 (2^-30) and x <= 1 (2^-56).
constexpr double kErfNearSingle[] = {0x1.06eba8p-3, -0x1.812740p-2,  0x1.ce2d64p-4, -0x1.b8011ap-6,
                                     0x1.544a14p-8, -0x1.a60994p-11, 0x1.4f63a2p-14};
constexpr double kErfNearDouble[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b037a25p-2,  0x1.ce2f21a0458d7p-4,  -0x1.b82ce31354c42p-6,
    0x1.565bcd2c60631p-8,  -0x1.c02db932762bdp-11, 0x1.f9a3b93b732d0p-14, -0x1.f4dcef3b59177p-17,
    0x1.ba68f5c97603ap-20, -0x1.638fa62f113d2p-23, 0x1.131a25a00c96fp-26, -0x1.c48f419f3857cp-30,
    0x1.3b63f22b2bae6p-33};
// ln(1 - erf(x)) in x for 0.92 <= x <= 3.95: 2^-29 of erf(x).
constexpr double kErfFarSingle[] = {-0x1.9a8b86p-13, -0x1.20af52p+0, -0x1.463ce0p-1, -0x1.a9b31ap-4,
                                    0x1.6c27e0p-6,   -0x1.8edaf0p-9, 0x1.9adbb6p-13};
// ln(1 - erf(x)) in x - 1 for 1 <= x <= 6: 2^-57 of erf(x). About 1, because what is far from there
// hardly counts in erf(x).
constexpr double kErfFarDouble[] = {
    -0x1.d97fbf27aa2a1p+0,  -0x1.51c9b0006c22ap+1,  -0x1.afabc11a2a719p-1,  -0x1.5477f09a3e694p-5,
    0x1.48c9d391aa00ep-7,   -0x1.033f5b85fbf33p-9,  0x1.f1b0999e10afap-13,  0x1.b9280ba0fd91ap-16,
    -0x1.c848fc06f987ap-16, 0x1.446d0a1597ff2p-17,  -0x1.1dd226d2a0f0cp-19, 0x1.b47e36fb66be2p-23,
    0x1.f893d09ade2c0p-25,  -0x1.20ed5806b201dp-25, 0x1.26a5db7646d86p-27,  -0x1.6cf14f0b4eca9p-30,
    0x1.080c9ccee4ae2p-33,  -0x1.585acc9183d70p-38};

// ln(2) in two parts; the first has enough zeros at its end that n * kLn2High is exact.
constexpr double kLn2HighSingle = 0x1.63p-1;
constexpr double kLn2LowSingle = -0x1.bd0106p-13;
constexpr double kLn2Single = 0x1.62e430p-1;  // to nearest, for log
constexpr double kLn2RestSingle = -0x1.05c610p-29;
constexpr double kLn2HighDouble = 0x1.62e42feep-1;
constexpr double kLn2LowDouble = 0x1.a39ef35793c76p-33;

/// (e^r - 1 - r) / r^2
ScalarId exp_rest(FloatBuilder& f, ScalarId r) {
  return f.single() ? f.polynomial(r, kExpSingle) : f.polynomial(r, kExpDouble);
}

}  // namespace

ScalarId FloatBuilder::scaled(ScalarId x, ScalarId n) {
  // In two factors, as 2^n itself may overflow or be denormal; only the last product rounds.
  const ScalarId half = b.binary(ScalarOp::Shr, n, integer(1));
  return b.mul(b.mul(x, power_of_two(half)), power_of_two(b.sub(n, half)));
}

// Two-step reduction by n = round(x / ln 2).
Exponential split_exp(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const ScalarId sum = f.fma(x, f.value(0x1.71547652b82fep+0), f.rounder());
  const ScalarId n = b.sub(sum, f.value(f.rounder()));
  const ScalarId high = f.fma(n, f.single() ? -kLn2HighSingle : -kLn2HighDouble, x);
  const ScalarId r = f.fma(n, f.single() ? -kLn2LowSingle : -kLn2LowDouble, high);
  return {r, f.integer_of(sum)};
}

ScalarId small_exp(FloatBuilder& f, ScalarId r) {
  return f.fma(f.fma(exp_rest(f, r), r, 1), r, 1);
}

ScalarId small_expm1(FloatBuilder& f, ScalarId r) {
  return f.b.fma(f.b.mul(exp_rest(f, r), r), r, r);
}

ScalarId bounded_exp(FloatBuilder& f, ScalarId x) {
  const Exponential e = split_exp(f, x);
  return f.b.mul(small_exp(f, e.rest), f.power_of_two(e.exponent));
}

Logarithm split_log(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const bool single = f.single();
  const ScalarId denormal = b.lt(x, f.value(single ? 0x1p-126 : 0x1p-1022));
  const ScalarId scaled = b.select(denormal, b.mul(x, f.value(single ? 0x1p23 : 0x1p52)), x);
  const ScalarId lift = b.select(denormal, f.value(single ? -23 : -52), f.value(0));
  // x = m * 2^k with m in [2/3, 4/3) (f64: [sqrt(1/2), sqrt(2))), so that no cancellation remains
  // between k ln 2 and ln m.
  const ScalarId bits = b.bitcast(scaled, f.bits);
  const ScalarId mantissa_bits = f.integer(single ? 23 : 52);
  const ScalarId split = f.integer(single ? 0x3f2aaaab : 0x3fe6a09e667f3bcd);
  const ScalarId k = b.binary(ScalarOp::Shr, b.sub(bits, split), mantissa_bits);
  const ScalarId m = b.bitcast(b.sub(bits, b.binary(ScalarOp::Shl, k, mantissa_bits)), f.dtype);
  const ScalarId rounder = b.bitcast(f.value(f.rounder()), f.bits);
  const ScalarId k_float = b.sub(b.bitcast(b.add(k, rounder), f.dtype), f.value(f.rounder()));
  const ScalarId t = b.sub(m, f.value(1));
  ScalarId rest;  // ln(1 + t) - t
  if (single) {
    rest = b.mul(f.polynomial(t, kLogSingle), b.mul(t, t));
  } else {
    const ScalarId s = b.div(t, b.add(t, f.value(2)));
    const ScalarId z = b.mul(s, s);
    const ScalarId half_square = b.mul(b.mul(t, t), f.value(0.5));
    const ScalarId odd = b.mul(z, f.polynomial(z, kLogDouble));
    rest = b.fma(s, b.add(half_square, odd), b.unary(ScalarOp::Neg, half_square));
  }
  return {b.add(k_float, lift), t, rest};
}

ScalarId with_log_edges(FloatBuilder& f, ScalarId x, ScalarId y) {
  ScalarBuilder& b = f.b;
  const double infinity = HUGE_VAL;
  const ScalarId zero = f.value(0);
  const ScalarId edge =
      b.select(b.eq(x, zero), f.value(-infinity), b.select(b.lt(x, zero), f.nan(), x));
  const ScalarId regular = b.binary(ScalarOp::And, b.lt(zero, x), b.lt(x, f.value(infinity)));
  return b.select(regular, y, edge);
}

namespace {

ScalarId exp(FloatBuilder& f, ScalarId x) {
  // Past these bounds the result is infinite or zero anyway, and the exponent stays in range.
  const ScalarId bounded =
      f.single() ? f.at_least(f.at_most(x, 89), -104.5) : f.at_least(f.at_most(x, 710), -746);
  const Exponential e = split_exp(f, bounded);
  return f.scaled(small_exp(f, e.rest), e.exponent);
}

ScalarId log(FloatBuilder& f, ScalarId x) {
  const bool single = f.single();
  const Logarithm parts = split_log(f, x);
  const ScalarId low = f.fma(parts.exponent, single ? kLn2RestSingle : kLn2LowDouble, parts.rest);
  const ScalarId y =
      f.fma(parts.exponent, single ? kLn2Single : kLn2HighDouble, f.b.add(parts.fraction, low));
  return with_log_edges(f, x, y);
}

ScalarId tanh(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const ScalarId a = b.unary(ScalarOp::Abs, x);
  const ScalarId square = b.mul(a, a);
  const ScalarId p =
      f.single() ? f.polynomial(square, kTanhSingle) : f.polynomial(square, kTanhDouble);
  const ScalarId near = b.fma(b.mul(p, square), a, a);
  const ScalarId twice = f.at_most(b.add(a, a), f.single() ? 20 : 40);
  const ScalarId e = bounded_exp(f, twice);
  const ScalarId far = b.sub(f.value(1), b.div(f.value(2), b.add(e, f.value(1))));
  const ScalarId magnitude = b.select(b.lt(a, f.value(0.625)), near, far);
  return b.binary(ScalarOp::CopySign, magnitude, x);
}

ScalarId erf(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const ScalarId a = b.unary(ScalarOp::Abs, x);
  const ScalarId square = b.mul(a, a);
  const ScalarId p =
      f.single() ? f.polynomial(square, kErfNearSingle) : f.polynomial(square, kErfNearDouble);
  const ScalarId near = b.fma(p, a, a);
  ScalarId logarithm;
  if (f.single()) {
    const ScalarId t = f.at_most(a, 3.9375);
    logarithm = f.polynomial(t, kErfFarSingle);
  } else {
    const ScalarId t = b.sub(f.at_most(a, 6), f.value(1));
    logarithm = f.polynomial(t, kErfFarDouble);
  }
  const ScalarId far = b.sub(f.value(1), bounded_exp(f, logarithm));
  const ScalarId magnitude = b.select(b.lt(a, f.value(f.single() ? 0.928 : 1)), near, far);
  return b.binary(ScalarOp::CopySign, magnitude, x);
}

}  // namespace

ScalarId expand_math(ScalarBuilder& builder, ScalarOp op, ScalarId argument) {
  FloatBuilder f(builder, builder.dtype(argument));
  REPRISE_ASSERT(f.dtype == DType::F32 || f.dtype == DType::F64);
  if (op == ScalarOp::Exp) return exp(f, argument);
  if (op == ScalarOp::Log) return log(f, argument);
  if (op == ScalarOp::Tanh) return tanh(f, argument);
  if (op == ScalarOp::Erf) return erf(f, argument);
  REPRISE_ASSERT(op == ScalarOp::Sin || op == ScalarOp::Cos);
  return expand_trigonometric(builder, op, argument);
}

}  // namespace reprise
