// The trigonometry in the reflections of the gamma function. The polynomial interpolates at
// Chebyshev points, computed to 60 digits.
#include "ir/ops/gamma_parts.h"

namespace reprise {
namespace {

// sin(pi t) / (pi t) in t^2 for |t| <= 1/2: 2^-56.
constexpr double kSineRatio[] = {
    0x1.0000000000000p+0,  -0x1.a51a6625307d3p+0, 0x1.9f9cb402bc46cp-1,  -0x1.86a8e4720db2bp-3,
    0x1.ac6805cf32063p-6,  -0x1.33816aa2f7e7dp-9, 0x1.3747192da83d2p-13, -0x1.d424086bd36bbp-18,
    0x1.0faad1ce2b620p-22, -0x1.e76f9713ceb75p-28};
constexpr double kPi = 3.14159265358979323846;

}  // namespace

GammaArgument::GammaArgument(ScalarBuilder& b, ScalarId argument)
    : f(b, DType::F64), x(b.cast(argument, DType::F64)) {
  const ScalarId zero = f.value(0);
  magnitude = b.unary(ScalarOp::Abs, x);
  negative = b.lt(x, zero);
  off = b.sub(magnitude, b.unary(ScalarOp::Round, magnitude));
  pole = b.binary(ScalarOp::And, negative, b.eq(off, zero));
}

ScalarId sine_ratio(FloatBuilder& f, ScalarId t) {
  return f.polynomial(f.b.mul(t, t), kSineRatio);
}

ScalarId pi_cotangent(FloatBuilder& f, ScalarId t) {
  ScalarBuilder& b = f.b;
  // cos(pi t) = sin(pi (1/2 - |t|)).
  const ScalarId beside = b.sub(f.value(0.5), b.unary(ScalarOp::Abs, t));
  const ScalarId cosine = b.mul(beside, sine_ratio(f, beside));
  return b.div(b.mul(cosine, f.value(kPi)), b.mul(t, sine_ratio(f, t)));
}

}  // namespace reprise
