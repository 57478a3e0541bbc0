// What the logarithm of the gamma function and its derivatives share. All of it is arithmetic in
// f64, of narrower floats too: near the zeros on the negative side nothing else has digits left.
#pragma once

#include "ir/math_parts.h"

namespace reprise {

/// An argument x as these functions look at it.
struct GammaArgument {
  GammaArgument(ScalarBuilder& b, ScalarId x);

  FloatBuilder f;
  ScalarId x;
  ScalarId magnitude;
  ScalarId negative;  ///< x < 0
  ScalarId off;       ///< |x| less the nearest integer, exact: in [-1/2, 1/2]
  ScalarId pole;      ///< negative, and an integer
};

/// sin(pi t) / (pi t) for |t| <= 1/2.
[[nodiscard]] ScalarId sine_ratio(FloatBuilder& f, ScalarId t);
/// pi cot(pi t) for |t| <= 1/2.
[[nodiscard]] ScalarId pi_cotangent(FloatBuilder& f, ScalarId t);

}  // namespace reprise
