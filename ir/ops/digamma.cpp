// The derivative of the logarithm of the gamma function.
//
// Around its zero it is a polynomial times the distance from there; the recurrence, the asymptotic
// series from 8 on and the reflection give the rest.
#include <limits>

#include "ir/ops/gamma_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

// digamma(1 + u) / (u - root) in u - 1/2 for 0 <= u <= 1: 2^-53; interpolated at Chebyshev points,
// computed to 60 digits. The root in two parts.
constexpr double kNear[] = {
    0x1.e6f0cbb873616p-1,  -0x1.b1cb63005ee98p-2,  0x1.eca189b8e6f6dp-3,  -0x1.2feeeb98a78eap-3,
    0x1.8512e5903903ep-4,  -0x1.fb44202a2306bp-5,  0x1.4de9aa1779d23p-5,  -0x1.b9f8b11bfd3d0p-6,
    0x1.2564717896ec6p-6,  -0x1.863563f44f303p-7,  0x1.03c0adafa529cp-7,  -0x1.5a06a5d662cb4p-8,
    0x1.cd2011454fd05p-9,  -0x1.336dbe66757c8p-9,  0x1.99d3f5c0cad5ep-10, -0x1.0fb38d217b800p-10,
    0x1.6a3e76070c135p-11, -0x1.fd8e50abf2196p-12, 0x1.53b23429da21bp-12, -0x1.2fae5cb379bf2p-13,
    0x1.94e73cc9821e1p-14, -0x1.75c084e78a4cdp-13, 0x1.f255c4568ac4dp-14};
constexpr double kRoot = 0x1.d8b618d5af8fep-2, kRootRest = -0x1.1e563779a1f5bp-56;
// x^2 times what log x - 1 / (2 x) has beyond digamma(x), in 1 / x^2 for x >= 8: 2^-54.
constexpr double kFar[] = {0x1.5555555555555p-4,  -0x1.11111111110eep-7, 0x1.04104103f3357p-8,
                           -0x1.111110c5db913p-8, 0x1.f07bbcef74ac4p-8,  -0x1.59837b4a4780cp-6,
                           0x1.5356fbc92b38cp-4,  -0x1.a43dc8de6cf74p-2, 0x1.c5b8542e7f8cap+0};
constexpr int kFarBegin = 8;

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands, const OpContext&) {
  GammaArgument argument(b, operands[0]);
  FloatBuilder& f = argument.f;
  const ScalarId a = argument.magnitude, one = f.value(1);
  const ScalarId near = b.lt(a, one);
  // digamma(a) = digamma(1 + u) + 1 / (a - 1) + 1 / (a - 2) + ..; the sum as one fraction.
  ScalarId u = b.select(near, a, b.sub(a, one)), numerator = f.value(0), denominator = one;
  for (int i = 1; i + 1 < kFarBegin; ++i) {
    const ScalarId has_term = b.le(f.value(i + 1), a);
    const ScalarId term = b.sub(a, f.value(i));
    numerator = b.select(has_term, b.fma(numerator, term, denominator), numerator);
    denominator = b.select(has_term, b.mul(denominator, term), denominator);
    u = b.select(has_term, b.sub(a, f.value(i + 1)), u);
  }
  const ScalarId from_root = b.sub(b.sub(u, f.value(kRoot)), f.value(kRootRest));
  const ScalarId center = b.mul(from_root, f.polynomial(b.sub(u, f.value(0.5)), kNear));
  const ScalarId inverse = b.div(one, a);
  const ScalarId square = b.mul(inverse, inverse);
  const ScalarId small = b.fma(square, f.polynomial(square, kFar), b.mul(inverse, f.value(0.5)));
  const ScalarId far = b.sub(b.unary(ScalarOp::Log, a), small);
  const ScalarId beyond =
      b.select(b.lt(a, f.value(kFarBegin)), b.add(center, b.div(numerator, denominator)), far);

  const ScalarId positive = b.select(near, b.sub(center, inverse), beyond);
  // digamma(-a) = digamma(1 + a) + pi cot(pi a).
  const ScalarId next = b.select(near, center, b.add(beyond, inverse));
  const ScalarId reflected =
      b.select(argument.pole, f.nan(), b.add(next, pi_cotangent(f, argument.off)));
  const ScalarId infinity = f.value(std::numeric_limits<double>::infinity());
  const ScalarId at_zero =
      b.binary(ScalarOp::CopySign, infinity, b.unary(ScalarOp::Neg, argument.x));
  const ScalarId y = b.select(argument.negative, reflected, positive);
  return b.cast(b.select(b.eq(a, f.value(0)), at_zero, y), b.dtype(operands[0]));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  const Value slope = ctx.builder.record(Op::Polygamma, {ctx.operand(0)}, Attrs().add_int(1));
  ctx.accumulate(0, guarded_mul(ctx.builder, ctx.cotangent, slope));
}

}  // namespace

const OpDef& digamma_def() {
  static constexpr OpDef def{
      .name = "digamma",
      .doc =
          "The derivative of lgamma: -infinity at +0, infinity at -0, NaN at the negative integers "
          "and at -infinity. Computed in f64; in f64 itself an error near the zeros below 0 is one "
          "of the terms that cancel.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
