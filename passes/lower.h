// From a fused graph to kernels and the plan that launches them.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/plan.h"
#include "ir/target.h"
#include "passes/graph_passes.h"

namespace reprise {

struct Lowered {
  std::vector<Kernel> kernels;  ///< equal kernels are merged
  Plan plan;                    ///< slots, launches, aliases, donations; arena offsets still 0
};

/// Index maps of movement ops are composed into affine accesses (loop axes are split where a
/// reshape needs it, merged where every access allows it); long reductions are split into blocks.
/// Groups over the same rows become stages of one kernel, independent ones parts of one launch.
/// Outputs that are inputs or movements of stored values become aliases, without a launch, where
/// strides can express them. `cache_bytes`: of the cache that one thread has to itself; it decides
/// how large blocks of a kernel are, so belongs to what a plan is compiled for.
[[nodiscard]] Lowered lower(const Graph& graph, const Fusion& fusion,
                            int64_t cache_bytes = TargetInfo().l2_bytes);

}  // namespace reprise
