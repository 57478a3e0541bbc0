// The complementary error function.
#include "ir/ops/elementary.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr double kTwoOverRootPi = 1.12837916709551257390;

// exp(a^2) erfc(a) (1 + 2a) in t = (a - 2) / (a + 2) for 0 <= a <= 10.1 (2^-26), and in
// t = (a - 4) / (a + 4) for 0 <= a <= 27.5 (2^-59); minimax fits, computed to 60 digits.
constexpr double kSingle[] = {0x1.46e80e4ba99d2p+0,   -0x1.7bf60457b74dep-4, -0x1.54083786bf582p-3,
                              0x1.4ffb5bd47d964p-3,   -0x1.bc0da33e90b96p-5, -0x1.07b73b4c1bb96p-7,
                              0x1.1b194ea956146p-7,   0x1.502f425945a11p-10, -0x1.480a577b33ecbp-10,
                              -0x1.872e47e9a8661p-12, 0x1.6b86724db6bb9p-16};
constexpr double kDouble[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd6b2p-7,   0x1.16ecefcfa5420p-4,
    -0x1.9ddb23c3e88bdp-4,  0x1.7fee004e11047p-4,   -0x1.0fb06dfe55b64p-4,  0x1.3079edf6afb72p-5,
    -0x1.096238829a103p-6,  0x1.49c672795ae39p-8,   -0x1.8d4a9c358d161p-11, -0x1.a1df1d0157977p-13,
    0x1.3be068468cff1p-13,  -0x1.995a165bfb90ap-16, -0x1.788cb6125d278p-17, 0x1.7f2e89022af89p-18,
    0x1.3b7bf198a88ddp-22,  -0x1.bb383d84837e4p-21, 0x1.4093bbdb2244ap-24,  0x1.d8f553235570ep-24,
    -0x1.33de9402c1f5dp-26, -0x1.e45a279d29f94p-27, 0x1.f8e6ce33532f4p-30,  0x1.58a12a6de32b3p-30};

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  FloatBuilder f(b, b.dtype(x[0]));
  const double end = f.single() ? 10.1 : 27.5;
  const ScalarId a = f.at_most(b.unary(ScalarOp::Abs, x[0]), end);
  // erfc(a) = exp(-a^2) P(t) / (1 + 2a). The square in two parts, the first of which is exact.
  const ScalarId mask = f.single() ? f.integer(-0x1000) : f.integer(-0x8000000);
  const ScalarId high = b.bitcast(b.binary(ScalarOp::And, b.bitcast(a, f.bits), mask), f.dtype);
  const ScalarId low = b.mul(b.sub(a, high), b.add(a, high));
  const Exponential e = split_exp(f, b.unary(ScalarOp::Neg, b.mul(high, high)));
  const double center = f.single() ? 2 : 4;
  const ScalarId t = b.div(b.sub(a, f.value(center)), b.add(a, f.value(center)));
  const ScalarId p = f.single() ? f.polynomial(t, kSingle) : f.polynomial(t, kDouble);
  const ScalarId ratio = b.div(p, b.add(f.value(1), b.add(a, a)));
  const ScalarId fraction =
      b.mul(small_exp(f, e.rest), bounded_exp(f, b.unary(ScalarOp::Neg, low)));
  const ScalarId y = f.scaled(b.mul(fraction, ratio), e.exponent);
  return b.select(b.lt(x[0], f.value(0)), b.sub(f.value(2), y), y);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const Value density = scaled(b, b.unary(Op::Exp, b.neg(b.mul(x, x))), -kTwoOverRootPi);
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, density));
}

}  // namespace

const OpDef& erfc_def() {
  static constexpr OpDef def{
      .name = "erfc",
      .doc = "1 - erf(x), accurate in its tail down to the denormals.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
