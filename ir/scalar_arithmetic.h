// The arithmetic of every scalar operation over arrays of lanes.
#pragma once

#include "ir/scalar.h"
#include "ir/target.h"

namespace reprise {

/// Applies one of Neg .. Fma (not CheckIndex) to `lanes` packed elements. `dtype` is the result's,
/// `operand` that of args[0] (of args[1] for Select). `out` must not overlap the arguments.
void evaluate_lanes(ScalarOp op, DType dtype, DType operand, const void* const args[3], void* out,
                    int lanes, const Numerics& numerics);

/// Casts `lanes` packed elements.
void convert_lanes(DType from, DType to, const void* in, void* out, int lanes);

}  // namespace reprise
