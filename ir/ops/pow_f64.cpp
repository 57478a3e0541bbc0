// The magnitude of powers in f64: exp(y log x) with both halves of the logarithm.
//
// A relative error of 2^-53 in y log x would be one of 700 * 2^-53 in the result. So values are
// pairs of a rounded value and what the rounding lost, which the fused product gives exactly.
#include "ir/ops/pow_f64.h"

#include <bit>
#include <cmath>

namespace reprise {
namespace {

// ln 2 with 11 zero bits at the end, so that its product with an exponent is exact, and the rest.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kLog2E = 0x1.71547652b82fep+0;

struct Pair {
  ScalarId high;
  ScalarId low;
};

class PowBuilder {
 public:
  explicit PowBuilder(ScalarBuilder& b) : b_(b) {}

  /// x = 2^k m with m in [sqrt(1/2), sqrt(2)): k log 2 + 2 atanh((m - 1) / (m + 1)).
  Pair log(ScalarId x) {
    const ScalarId tiny = b_.lt(x, number(0x1p-1022));
    const ScalarId scaled = b_.select(tiny, b_.mul(x, number(0x1p54)), x);
    const ScalarId bits = b_.bitcast(scaled, DType::I64);
    const ScalarId above = b_.sub(bits, integer(std::bit_cast<int64_t>(M_SQRT1_2)));
    const ScalarId exponent = b_.binary(ScalarOp::Shr, above, integer(52));
    const ScalarId m =
        b_.bitcast(b_.sub(bits, b_.binary(ScalarOp::Shl, exponent, integer(52))), DType::F64);
    const ScalarId k =
        b_.sub(b_.cast(exponent, DType::F64), b_.select(tiny, number(54), number(0)));

    const Pair h = half_log(m);
    const ScalarId whole = b_.mul(k, number(kLn2High));
    const ScalarId fraction = b_.add(h.high, h.high);
    const ScalarId high = b_.add(whole, fraction);
    const ScalarId lost = b_.sub(fraction, b_.sub(high, whole));
    const ScalarId low = b_.fma(k, number(kLn2Low), b_.add(h.low, h.low));
    return {high, b_.add(lost, low)};
  }

  /// exp(high + low) by 2^n exp(r), |r| below ln(2) / 2.
  ScalarId exp(Pair x) {
    const ScalarId n = b_.unary(ScalarOp::Round, b_.mul(x.high, number(kLog2E)));
    const ScalarId minus_n = b_.unary(ScalarOp::Neg, n);
    const ScalarId r_high = b_.fma(minus_n, number(kLn2High), x.high);
    const ScalarId r_low = b_.fma(minus_n, number(kLn2Low), x.low);
    const ScalarId r = b_.add(r_high, r_low);
    const ScalarId r_lost = b_.sub(r_low, b_.sub(r, r_high));
    // The series from r^2 on; 1 + r is added as a pair.
    double factorial = 87178291200;  // 14!
    ScalarId series = number(1 / factorial);
    for (int i = 14; i > 2; --i) {
      factorial /= i;
      series = b_.fma(series, r, number(1 / factorial));
    }
    const ScalarId one_and_r = b_.add(number(1), r);
    const ScalarId lost = b_.add(b_.sub(r, b_.sub(one_and_r, number(1))), r_lost);
    const ScalarId value = b_.add(one_and_r, b_.fma(b_.mul(r, r), series, lost));
    // In two factors: 2^n itself may not be a number where the result is.
    const ScalarId whole = b_.cast(n, DType::I64);
    const ScalarId first = b_.binary(ScalarOp::Shr, whole, integer(1));
    return b_.mul(b_.mul(value, power_of_two(first)), power_of_two(b_.sub(whole, first)));
  }

  ScalarId number(double value) { return b_.constant(value, DType::F64); }

 private:
  ScalarId integer(int64_t value) { return b_.integer(value, DType::I64); }

