// Passes over one kernel, in the order the pipeline runs them.
#pragma once

#include "ir/kernel.h"
#include "ir/target.h"

namespace reprise {

/// Widens arithmetic on f16 and bf16 to f32 with a rounding cast after every op, so that fused and
/// separate kernels give the same bits. Casts, loads, stores and selects stay, and so do products
/// of bf16 in a contraction where the target has an instruction for pairs of them.
[[nodiscard]] Kernel legalize(const Kernel& kernel, const Numerics& numerics);
/// Replaces Exp, Log, Tanh, Erf, Sin, Cos by the polynomials of ir/math.h.
[[nodiscard]] Kernel expand_math(const Kernel& kernel);
/// Folds exact integer and bool constants, merges equal instructions, drops dead ones.
[[nodiscard]] Kernel simplify_kernel(const Kernel& kernel);

}  // namespace reprise
