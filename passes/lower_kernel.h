// From a fusion group to a kernel: phases, grids and stages around the bodies.
#pragma once

#include "passes/graph_passes.h"
#include "passes/lower_draft.h"
#include "passes/lower_values.h"

namespace reprise {

/// The kernel of `fusion.groups[group]`. Its results have elements.
[[nodiscard]] KernelDraft lower_group(const Graph& graph, const Fusion& fusion,
                                      const StoredValues& stored, uint32_t group);

/// The dtype a reduction or contraction accumulates in; its result is cast from it.
[[nodiscard]] DType accumulator_dtype(const Node& anchor);

}  // namespace reprise
