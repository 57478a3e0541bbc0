// Derivatives of the digamma function: (-1)^(n+1) n! times the sum of 1 / (x + k)^(n+1), k = 0, 1
// ..
#include <cmath>
#include <limits>
#include <vector>

#include "ir/ops/gamma_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"order", AttrKind::Int}};
constexpr int64_t kMaxOrder = 64;
constexpr double kPi = 3.14159265358979323846;
// B(2j) / (2j)!, j = 1 ..
constexpr double kBernoulli[] = {8.3333333333333333333e-2,  -1.3888888888888888889e-3,
                                 3.3068783068783068783e-5,  -8.2671957671957671958e-7,
                                 2.0876756987868098979e-8,  -5.2841901386874931848e-10,
                                 1.3382536530684678833e-11, -3.3896802963225828668e-13,
                                 8.5860620562778445641e-15, -2.1748686985580618730e-16};
constexpr int kTerms = static_cast<int>(std::size(kBernoulli));

TensorType infer(const OpContext& ctx) {
  const int64_t order = ctx.attrs.word(0);
  if (order < 1 || order > kMaxOrder) {
    throw Error(str("polygamma: an order of ", order, ", expected 1 to ", kMaxOrder));
  }
  return infer_elementwise(ctx, Accepts::Float);
}

/// Terms to add before the series of Euler and Maclaurin gives what follows them to 2^-58 of the
/// sum: its first term left out, at the argument where that is largest.
int terms_before_series(double s) {
  for (int count = 2;; ++count) {
    const double order = 2 * kTerms + 1;
    const double worst = std::max(0.0, (s * count - (s + order)) / order);
    double rest = 2 * std::pow((worst + 1) / (worst + count), s) / (worst + count);
    for (int i = 0; i < 2 * kTerms + 1; ++i) rest *= (s + i) / (2 * kPi * (worst + count));
    if (rest < 0x1p-58) return count;
  }
}

ScalarId power(FloatBuilder& f, ScalarId base, int64_t exponent) {
  ScalarId result = f.value(1);
  for (bool first = true; exponent > 0; exponent >>= 1, base = f.b.mul(base, base)) {
    if ((exponent & 1) == 0) continue;
    result = first ? base : f.b.mul(result, base);
    first = false;
  }
  return result;
}

/// The sum of 1 / (a + k)^s over k = 1, 2 ..; a is not negative.
ScalarId sum_from_next(FloatBuilder& f, ScalarId a, int64_t s) {
  ScalarBuilder& b = f.b;
  const int count = terms_before_series(static_cast<double>(s));
  const auto inverse = [&](int k) { return b.div(f.value(1), b.add(a, f.value(k))); };
  const ScalarId y = inverse(count);
  // y^(s-1) / (s - 1) + y^s / 2 + y^s (s B2/2! y + s (s+1) (s+2) B4/4! y^3 + ..)
  std::vector<double> coefficients;
  double rising = static_cast<double>(s);
  for (int j = 0; j < kTerms; ++j) {
    coefficients.push_back(kBernoulli[j] * rising);
    rising *= static_cast<double>((s + 2 * j + 1) * (s + 2 * j + 2));
  }
  const ScalarId series = b.mul(f.polynomial(b.mul(y, y), coefficients), y);
  const ScalarId integral = b.div(b.add(a, f.value(count)), f.value(static_cast<double>(s - 1)));
  const ScalarId tail = b.add(integral, b.add(series, f.value(0.5)));
  // Beyond all powers of s that are finite, the product is that of 0 with infinity.
  ScalarId sum = b.mul(power(f, y, s - 1), b.mul(y, tail));
  sum = b.select(b.eq(y, f.value(0)), f.value(0), sum);
  for (int k = count - 1; k > 0; --k) sum = b.add(sum, power(f, inverse(k), s));
  return sum;
}

/// The n-th derivative of pi cot(pi x), over pi: a polynomial in pi cot(pi x). With c' = -(pi^2 +
/// c^2) all its coefficients have one sign.
ScalarId cotangent_derivative(FloatBuilder& f, ScalarId c, int64_t n) {
  std::vector<double> p = {0, 1};
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> next(p.size() + 1);
    for (size_t k = 1; k < p.size(); ++k) {
      const double slope = static_cast<double>(k) * p[k];
      next[k - 1] -= slope * kPi * kPi;
      next[k + 1] -= slope;
    }
    p = std::move(next);
  }
  // Odd or even: in the square.
  std::vector<double> halves;
  for (size_t k = (n + 1) % 2; k < p.size(); k += 2) halves.push_back(p[k]);
  const ScalarId even = f.polynomial(f.b.mul(c, c), halves);
  return n % 2 == 0 ? f.b.mul(even, c) : even;
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands, const OpContext& ctx) {
  GammaArgument argument(b, operands[0]);
  FloatBuilder& f = argument.f;
  const int64_t n = ctx.attrs.word(0);
  const ScalarId a = argument.magnitude;
  const double factorial = std::tgamma(static_cast<double>(n + 1));
  const double sign = n % 2 == 0 ? -1 : 1;
  const ScalarId sum = sum_from_next(f, a, n + 1);
  const ScalarId first = power(f, b.div(f.value(1), a), n + 1);
  const ScalarId positive = b.mul(b.add(sum, first), f.value(sign * factorial));
  // At -a: less the derivative of pi cot(pi x), less n! times the sum.
  const ScalarId c = b.unary(ScalarOp::Neg, pi_cotangent(f, argument.off));
  const ScalarId reflected =
      b.unary(ScalarOp::Neg, b.fma(sum, f.value(factorial), cotangent_derivative(f, c, n)));
  ScalarId y = b.select(argument.negative, reflected, positive);
  const ScalarId infinity = f.value(std::numeric_limits<double>::infinity());
  if (n % 2 == 0) {  // the sides differ in sign
    const ScalarId at_zero =
        b.binary(ScalarOp::CopySign, infinity, b.unary(ScalarOp::Neg, argument.x));
    y = b.select(argument.pole, f.nan(), b.select(b.eq(a, f.value(0)), at_zero, y));
  } else {
    y = b.select(argument.pole, infinity, y);
  }
  return b.cast(y, b.dtype(operands[0]));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  const Value slope =
      ctx.builder.record(Op::Polygamma, {ctx.operand(0)}, Attrs().add_int(ctx.attrs().word(0) + 1));
  ctx.accumulate(0, guarded_mul(ctx.builder, ctx.cotangent, slope));
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const int64_t order : {1, 2, 5}) {
    for (Sample& sample : unary_samples(Fill::Normal, DType::F32, Attrs().add_int(order))) {
      all.push_back(std::move(sample));
    }
  }
  return all;
}

}  // namespace

const OpDef& polygamma_def() {
  static constexpr OpDef def{
      .name = "polygamma",
      .attrs = kAttrs,
      .doc =
          "The derivative of digamma of an order from 1 to 64. Infinity at 0 and the negative "
          "integers for odd orders; for even ones -infinity at +0, infinity at -0, NaN at the "
          "negative integers. Computed in f64.",
      .infer = infer,
      .lower = lower,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
