// Elementary functions that several ops are made of, as scalar arithmetic in f32 or f64.
#pragma once

#include "ir/math_parts.h"

namespace reprise {

/// log(1 + x) without the loss of 1 + x.
[[nodiscard]] ScalarId log1p(ScalarBuilder& b, ScalarId x);
/// e^x - 1 without the loss near 0.
[[nodiscard]] ScalarId expm1(ScalarBuilder& b, ScalarId x);
/// log(e^x + e^y) without overflow; two equal infinities give themselves.
[[nodiscard]] ScalarId log_add_exp(ScalarBuilder& b, ScalarId x, ScalarId y);
/// e^|x| / 2, which overflows no earlier than the hyperbolic functions do.
[[nodiscard]] ScalarId half_exp(ScalarBuilder& b, ScalarId x);
/// log(x) / log(base), exact for whole powers: `per_octave` is log(2) to that base, `scale` 1 /
/// ln(base).
[[nodiscard]] ScalarId log_to_base(ScalarBuilder& b, ScalarId x, long double per_octave,
                                   long double scale);
/// The arc tangent of a ratio numerator / denominator of magnitudes, in [0, pi/2]; of 0 / 0 it is
/// 0, of infinity / infinity pi/4.
[[nodiscard]] ScalarId arc_tangent(ScalarBuilder& b, ScalarId numerator, ScalarId denominator);
/// The arc sine of s in [0, 1/2], whose square is given.
[[nodiscard]] ScalarId small_arc_sine(ScalarBuilder& b, ScalarId s, ScalarId square);

/// A constant of more digits than its dtype has: `high` as the dtype has it, and the rest.
struct SplitConstant {
  double high, low;
};
[[nodiscard]] SplitConstant split_constant(long double value, DType dtype);
inline constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;

}  // namespace reprise
