// Kernels that store on their way along an axis: scans, scatters, sorting.
#pragma once

#include "passes/graph_passes.h"
#include "passes/lower_draft.h"
#include "passes/lower_values.h"

namespace reprise {

/// The kernel of group number `index`, whose anchor is_sequential.
[[nodiscard]] KernelDraft lower_sequence(const Graph& graph, const FusionGroup& group,
                                         const StoredValues& stored, uint32_t index);

}  // namespace reprise
