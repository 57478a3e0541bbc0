// The Gaussian error linear unit.
#include <cmath>

#include "ir/math_parts.h"
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"approximate", AttrKind::Int}};
constexpr double kRootHalf = 0.70710678118654752440;
constexpr double kDensityAtZero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
constexpr double kTanhScale = 0.79788456080286535588;      // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

TensorType infer(const OpContext& ctx) {
  const int64_t approximate = ctx.attrs.word(0);
  if (approximate != 0 && approximate != 1) {
    throw Error(str("gelu: approximate is 0 (erf) or 1 (tanh), not ", approximate));
  }
  return infer_elementwise(ctx, Accepts::Float);
}

/// Phi(-a) = exp(-a^2/2) v W(v) / a, v = a / (a + shift), is the lower tail of the distribution.
/// Fits of W in v - center, of relative errors 2^-27.6 and 2^-56, up to where the tail is 0. The
/// shifts keep W between 0.39 and 1.25, so that nothing cancels; the centers have values that round
/// well.
struct TailFit {
  double end, shift, center;
  std::span<const double> coefficients;
};
constexpr double kTailSingle[] = {0x1.5e416ep-1, -0x1.554acap-1, 0x1.985b54p-4,  0x1.2cad94p-2,
                                  0x1.624fd4p-7, -0x1.9d0dacp-3, -0x1.163b96p-3, 0x1.36fa0ep-4,
                                  0x1.9a1494p-3, 0x1.7e4c2p-4,   -0x1.fd5226p-4, -0x1.13018p-3};
constexpr double kTailDouble[] = {
    0x1.6813db677f3fbp-1,  -0x1.b9fcbcd76b5bbp-1, 0x1.0ebdb9f3cdc4ap-1,  0x1.1def26af3878p-4,
    -0x1.0d8930fe979a9p-2, -0x1.8a8b814d1a153p-5, 0x1.520caa091ff35p-3,  0x1.831cfe6e0a229p-4,
    -0x1.6760aedf4af47p-4, -0x1.1496c93b126a3p-3, -0x1.bd496ac2bcf9dp-7, 0x1.f06860e3508e9p-4,
    0x1.ec300b84c6a12p-4,  -0x1.e7aec7906867p-7,  -0x1.2f566c5442c01p-3, -0x1.2635a8f43f02cp-3,
    0x1.34eacd06393d9p-7,  0x1.7b6096a0f9727p-3,  0x1.d0180095ca1a8p-3,  0x1.f342a5ebdaaf2p-5,
    -0x1.fe34138a891c9p-3, -0x1.c8dfd9dd353cep-2, -0x1.534bf3cbd466ap-3, 0x1.df8fb3f132793p-2,
    0x1.3974ed57ebf06p-1,  -0x1.42961733de233p-7, -0x1.c31ade86b2ba4p-2, -0x1.c715f6fcf3ea4p-3};
constexpr TailFit kSingle = {14.6, 2, 0x1.eep-2, kTailSingle};
constexpr TailFit kDouble = {39, 2.5, 0x1.02p-1, kTailDouble};

struct Sum {
  ScalarId high, low;
};

/// e^(high + low), low far below 1, in the form e^high (1 + low).
ScalarId times_exp(ScalarBuilder& b, ScalarId factor, Sum exponent) {
  return b.mul(b.fma(factor, exponent.low, factor), b.unary(ScalarOp::Exp, exponent.high));
}

/// The upper half of a float's digits: products of two such are exact on any target.
ScalarId upper_half(FloatBuilder& f, ScalarId a) {
  ScalarBuilder& b = f.b;
  const ScalarId mask = f.integer(f.single() ? -0x1000 : -0x8000000);
  return b.bitcast(b.binary(ScalarOp::And, b.bitcast(a, f.bits), mask), f.dtype);
}

/// p + q and what the rounding loses.
Sum exact_sum(ScalarBuilder& b, ScalarId p, ScalarId q) {
  const ScalarId sum = b.add(p, q);
  const ScalarId q_taken = b.sub(sum, p);
  return {sum, b.add(b.sub(p, b.sub(sum, q_taken)), b.sub(q, q_taken))};
}

/// The same where p is the larger one.
Sum ordered_sum(ScalarBuilder& b, ScalarId p, ScalarId q) {
  const ScalarId sum = b.add(p, q);
  return {sum, b.sub(q, b.sub(sum, p))};
}

/// -a^2/2: exp magnifies what its rounding loses a^2/2 times.
Sum half_square(FloatBuilder& f, ScalarId a) {
  ScalarBuilder& b = f.b;
  const ScalarId upper = upper_half(f, a);
  const ScalarId most = b.mul(b.mul(upper, f.value(-0.5)), upper);
  const ScalarId rest = b.mul(b.mul(b.sub(a, upper), f.value(-0.5)), b.add(a, upper));
  return ordered_sum(b, most, rest);
}

/// x Phi(x), by the tail on either side.
ScalarId by_erf(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const TailFit& fit = f.single() ? kSingle : kDouble;
  const ScalarId a = f.at_most(b.unary(ScalarOp::Abs, x), fit.end);
  const ScalarId v = b.div(a, b.add(a, f.value(fit.shift)));
  const ScalarId w = f.polynomial(b.sub(v, f.value(fit.center)), fit.coefficients);
  const ScalarId tail = times_exp(b, b.mul(v, w), half_square(f, a));
  return b.select(b.lt(x, f.value(0)), b.unary(ScalarOp::Neg, tail), b.sub(x, tail));
}

