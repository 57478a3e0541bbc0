// The magnitude of powers in f64, with a logarithm of about 100 bits between.
#pragma once

#include "ir/scalar.h"

namespace reprise {

/// `magnitude` to the power of `exponent`, both f64, the first finite and above 0, the second
/// finite: within 0.6 ulp where the target fuses multiply and add (whole results come out whole;
/// denormal ones, rounded twice, are within 0.75), else with the relative error of exponent * log in f64.
[[nodiscard]] ScalarId pow_f64(ScalarBuilder& b, ScalarId magnitude, ScalarId exponent);

}  // namespace reprise
