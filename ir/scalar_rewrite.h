// Rewrites of a scalar body that the interpreters and the kernel passes share.
#pragma once

#include <vector>

#include "ir/scalar.h"

namespace reprise {

/// Where each instruction of the old body went. Stores map to an invalid id.
using ScalarMap = std::vector<ScalarId>;

/// Computes f16 and bf16 arithmetic in f32, rounding after every op. What is left of the half types
/// are loads, stores, constants, parameters, selects, bitcasts, and casts between f32 and a half
/// type. Casts from f64 and from 64-bit integers still round once.
[[nodiscard]] Body widen_halves(const Body& body, ScalarMap* map = nullptr);

/// Replaces Exp, Log, Tanh, Erf, Sin and Cos of f32 and f64 by the polynomials of ir/math.h.
[[nodiscard]] Body expand_math(const Body& body, ScalarMap* map = nullptr);

/// Copies `instr` of `from` into `builder`, its arguments and its access renumbered through `map`.
ScalarId copy_instr(ScalarBuilder& builder, const Body& from, const Instr& instr,
                    const ScalarMap& map);

}  // namespace reprise
