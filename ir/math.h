// Transcendental functions as scalar arithmetic: one definition for every backend and interpreter.
#pragma once

#include "ir/scalar.h"

namespace reprise {

/// Appends the expansion of Exp, Log, Tanh, Erf, Sin or Cos of `argument` (f32 or f64) and returns
/// the result. Only exact operations, Fma and one division, so that a target's bits follow from its
/// Numerics. The errors stand in docs/ACCURACY.md.
[[nodiscard]] ScalarId expand_math(ScalarBuilder& builder, ScalarOp op, ScalarId argument);

}  // namespace reprise
