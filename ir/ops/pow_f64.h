// The magnitude of powers in f64, with a logarithm of about 100 bits between.
#pragma once

#include "ir/scalar.h"

namespace reprise {

/// `magnitude` to the power of `exponent`, both f64, the first finite and above 0, the second
/// finite: whole results come out whole where the target fuses multiply and add, denormal ones are
/// rounded twice (docs/ACCURACY.md); elsewhere the relative error is that of exponent * log in f64.
[[nodiscard]] ScalarId pow_f64(ScalarBuilder& b, ScalarId magnitude, ScalarId exponent);

}  // namespace reprise