struct Number {
  double high, low;
};
constexpr Number kSlope = {0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54};  // sqrt(8/pi)
constexpr Number kCube = {0x1.2444f2a4d8b4bp-4, -0x1.6c843a29d1c70p-61};   // 0.044715 of that
constexpr Number kShift = {0x1.62e42fefa39efp+1, 0x1.abc9e3b39803fp-54};   // 4 log 2

/// 4 log 2 - u, u = sqrt(8/pi) (a + 0.044715 a^3), to half as many digits again.
Sum tanh_exponent(FloatBuilder& f, ScalarId a) {
  ScalarBuilder& b = f.b;
  const auto number = [&](Number n) -> Sum {
    const double high = f.single() ? static_cast<double>(static_cast<float>(n.high)) : n.high;
    return {f.value(high), f.value(n.high - high + n.low)};
  };
  // a = upper + lower, a^2 = most + rest and so on: the parts of half as many digits, most of the
  // value, multiply exactly.
  const ScalarId upper = upper_half(f, a);
  const ScalarId lower = b.sub(a, upper);
  const ScalarId exact = b.mul(upper, upper);
  const ScalarId most = upper_half(f, exact);
  const ScalarId rest = b.fma(lower, b.add(a, upper), b.sub(exact, most));
  const Sum cube = number(kCube);
  const ScalarId cube_upper = upper_half(f, cube.high);
  const ScalarId cube_lower = b.add(b.sub(cube.high, cube_upper), cube.low);
  const Sum scale = number(kSlope);
  const Sum slope = exact_sum(b, scale.high, b.mul(most, cube_upper));
  const ScalarId slope_upper = upper_half(f, slope.high);
  const ScalarId small =
      b.fma(rest, cube.high, b.fma(most, cube_lower, b.add(slope.low, scale.low)));
  const ScalarId slope_lower = b.add(b.sub(slope.high, slope_upper), small);
  const ScalarId tail = b.fma(upper, slope_lower, b.mul(lower, b.add(slope.high, small)));
  const Sum shift = number(kShift);
  const Sum sum = exact_sum(b, shift.high, b.unary(ScalarOp::Neg, b.mul(upper, slope_upper)));
  return ordered_sum(b, sum.high, b.sub(b.add(sum.low, shift.low), tail));
}

/// x / (1 + exp(-u)) = x (1 + tanh(u/2)) / 2, with the exponential that does not overflow; 16 times
/// that, because a times it may be a normal number where it is not.
ScalarId by_tanh(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const ScalarId a = f.at_most(b.unary(ScalarOp::Abs, x), f.single() ? 11.5 : 22.5);
  const Sum exponent = tanh_exponent(f, a);
  const ScalarId small = times_exp(b, f.value(1), exponent);
  const ScalarId sixteenth = f.value(0.0625);
  const ScalarId tail = b.mul(times_exp(b, b.unary(ScalarOp::Neg, a), exponent), sixteenth);
  const ScalarId numerator = b.select(b.lt(x, f.value(0)), tail, x);
  return b.div(numerator, b.fma(small, sixteenth, f.value(1)));
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> operands, const OpContext& ctx) {
  FloatBuilder f(b, b.dtype(operands[0]));
  return ctx.attrs.word(0) == 0 ? by_erf(f, operands[0]) : by_tanh(f, operands[0]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const DType dtype = b.dtype(x);
  const Value one = b.constant(1, dtype);
  const Value squared = b.mul(x, x);
  Value slope;
  if (ctx.attrs().word(0) == 0) {
    // The distribution function, plus x times the density.
    const Value below = scaled(b, b.add(one, b.unary(Op::Erf, scaled(b, x, kRootHalf))), 0.5);
    const Value density = scaled(b, b.unary(Op::Exp, scaled(b, squared, -0.5)), kDensityAtZero);
    slope = b.add(below, guarded_mul(b, density, x));
  } else {
    const Value inner = scaled(b, b.add(x, scaled(b, b.mul(squared, x), kCubic)), kTanhScale);
    const Value odd = b.unary(Op::Tanh, inner);
    const Value below = scaled(b, b.add(one, odd), 0.5);
    const Value inner_slope =
        scaled(b, b.add(one, scaled(b, squared, 3 * kCubic)), 0.5 * kTanhScale);
    const Value odd_slope = guarded_mul(b, b.sub(one, b.mul(odd, odd)), b.mul(x, inner_slope));
    slope = b.add(below, odd_slope);
  }
  ctx.accumulate(0, guarded_mul(b, ctx.cotangent, slope));
}

std::vector<Sample> samples() {
  std::vector<Sample> all = unary_samples(Fill::Normal, DType::F32, Attrs().add_int(0));
  for (Sample& sample : unary_samples(Fill::Normal, DType::F32, Attrs().add_int(1))) {
    all.push_back(std::move(sample));
  }
  return all;
}

}  // namespace

const OpDef& gelu_def() {
  static constexpr OpDef def{
      .name = "gelu",
      .attrs = kAttrs,
      .doc =
          "x times the normal distribution function at x: 0.5 x (1 + erf(x / sqrt(2))), or with "
          "approximate = 1 the form 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). 0 at "
          "-infinity, accurate in the tail of small values.",
      .infer = infer,
      .lower = lower_wide<lower>,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
