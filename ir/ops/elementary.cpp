// Elementary functions that several ops are made of. The polynomials are minimax fits, computed to
// 60 digits; each comment says what is approximated, where, and the error of the fit.
#include "ir/ops/elementary.h"

#include <limits>

namespace reprise {
namespace {

// (atan(s)/s - 1) / s^2 in s^2 for |s| <= 1: 2^-25.9 and 2^-60 of atan(s)/s.
constexpr double kArcTangentSingle[] = {
    -0x1.5555544268b90p-2, 0x1.99983bbc0374ep-3,  -0x1.246cd29094866p-3,
    0x1.c3f1670453f44p-4,  -0x1.6295f875436c7p-4, 0x1.0001c6d98b95fp-4,
    -0x1.25dc11d91f416p-5, 0x1.ba9f6642acbc2p-7,  -0x1.38de56d26aa2ep-9};
constexpr double kArcTangentDouble[] = {
    -0x1.5555555555555p-2,  0x1.999999999997dp-3, -0x1.2492492491234p-3, 0x1.c71c71c6882cdp-4,
    -0x1.745d1731e853fp-4,  0x1.3b13af957f086p-4, -0x1.1110f9a06b09dp-4, 0x1.e1e0069edf96ep-5,
    -0x1.af1a76061e434p-5,  0x1.85c82bf04fbd6p-5, -0x1.62c464c86804fp-5, 0x1.42a843b89b0ebp-5,
    -0x1.20f157ad652dfp-5,  0x1.f0f041d3e2f50p-6, -0x1.8c59dbc673323p-6, 0x1.198ad7e0bd0c6p-6,
    -0x1.552f78ddf9b30p-7,  0x1.50ea3497605b5p-8, -0x1.0110cfd66bd22p-9, 0x1.19e6b726893d0p-11,
    -0x1.890e58e18ff08p-14, 0x1.04a3628aee536p-17};
// (asin(s)/s - 1) / s^2 in s^2 for |s| <= 1/2: 2^-25.7 and 2^-58 of asin(s)/s.
constexpr double kArcSineSingle[] = {0x1.55555d0c60135p-3, 0x1.332731cf15102p-4,
                                     0x1.70a6bbf59aab0p-5, 0x1.b311d2957c591p-6,
                                     0x1.37fe1555316aep-5};
constexpr double kArcSineDouble[] = {
    0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
    0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
    0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
    0x1.d72b2bc8155f8p-6};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

SplitConstant split_constant(long double value, DType dtype) {
  const double high = dtype == DType::F32 ? static_cast<float>(value) : static_cast<double>(value);
  return {high, static_cast<double>(value - high)};
}

ScalarId log1p(ScalarBuilder& b, ScalarId x) {
  FloatBuilder f(b, b.dtype(x));
  const ScalarId one = f.value(1);
  const ScalarId sum = b.add(one, x);
  // What the sum lost, exactly: the smaller term less what of it arrived.
  const ScalarId arrived = b.select(b.lt(one, x), b.sub(sum, x), b.sub(sum, one));
  const ScalarId lost = b.sub(b.select(b.lt(one, x), one, x), arrived);
  const ScalarId y = b.add(b.unary(ScalarOp::Log, sum), b.div(lost, sum));
  // Where nothing arrives the result is x, its sign too; at the ends the logarithm says it all.
  const ScalarId tiny = b.eq(sum, one);
  const ScalarId end = b.binary(ScalarOp::Or, b.eq(sum, f.value(0)), b.eq(sum, f.value(kInfinity)));
  return b.select(tiny, x, b.select(end, b.unary(ScalarOp::Log, sum), y));
}

ScalarId expm1(ScalarBuilder& b, ScalarId x) {
  FloatBuilder f(b, b.dtype(x));
  // Below, the result is -1 anyway; above, infinite.
  const ScalarId bounded =
      f.single() ? f.at_least(f.at_most(x, 89), -20) : f.at_least(f.at_most(x, 710), -40);
  const Exponential e = split_exp(f, bounded);
  const ScalarId small = small_expm1(f, e.rest);
  // 2^n (e^r - 1) + (2^n - 1), halved on the way: 2^n itself may overflow.
  const ScalarId half = f.power_of_two(b.sub(e.exponent, f.integer(1)));
  const ScalarId y = b.fma(half, small, b.sub(half, f.value(0.5)));
  // Where n is 0 the rest is x, and halving it could lose a denormal's last bit.
  return b.select(b.eq(e.exponent, f.integer(0)), b.select(b.eq(x, f.value(0)), x, small),
                  b.add(y, y));
}

ScalarId log_add_exp(ScalarBuilder& b, ScalarId x, ScalarId y) {
  FloatBuilder f(b, b.dtype(x));
  const ScalarId larger = b.binary(ScalarOp::Max, x, y);
  // Equal infinities differ by NaN, and by nothing.
  const ScalarId apart = b.select(b.eq(x, y), f.value(0), b.unary(ScalarOp::Abs, b.sub(x, y)));
  const ScalarId smaller = b.unary(ScalarOp::Exp, b.unary(ScalarOp::Neg, apart));
  return b.add(larger, log1p(b, smaller));
}

ScalarId half_exp(ScalarBuilder& b, ScalarId x) {
  FloatBuilder f(b, b.dtype(x));
  const Exponential e = split_exp(f, f.at_most(b.unary(ScalarOp::Abs, x), f.single() ? 91 : 712));
  return f.scaled(small_exp(f, e.rest), b.sub(e.exponent, f.integer(1)));
}

ScalarId log_to_base(ScalarBuilder& b, ScalarId x, long double per_octave, long double scale) {
  FloatBuilder f(b, b.dtype(x));
  const Logarithm parts = split_log(f, x);
  const SplitConstant octave = split_constant(per_octave, f.dtype);
  const SplitConstant factor = split_constant(scale, f.dtype);
  // exponent * octave + (fraction + rest) * factor, the small terms first.
  const ScalarId low = f.fma(parts.fraction, factor.low, b.mul(parts.rest, f.value(factor.high)));
  const ScalarId tail = f.fma(parts.exponent, octave.low, low);
  const ScalarId sum = f.fma(parts.fraction, factor.high, tail);
  return with_log_edges(f, x, f.fma(parts.exponent, octave.high, sum));
}

ScalarId arc_tangent(ScalarBuilder& b, ScalarId numerator, ScalarId denominator) {
  FloatBuilder f(b, b.dtype(numerator));
  const ScalarId steep = b.lt(denominator, numerator);
  const ScalarId smaller = b.binary(ScalarOp::Min, numerator, denominator);
  const ScalarId larger = b.binary(ScalarOp::Max, numerator, denominator);
  ScalarId ratio = b.div(smaller, larger);
  ratio = b.select(b.eq(larger, f.value(0)), f.value(0), ratio);
  ratio = b.select(b.eq(smaller, f.value(kInfinity)), f.value(1), ratio);
  const ScalarId square = b.mul(ratio, ratio);
  const ScalarId p = f.single() ? f.polynomial(square, kArcTangentSingle)
                                : f.polynomial(square, kArcTangentDouble);
  const ScalarId angle = b.fma(b.mul(p, square), ratio, ratio);
  const SplitConstant right = split_constant(kHalfPi, f.dtype);
  const ScalarId rest = b.add(b.sub(f.value(right.high), angle), f.value(right.low));
  return b.select(steep, rest, angle);
}

ScalarId small_arc_sine(ScalarBuilder& b, ScalarId s, ScalarId square) {
  FloatBuilder f(b, b.dtype(s));
  const ScalarId p =
      f.single() ? f.polynomial(square, kArcSineSingle) : f.polynomial(square, kArcSineDouble);
  return b.fma(b.mul(p, square), s, s);
}

}  // namespace reprise
