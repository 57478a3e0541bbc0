// Parts of a kernel, built until no loop is to be split any more.
#include "passes/lower_nest.h"

#include <algorithm>

namespace reprise {

Part NestLowering::build_stages(Nest nest, const BuildStages& build) {
  const KernelDraft before = draft_;
  for (;;) {
    Part part{.grid = nest.grid.loops(), .stages = {}};
    const std::vector<SplitRequest> requests = build(nest, part.stages);
    // One split at a time: it renumbers the variables the other requests name.
    const bool split = std::any_of(requests.begin(), requests.end(),
                                   [&](SplitRequest request) { return apply(nest, request); });
    if (!split) {
      merge_axes(part);
      return part;
    }
    draft_ = before;
  }
}

Part NestLowering::build_part(Nest nest, const BuildStage& build) {
  return build_stages(std::move(nest), [&](const Nest& nest, std::vector<Stage>& stages) {
    Stage& stage = stages.emplace_back();
    stage.parallel = nest.parallel.loops();
    stage.reduce = nest.reduce.loops();
    return build(nest, stage);
  });
}

std::vector<SplitRequest> NestLowering::requests_of(
    std::initializer_list<const ValueLowering*> bodies) {
  std::vector<SplitRequest> requests;
  for (const ValueLowering* body : bodies) {
    requests.insert(requests.end(), body->split_requests().begin(), body->split_requests().end());
  }
  return requests;
}

bool NestLowering::apply(Nest& nest, SplitRequest request) {
  uint32_t variable = request.variable;
  for (LoopAxes* axes : {&nest.grid, &nest.parallel, &nest.reduce}) {
    if (variable < axes->num_loops()) return axes->split(variable, request.inner);
    variable -= axes->num_loops();
  }
  return false;
}

}  // namespace reprise