  ScalarId power_of_two(ScalarId n) {
    const ScalarId biased = b_.add(n, integer(1023));
    return b_.bitcast(b_.binary(ScalarOp::Shl, biased, integer(52)), DType::F64);
  }

  /// atanh(s) = s + s^3/3 + s^5/5 + .., s = (m - 1) / (m + 1), |s| below 0.172.
  Pair half_log(ScalarId m) {
    const ScalarId one = number(1);
    const ScalarId below = b_.sub(m, one);  // exact
    const ScalarId above = b_.add(m, one);
    const ScalarId from_one = b_.sub(above, m);
    const ScalarId above_lost = b_.add(b_.sub(m, b_.sub(above, from_one)), b_.sub(one, from_one));
    const ScalarId s = b_.div(below, above);
    const ScalarId minus_s = b_.unary(ScalarOp::Neg, s);
    const ScalarId rest = b_.fma(minus_s, above_lost, b_.fma(minus_s, above, below));
    const ScalarId s_low = b_.div(rest, above);

    const ScalarId z = product(s, s).high;
    const ScalarId z_low = b_.fma(b_.add(s, s), s_low, product(s, s).low);
    // z/3 + z^2 (1/5 + z/7 + ..) as a pair, its parts too: of the second, a rounding of one value
    // would count y log x * 2^-13 times. What follows 1/5 is small enough.
    constexpr double kThird = 1.0 / 3, kThirdLow = 0x1.5555555555555p-56;
    constexpr double kFifth = 1.0 / 5, kFifthLow = -0x1.999999999999ap-57;
    ScalarId series = number(1.0 / 27);
    for (int odd = 25; odd >= 7; odd -= 2) series = b_.fma(series, z, number(1.0 / odd));
    const Pair from_fifth = sum(number(kFifth), b_.mul(series, z));
    const Pair fifths =
        times({from_fifth.high, b_.add(from_fifth.low, number(kFifthLow))}, {z, z_low});
    const Pair third = times({number(kThird), number(kThirdLow)}, {z, z_low});
    const Pair fourth = times(fifths, {z, z_low});
    const Pair both = sum(third.high, fourth.high);
    const ScalarId both_low = b_.add(both.low, b_.add(third.low, fourth.low));
    const Pair cubic = times({both.high, both_low}, {s, s_low});
    const Pair all = sum(s, cubic.high);
    return {all.high, b_.add(all.low, b_.add(cubic.low, s_low))};
  }

  /// a + c with what the rounding loses, |a| above |c|.
  Pair sum(ScalarId a, ScalarId c) {
    const ScalarId high = b_.add(a, c);
    return {high, b_.sub(c, b_.sub(high, a))};
  }

  Pair times(Pair a, Pair c) {
    const Pair high = product(a.high, c.high);
    return {high.high, b_.fma(a.high, c.low, b_.fma(a.low, c.high, high.low))};
  }

  Pair product(ScalarId a, ScalarId c) {
    const ScalarId high = b_.mul(a, c);
    return {high, b_.fma(a, c, b_.unary(ScalarOp::Neg, high))};
  }

  ScalarBuilder& b_;
};

}  // namespace

ScalarId pow_f64(ScalarBuilder& b, ScalarId magnitude, ScalarId exponent) {
  PowBuilder p(b);
  const Pair log = p.log(magnitude);
  const ScalarId product = b.mul(exponent, log.high);
  const ScalarId lost = b.fma(exponent, log.high, b.unary(ScalarOp::Neg, product));
  // Past 800 the result is infinite or 0 either way, and 2^n still a pair of numbers.
  const ScalarId bound = p.number(800);
  const ScalarId high =
      b.binary(ScalarOp::Max, b.binary(ScalarOp::Min, product, bound), p.number(-800));
  const ScalarId low = b.select(b.eq(high, product), b.fma(exponent, log.low, lost), p.number(0));
  return p.exp({high, low});
}

}  // namespace reprise
