// Sin and cos: argument reduction for every magnitude, then minimax polynomials on [-pi/4, pi/4].
#include <array>
#include <cmath>

#include "ir/math_parts.h"

namespace reprise {
namespace {

// 2/pi after the binary point, 64 bits a word, behind 34 zero bits; see reduce_large_double().
constexpr uint64_t kTwoOverPi[] = {
    0x0000000028be60db, 0x9391054a7f09d5f4, 0x7d4d377036d8a566, 0x4f10e4107f9458ea,
    0xf7aef1586dc91b8e, 0x909374b801924bba, 0x827464873f877ac7, 0x2c4a69cfba208d7d,
    0x4baed1213a671c09, 0xad17df904e64758e, 0x60d4ce7d272117e2, 0xef7e4a0ec7fe25ff,
    0xf7816603fbcbc462, 0xd6829b47db4d9fb3, 0xc9f2c26dd3d18fd9, 0xa797fa8b5d49eeb1,
    0xfaf97c5ecf41ce7d, 0xe294a4ba9afed7ec, 0x47e357421580cc11};
static_assert(std::size(kTwoOverPi) == 19);

// pi/2 in two doubles, and again in three of which the first two leave room for a factor of 20
// bits.
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
constexpr double kHalfPi1 = 0x1.921fb544p+0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;

// (sin(r)/r - 1) / r^2 and (cos(r) - 1 + r^2/2) / r^4, both in r^2, for |r| <= pi/4. The short ones
// give 2^-47 and 2^-43, enough for a result in f32; the long ones 2^-58 and 2^-64.
constexpr double kSinShort[] = {-0x1.55555555521b5p-3, 0x1.1111110c7dd4fp-7, -0x1.a019f92c6e8b0p-13,
                                0x1.71d76619a79ccp-19, -0x1.a95f10c4a3bd9p-26};
constexpr double kCosShort[] = {0x1.5555554ecbf86p-5, -0x1.6c16b81ba1bcfp-10, 0x1.a010d557e8306p-16,
                                -0x1.241ca9808ec48p-22};
constexpr double kSinLong[] = {-0x1.5555555555548p-3,  0x1.111111110f730p-7,
                               -0x1.a01a019be921cp-13, 0x1.71de35552bd9fp-19,
                               -0x1.ae5e4b8475dfcp-26, 0x1.5d8b55c712a2cp-33};
constexpr double kCosLong[] = {0x1.555555555554bp-5,  -0x1.6c16c16c15005p-10,
                               0x1.a01a019c8c7d6p-16, -0x1.27e4f7ef0d5bep-22,
                               0x1.1ee9d9c689a02p-29, -0x1.8fa553889d04ap-37};

/// argument = quadrant * pi/2 + high + low, |high| <= pi/4; the quadrant's low two bits count.
struct Reduced {
  ScalarId high, low;
  ScalarId quadrant;  ///< i64
};

Reduced choose(ScalarBuilder& b, ScalarId condition, const Reduced& yes, const Reduced& no) {
  return {b.select(condition, yes.high, no.high), b.select(condition, yes.low, no.low),
          b.select(condition, yes.quadrant, no.quadrant)};
}

/// For |x| below 2^20: n * kHalfPi1 and n * kHalfPi2 are exact, with or without a fused
/// multiply-add.
Reduced reduce_small(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const ScalarId sum = f.fma(x, f.value(0x1.45f306dc9c883p-1), f.rounder());
  const ScalarId n = b.sub(sum, f.value(f.rounder()));
  const ScalarId first = f.fma(n, -kHalfPi1, x);
  const ScalarId product = b.mul(n, f.value(kHalfPi2));
  const ScalarId second = b.sub(first, product);
  const ScalarId lost = b.sub(b.sub(first, second), product);
  const ScalarId rest = f.fma(n, -kHalfPi3, lost);
  const ScalarId high = b.add(second, rest);
  return {high, b.add(b.sub(second, high), rest), b.bitcast(sum, DType::I64)};
}

/// Turns a fixed-point fraction (sign apart) into multiples of pi/2 and applies the signs.
Reduced scale_fraction(FloatBuilder& f, ScalarId upper, ScalarId lower, ScalarId negative_fraction,
                       ScalarId negative, ScalarId quadrant) {
  ScalarBuilder& b = f.b;
  const ScalarId sum = b.add(upper, lower);
  const ScalarId rest = b.sub(lower, b.sub(sum, upper));
  const ScalarId product = b.mul(sum, f.value(kHalfPi));
  const ScalarId error = b.fma(sum, f.value(kHalfPi), b.unary(ScalarOp::Neg, product));
  const ScalarId low = f.fma(sum, kHalfPiRest, f.fma(rest, kHalfPi, error));
  const ScalarId flip = b.binary(ScalarOp::Xor, negative_fraction, negative);
  return {b.select(flip, b.unary(ScalarOp::Neg, product), product),
          b.select(flip, b.unary(ScalarOp::Neg, low), low),
          b.select(negative, b.unary(ScalarOp::Neg, quadrant), quadrant)};
}

/// Payne and Hanek: |x| = M * 2^e times those bits of 2/pi that matter modulo 4, in integers. With
/// E the biased exponent of the double, bit E - 1043 of the table is where they begin, two bits
/// before the binary point of the product.
Reduced reduce_large_double(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const auto u = [&](uint64_t v) { return b.constant_bits(v, DType::U64); };
  const auto shl = [&](ScalarId v, ScalarId by) { return b.binary(ScalarOp::Shl, v, by); };
  const auto shr = [&](ScalarId v, ScalarId by) { return b.binary(ScalarOp::Shr, v, by); };
  const auto both = [&](ScalarId v, ScalarId w) { return b.binary(ScalarOp::And, v, w); };
  const auto either = [&](ScalarId v, ScalarId w) { return b.binary(ScalarOp::Or, v, w); };
  const ScalarId bits = b.bitcast(x, DType::U64);
  const ScalarId exponent = both(shr(bits, u(52)), u(0x7ff));
  const ScalarId mantissa = either(both(bits, u((uint64_t{1} << 52) - 1)), u(uint64_t{1} << 52));
  const ScalarId begin = b.sub(exponent, u(1043));
  // Word begin/64 and the three after it, by halving the table bit by bit of that number.
  std::array<ScalarId, 19> words;
  for (size_t i = 0; i < 19; ++i) words[i] = u(kTwoOverPi[i]);
  size_t count = 19;
  for (const size_t step : {8, 4, 2, 1}) {
    const ScalarId chosen = b.binary(ScalarOp::Ne, both(begin, u(64 * step)), u(0));
    count -= step;
    for (size_t i = 0; i < count; ++i) words[i] = b.select(chosen, words[i + step], words[i]);
  }
  const ScalarId left = both(begin, u(63));
  const ScalarId right = b.sub(u(64), left);
  std::array<ScalarId, 3> window;
  for (size_t i = 0; i < 3; ++i) window[i] = either(shl(words[i], left), shr(words[i + 1], right));
  // The product modulo 2^128; what the third word adds below that is dropped.
  const ScalarId partial = b.mul(mantissa, window[1]);
  const ScalarId low = b.add(partial, b.binary(ScalarOp::MulHigh, mantissa, window[2]));
  const ScalarId carry = b.cast(b.lt(low, partial), DType::U64);
  const ScalarId high = b.add(
      b.add(b.mul(mantissa, window[0]), b.binary(ScalarOp::MulHigh, mantissa, window[1])), carry);
  const ScalarId quadrant = shr(b.add(high, u(uint64_t{1} << 61)), u(62));
  const ScalarId fraction_high = either(shl(high, u(2)), shr(low, u(62)));
  const ScalarId fraction_low = shl(low, u(2));
  const ScalarId negative_fraction = b.binary(ScalarOp::Ne, shr(fraction_high, u(63)), u(0));
  const ScalarId negated_low = b.unary(ScalarOp::Neg, fraction_low);
  const ScalarId borrow = b.cast(b.binary(ScalarOp::Ne, fraction_low, u(0)), DType::U64);
  const ScalarId negated_high = b.sub(b.unary(ScalarOp::Neg, fraction_high), borrow);
  const ScalarId magnitude_high = b.select(negative_fraction, negated_high, fraction_high);
  const ScalarId magnitude_low = b.select(negative_fraction, negated_low, fraction_low);
  const ScalarId upper = b.mul(b.cast(shr(magnitude_high, u(32)), DType::F64), f.value(0x1p-32));
  const ScalarId middle = either(shl(magnitude_high, u(32)), shr(magnitude_low, u(32)));
  // Arguments within 2^-60 of a multiple of pi/2 have nothing but this.
  const ScalarId last = b.cast(both(magnitude_low, u(0xffffffff)), DType::F64);
  const ScalarId lower = f.fma(last, 0x1p-128, b.mul(b.cast(middle, DType::F64), f.value(0x1p-96)));
  return scale_fraction(f, upper, lower, negative_fraction, b.lt(x, f.value(0)),
                        b.bitcast(quadrant, DType::I64));
}

/// The same for a double that holds an f32 of 2^17 or more: 24 bits of it, 96 bits of 2/pi.
Reduced reduce_large_single(FloatBuilder& f, ScalarId x) {
  ScalarBuilder& b = f.b;
  const auto u = [&](uint64_t v) { return b.constant_bits(v, DType::U64); };
  const auto shl = [&](ScalarId v, ScalarId by) { return b.binary(ScalarOp::Shl, v, by); };
  const auto shr = [&](ScalarId v, ScalarId by) { return b.binary(ScalarOp::Shr, v, by); };
  const auto both = [&](ScalarId v, ScalarId w) { return b.binary(ScalarOp::And, v, w); };
  const auto either = [&](ScalarId v, ScalarId w) { return b.binary(ScalarOp::Or, v, w); };
  const ScalarId bits = b.bitcast(x, DType::U64);
  const ScalarId exponent = both(shr(bits, u(52)), u(0x7ff));
  const ScalarId mantissa = either(both(shr(bits, u(29)), u(0x7fffff)), u(0x800000));
  // x = mantissa * 2^(exponent - 1046). The table's 34 zeros and the two bits before the binary
  // point of a 64-bit window put its beginning at bit exponent - 1046 - 2 + 34.
  const ScalarId begin = b.sub(exponent, u(1014));
  const ScalarId second = b.binary(ScalarOp::Ne, both(begin, u(64)), u(0));
  const ScalarId third = b.binary(ScalarOp::Ne, both(begin, u(128)), u(0));
  std::array<ScalarId, 3> words;
  for (size_t i = 0; i < 3; ++i) {
    const ScalarId low = b.select(second, u(kTwoOverPi[i + 1]), u(kTwoOverPi[i]));
    words[i] = b.select(third, u(kTwoOverPi[i + 2]), low);
  }
  const ScalarId left = both(begin, u(63));
  const ScalarId right = b.sub(u(64), left);
  const ScalarId window = either(shl(words[0], left), shr(words[1], right));
  const ScalarId next = either(shl(words[1], left), shr(words[2], right));
  const ScalarId product =
      b.add(b.mul(mantissa, window), shr(b.mul(mantissa, shr(next, u(32))), u(32)));
  const ScalarId quadrant = shr(b.add(product, u(uint64_t{1} << 61)), u(62));
  const ScalarId fraction = b.bitcast(shl(product, u(2)), DType::I64);
  const ScalarId high = b.mul(b.cast(fraction, DType::F64), f.value(kHalfPi * 0x1p-64));
  const ScalarId negative = b.lt(x, f.value(0));
  const ScalarId signed_quadrant = b.bitcast(quadrant, DType::I64);
  return {b.select(negative, b.unary(ScalarOp::Neg, high), high), f.value(0),
          b.select(negative, b.unary(ScalarOp::Neg, signed_quadrant), signed_quadrant)};
}

}  // namespace

ScalarId expand_trigonometric(ScalarBuilder& b, ScalarOp op, ScalarId argument) {
  // In double precision throughout, also for f32, whose result then needs one rounding.
  const bool single = b.dtype(argument) == DType::F32;
  FloatBuilder f(b, DType::F64);
  const ScalarId x = b.cast(argument, DType::F64);
  const ScalarId magnitude = b.unary(ScalarOp::Abs, x);
  const Reduced far = single ? reduce_large_single(f, x) : reduce_large_double(f, x);
  const Reduced r =
      choose(b, b.lt(magnitude, f.value(single ? 0x1p17 : 0x1p20)), reduce_small(f, x), far);
  const ScalarId z = b.mul(r.high, r.high);
  ScalarId sine;
  ScalarId cosine;
  if (single) {
    sine = b.mul(f.fma(z, f.polynomial(z, kSinShort), 1), r.high);
    cosine = b.fma(f.polynomial(z, kCosShort), b.mul(z, z), f.fma(z, f.value(-0.5), 1));
  } else {
    // sin(h + l) = h + (h^3 P + l cos h), cos(h + l) = 1 - z/2 + (z^2 Q - h l), the small parts
    // first.
    const ScalarId half = b.mul(z, f.value(0.5));
    const ScalarId tilt = b.sub(r.low, b.mul(half, r.low));
    const ScalarId cube = b.mul(z, r.high);
    sine = b.add(r.high, b.fma(cube, f.polynomial(z, kSinLong), tilt));
    const ScalarId most = b.sub(f.value(1), half);
    const ScalarId lost = b.sub(b.sub(f.value(1), most), half);
    const ScalarId tail =
        b.fma(f.polynomial(z, kCosLong), b.mul(z, z), b.unary(ScalarOp::Neg, b.mul(r.high, r.low)));
    cosine = b.add(most, b.add(lost, tail));
  }
  const auto bit = [&](ScalarId quadrant, int64_t mask) {
    const ScalarId chosen = b.binary(ScalarOp::And, quadrant, b.integer(mask, DType::I64));
    return b.binary(ScalarOp::Ne, chosen, b.integer(0, DType::I64));
  };
  const ScalarId quadrant =
      op == ScalarOp::Sin ? r.quadrant : b.add(r.quadrant, b.integer(1, DType::I64));
  const ScalarId value = b.select(bit(quadrant, 1), cosine, sine);
  ScalarId y = b.select(bit(quadrant, 2), b.unary(ScalarOp::Neg, value), value);
  // Infinity and NaN give NaN; a zero keeps its sign.
  const ScalarId finite = b.lt(magnitude, f.value(HUGE_VAL));
  y = b.select(finite, y, b.sub(x, x));
  if (op == ScalarOp::Sin) y = b.select(b.eq(x, f.value(0)), x, y);
  return b.cast(y, b.dtype(argument));
}

}  // namespace reprise
