// Floored division of floats, shared by floor_divide and remainder.
#pragma once

#include "ir/scalar.h"

namespace reprise {

struct FlooredDivision {
  ScalarId quotient;
  ScalarId remainder;
};

/// Python's rule: the remainder has the divisor's sign, quotient * divisor + remainder = dividend.
[[nodiscard]] FlooredDivision floored_division(ScalarBuilder& b, ScalarId dividend,
                                               ScalarId divisor);

}  // namespace reprise
