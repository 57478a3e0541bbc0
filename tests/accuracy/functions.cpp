// The true values: the C library's functions one precision up, and what is composed of them with
// care for the digits that cancel.
#include "tests/accuracy/functions.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace reprise {
namespace {

__extension__ using Quad = __float128;

constexpr Quad kQuadRootHalf =
    Quad{0x1.6a09e667f3bcdp-1} + Quad{-0x1.bdd3413b26456p-55} + Quad{0x1.57d3e3adec175p-109};
constexpr Quad kQuadLog2 =
    Quad{0x1.62e42fefa39efp-1} + Quad{0x1.abc9e3b39803fp-56} + Quad{0x1.7b57a079a1934p-111};
constexpr Quad kQuadGeluScale =  // sqrt(8 / pi)
    Quad{0x1.9884533d43651p+0} + Quad{-0x1.cbc0d30ebfd15p-54} + Quad{-0x1.c7402c7d60cfbp-110};

template <class T>
T sigmoid(T x, T) {
  // Above 0 the exponential is small, below it the quotient is.
  const T small = std::exp(-std::abs(x));
  return (x < 0 ? small : T(1)) / (1 + small);
}

template <class T>
T softplus(T x, T) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

/// x erfc(-x / sqrt(2)) / 2. The error of the rounded argument z counts 2 z^2 times in the result.
template <class T>
T gelu(T x, T) {
  constexpr T kRootHalf = 0.70710678118654752440084436210484903928L;
  constexpr T kRest = static_cast<T>(kQuadRootHalf - Quad{kRootHalf});
  const T z = -x * kRootHalf;
  if (z > 150) return T(-0.0);
  const T half = x / 2 * std::erfc(z);
  if (x > 0) return half;
  const T lost = std::fma(-x, kRootHalf, -z) - x * kRest;
  return half * std::exp(-2 * z * lost);
}

/// x / (1 + exp(-u)), u = sqrt(8/pi) (x + 0.044715 x^3), as 1 + tanh(u/2) = 2 / (1 + exp(-u)).
template <class T>
T gelu_tanh(T x, T) {
  const Quad wide = x;
  const Quad u = kQuadGeluScale * (wide + wide * wide * wide * 44715 / 1000000);
  const T high = static_cast<T>(u);
  if (std::isnan(x)) return x;
  if (high < -20000) return T(-0.0);
  if (high > 20000) return x;
  return x / (1 + std::exp(-high) * std::exp(-static_cast<T>(u - high)));
}

/// Halley's steps from a rough beginning, by erfc where erf has lost what distinguishes x from 1.
template <class T>
T erfinv(T x, T) {
  const T a = std::abs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(T(HUGE_VAL), x) : T(NAN);
  constexpr T kHalfRootPi = 0.88622692545275801364908374167057259140L;
  const T logarithm = std::log1p(-a) + std::log1p(a);
  const T sum = 4.33L + logarithm / 2;
  T y = a < T(0.1) ? a * kHalfRootPi : std::sqrt(std::sqrt(sum * sum - logarithm / T(0.147)) - sum);
  for (int i = 0; i < 4; ++i) {
    const T miss = a < T(0.5) ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const T step = miss * kHalfRootPi * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

template <class T>
T silu(T x, T) {
  if (x < 0 && std::isinf(x)) return T(-0.0);
  const T small = std::exp(-std::abs(x));
  return x * (x < 0 ? small : T(1)) / (1 + small);
}

/// x tanh(log(1 + n)), n = exp(x); (n^2 + 2 n) / (n^2 + 2 n + 2) times x.
template <class T>
T mish(T x, T) {
  if (x < 0 && std::isinf(x)) return T(-0.0);
  if (x > 50) return x;
  const T n = std::exp(x);
  const T above = n * (n + 2);
  return x * (above / (above + 2));
}

template <class T>
T softsign(T x, T) {
  return std::isinf(x) ? std::copysign(T(1), x) : x / (1 + std::abs(x));
}

template <class T>
T logaddexp(T x, T y) {
  if (std::isnan(x) || std::isnan(y)) return T(NAN);
  const T larger = std::max(x, y);
  if (std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(-std::abs(x - y)));
}

/// 2^k m = x, log m = 2 atanh((m - 1) / (m + 1)).
Quad quad_log(long double x) {
  int k = 0;
  Quad m = std::frexp(x, &k);
  if (m < kQuadRootHalf) {
    m *= 2;
    --k;
  }
  const Quad s = (m - 1) / (m + 1);
  Quad series = 0;
  for (int odd = 45; odd > 0; odd -= 2) series = series * s * s + Quad{1} / odd;
  return k * kQuadLog2 + 2 * s * series;
}

// B(2k), k = 1 ..
constexpr long double kBernoulli[] = {1.0L / 6,       -1.0L / 30,      1.0L / 42, -1.0L / 30,
                                      5.0L / 66,      -691.0L / 2730,  7.0L / 6,  -3617.0L / 510,
                                      43867.0L / 798, -174611.0L / 330};
constexpr long double kPi = 3.14159265358979323846264338327950288420L;
constexpr int kShift = 24;  ///< from where on ten terms of the asymptotic series are enough

/// The cotangent of pi x.
long double pi_cot(long double x) {
  const long double off = x - std::round(x);
  return std::cos(kPi * off) / std::sin(kPi * off);
}

/// For x > 0: the recurrence up, then the asymptotic series; near its zero with 113 bits.
template <class T>
T digamma_above(long double x) {
  T lost = 0, y = x;
  for (; y < kShift; y += 1) lost += 1 / y;
  const T square = 1 / (y * y);
  T series = 0;
  for (int k = 10; k > 0; --k) series = (series + kBernoulli[k - 1] / T(2 * k)) * square;
  T logarithm;
  if constexpr (sizeof(T) == sizeof(Quad) && !std::is_same_v<T, long double>) {
    logarithm = quad_log(static_cast<long double>(y));
    // What of y the long double did not hold.
    logarithm += (y - static_cast<long double>(y)) / y;
  } else {
    logarithm = std::log(y);
  }
  return logarithm - 1 / (2 * y) - series - lost;
}

long double digamma(long double x, long double) {
  if (x == 0) return std::copysign(static_cast<long double>(HUGE_VAL), -x);
  if (x < 0) {
    if (!std::isfinite(x) || x == std::floor(x)) return NAN;
    // Without the rounding of 1 - x.
    const long double beyond = digamma_above<long double>(-x) - 1 / x;
    return beyond - kPi * pi_cot(x);
  }
  if (!std::isfinite(x)) return x;
  const long double y = digamma_above<long double>(x);
  return std::abs(y) > 0.5L ? y : static_cast<long double>(digamma_above<Quad>(x));
}

/// The derivative of digamma: a sum of squares, in which nothing cancels.
long double trigamma(long double x, long double) {
  if (x < 0) {
    if (std::isinf(x)) return NAN;
    if (x == std::floor(x)) return HUGE_VAL;
    const long double sine = std::sin(kPi * (x - std::round(x)));
    return kPi * kPi / (sine * sine) - (trigamma(-x, 0) - 1 / (x * x));
  }
  long double sum = 0, y = x;
  for (; y < kShift; y += 1) sum += 1 / (y * y);
  const long double square = 1 / (y * y);
  long double series = 0;
  for (int k = 10; k > 0; --k) series = (series + kBernoulli[k - 1]) * square;
  return sum + 1 / y + square / 2 + series / y;
}

/// The same function of doubles, by way of long doubles.
template <long double (*function)(long double, long double)>
double narrowed(double x, double y) {
  return static_cast<double>(function(x, y));
}

/// exp(y log |x|) with 113 bits between, where both are plain: the C library's loses ten bits.
long double power(long double x, long double y) {
  const long double rough = std::pow(x, y);
  if (!std::isnormal(rough) || !std::isnormal(y) || std::abs(x) == 1) return rough;
  const Quad exponent = y * quad_log(std::abs(x));
  const int n = static_cast<int>(std::lround(static_cast<double>(exponent / kQuadLog2)));
  const Quad rest = exponent - n * kQuadLog2;
  Quad sum = 1;
  for (int i = 26; i > 0; --i) sum = 1 + sum * rest / i;
  return std::copysign(std::ldexp(static_cast<long double>(sum), n), rough);
}

/// A function of one argument, or of two, at both precisions.
#define BOTH(expression)                                                    \
  [](double x, [[maybe_unused]] double y) -> double { return expression; }, \
      [](long double x, [[maybe_unused]] long double y) -> long double { return expression; }

}  // namespace

std::span<const TrueFunction> true_functions() {
  static const std::vector<TrueFunction> functions = {
      {"sqrt", Op::Sqrt, {}, 1, BOTH(std::sqrt(x))},
      {"rsqrt", Op::Rsqrt, {}, 1, BOTH(1 / std::sqrt(x))},
      {"reciprocal", Op::Reciprocal, {}, 1, BOTH(1 / x)},
      {"exp", Op::Exp, {}, 1, BOTH(std::exp(x))},
      {"log", Op::Log, {}, 1, BOTH(std::log(x))},
      {"sin", Op::Sin, {}, 1, BOTH(std::sin(x))},
      {"cos", Op::Cos, {}, 1, BOTH(std::cos(x))},
      {"exp2", Op::Exp2, {}, 1, BOTH(std::exp2(x))},
      {"expm1", Op::Expm1, {}, 1, BOTH(std::expm1(x))},
      {"log2", Op::Log2, {}, 1, BOTH(std::log2(x))},
      {"log10", Op::Log10, {}, 1, BOTH(std::log10(x))},
      {"log1p", Op::Log1p, {}, 1, BOTH(std::log1p(x))},
      {"cbrt", Op::Cbrt, {}, 1, BOTH(std::cbrt(x))},
      {"tan", Op::Tan, {}, 1, BOTH(std::tan(x))},
      {"asin", Op::Asin, {}, 1, BOTH(std::asin(x))},
      {"acos", Op::Acos, {}, 1, BOTH(std::acos(x))},
      {"atan", Op::Atan, {}, 1, BOTH(std::atan(x))},
      {"sinh", Op::Sinh, {}, 1, BOTH(std::sinh(x))},
      {"cosh", Op::Cosh, {}, 1, BOTH(std::cosh(x))},
      {"tanh", Op::Tanh, {}, 1, BOTH(std::tanh(x))},
      {"asinh", Op::Asinh, {}, 1, BOTH(std::asinh(x))},
      {"acosh", Op::Acosh, {}, 1, BOTH(std::acosh(x))},
      {"atanh", Op::Atanh, {}, 1, BOTH(std::atanh(x))},
      {"sigmoid", Op::Sigmoid, {}, 1, sigmoid<double>, sigmoid<long double>},
      {"erf", Op::Erf, {}, 1, BOTH(std::erf(x))},
      {"erfc", Op::Erfc, {}, 1, BOTH(std::erfc(x))},
      {"softplus", Op::Softplus, {}, 1, softplus<double>, softplus<long double>},
      {"erfinv", Op::Erfinv, {}, 1, erfinv<double>, erfinv<long double>},
      {"gelu", Op::Gelu, Attrs().add_int(0), 1, gelu<double>, gelu<long double>},
      {"gelu, tanh", Op::Gelu, Attrs().add_int(1), 1, gelu_tanh<double>, gelu_tanh<long double>},
      {"lgamma", Op::Lgamma, {}, 1, BOTH(std::lgamma(x))},
      {"digamma", Op::Digamma, {}, 1, narrowed<digamma>, digamma},
      {"polygamma, 1", Op::Polygamma, Attrs().add_int(1), 1, narrowed<trigamma>, trigamma},
      {"silu", Op::Silu, {}, 1, silu<double>, silu<long double>},
      {"mish", Op::Mish, {}, 1, mish<double>, mish<long double>},
      {"softsign", Op::Softsign, {}, 1, softsign<double>, softsign<long double>},
      {"logsigmoid", Op::LogSigmoid, {}, 1, BOTH(-softplus(-x, x))},
      {"logaddexp", Op::LogAddExp, {}, 2, logaddexp<double>, logaddexp<long double>},
      {"pow", Op::Pow, {}, 2, [](double x, double y) { return std::pow(x, y); }, power},
      {"atan2", Op::Atan2, {}, 2, BOTH(std::atan2(x, y))},
      {"hypot", Op::Hypot, {}, 2, BOTH(std::hypot(x, y))},
  };
  return functions;
}

#undef BOTH

}  // namespace reprise
