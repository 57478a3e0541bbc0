// The logarithm of the magnitude of the gamma function.
//
// With G(r) = log gamma(1 + r), a polynomial on [0, 3/2], and Stirling's series from 8 on, the
// recurrence gives what lies between, the reflection what lies below 0.
#include <limits>

#include "ir/ops/gamma_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

// G(r) / (r (r - 1)) in r - 3/4 for 0 <= r <= 3/2: 2^-54; interpolated at Chebyshev points,
// computed to 60 digits.
constexpr double kNear[] = {
    0x1.ccf151e09cde8p-2,  -0x1.e965863079469p-4,  0x1.6cb62517118fcp-5,   -0x1.382e176f619f5p-6,
    0x1.1f9587fa1eb1dp-7,  -0x1.14f7c58de2671p-8,  0x1.12aa72f6bf91dp-9,   -0x1.160562c0a01a1p-10,
    0x1.1daed609e7d16p-11, -0x1.28f25561c32fep-12, 0x1.3776543d9d2b2p-13,  -0x1.491a21f13e967p-14,
    0x1.5dd9d31d90f48p-15, -0x1.759940c57cab0p-16, 0x1.90f34771375dep-17,  -0x1.b3649525282a8p-18,
    0x1.d6ba7178cecadp-19, -0x1.da7f8ddb1afb2p-20, 0x1.019ed5c944fcep-20,  -0x1.9603c1167a065p-21,
    0x1.bcd359ab28bccp-22, 0x1.246de568fe6f2p-25,  -0x1.501038e3f4b02p-26, -0x1.52d04301dad55p-23,
    0x1.75c8e4b0bb849p-24};
// x times what log gamma(x) has beyond (x - 1/2) log x - x + log(2 pi) / 2, in 1 / x^2 for x >= 8:
// 2^-54.
constexpr double kFar[] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c0fp-9, 0x1.a01a01a00d0c8p-11,
                           -0x1.381381168d370p-11, 0x1.b951b7066a805p-11, -0x1.f69af4cedb3c1p-10,
                           0x1.a2565f7c03969p-8,   -0x1.c6897db52d634p-6, 0x1.c29fa984fd96ep-4};
constexpr double kNearEnd = 1.5, kFarBegin = 8;
constexpr double kConstant = 0.4189385332046727417803297;  // (log(2 pi) - 1) / 2
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands, const OpContext&) {
  GammaArgument argument(b, operands[0]);
  FloatBuilder& f = argument.f;
  const ScalarId a = argument.magnitude, one = f.value(1);
  const ScalarId near = b.lt(a, f.value(kNearEnd)), between = b.lt(a, f.value(kFarBegin));
  // gamma(a) = (a - 1) (a - 2) .. gamma(1 + r), r in [1/2, 3/2); every factor is exact.
  ScalarId r = b.select(near, a, b.sub(a, one)), product = one;
  for (int i = 1; kNearEnd + i < kFarBegin; ++i) {
    const ScalarId has_factor = b.le(f.value(kNearEnd + i), a);
    product = b.select(has_factor, b.mul(product, b.sub(a, f.value(i))), product);
    r = b.select(has_factor, b.sub(a, f.value(i + 1)), r);
  }
  const ScalarId p = f.polynomial(b.sub(r, f.value(0.75)), kNear);
  const ScalarId g = b.mul(b.mul(r, b.sub(r, one)), p);
  // log gamma(-a) = -log gamma(1 + a) - log(|sin(pi a)| / pi).
  const ScalarId sine = b.mul(b.unary(ScalarOp::Abs, argument.off), sine_ratio(f, argument.off));
  const ScalarId above = b.select(near, a, b.select(between, product, a));
  const ScalarId below = b.select(near, sine, b.select(between, b.mul(b.mul(product, a), sine), a));
  const ScalarId logarithm = b.unary(ScalarOp::Log, b.select(argument.negative, below, above));
  const ScalarId inverse = b.div(one, a);
  const ScalarId series = f.fma(inverse, f.polynomial(b.mul(inverse, inverse), kFar), kConstant);
  const ScalarId far = b.fma(b.sub(a, f.value(0.5)), b.sub(logarithm, one), series);

  const ScalarId positive =
      b.select(near, b.sub(g, logarithm), b.select(between, b.add(g, logarithm), far));
  const ScalarId reflected = b.select(between, b.add(g, logarithm),
                                      b.add(b.add(far, logarithm), b.unary(ScalarOp::Log, sine)));
  const ScalarId y = b.select(argument.negative, b.unary(ScalarOp::Neg, reflected), positive);
  const ScalarId infinity = f.value(kInfinity);
  const ScalarId infinite = b.binary(ScalarOp::Or, argument.pole, b.eq(a, infinity));
  return b.cast(b.select(infinite, infinity, y), b.dtype(operands[0]));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  ctx.accumulate(
      0, guarded_mul(ctx.builder, ctx.cotangent, ctx.builder.unary(Op::Digamma, ctx.operand(0))));
}

}  // namespace

const OpDef& lgamma_def() {
  static constexpr OpDef def{
      .name = "lgamma",
      .doc =
          "log |gamma(x)|: infinity at 0, at the negative integers and at both infinities. "
          "Computed "
          "in f64; in f64 itself an error near the zeros below -2 is one of the terms that cancel.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
