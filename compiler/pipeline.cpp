// The order of passes.
#include "compiler/pipeline.h"

#include "compiler/schedule.h"
#include "ir/error.h"
#include "passes/graph_passes.h"
#include "passes/kernel_passes.h"
#include "passes/lower.h"

namespace reprise {

namespace {

constexpr GraphPass kGraphPasses[] = {
    {"dce", dce}, {"canonicalize", canonicalize}, {"simplify", simplify}, {"cse", cse},
    {"dce", dce},
};

constexpr KernelPass kKernelPasses[] = {
    {"legalize", legalize},
    {"expand_math", expand_math},
    {"simplify_kernel", simplify_kernel},
};

}  // namespace

std::span<const GraphPass> graph_passes() {
  return kGraphPasses;
}

std::span<const KernelPass> kernel_passes() {
  return kKernelPasses;
}

namespace {

/// Shows stages only to somebody who looks: printing is not free.
template <class Text>
void show(const StageObserver& observer, std::string_view stage, const Text& text) {
  if (observer) observer(stage, text());
}

}  // namespace

Graph optimize(const Graph& graph, const StageObserver& observer) {
  Graph current = graph;
  show(observer, "graph", [&] { return print(current); });
  for (const GraphPass& pass : kGraphPasses) {
    current = pass.run(current);
    show(observer, pass.name, [&] { return print(current); });
  }
  return current;
}

CompiledGraph compile(const Graph& graph, const TargetInfo& target, const CompileOptions& options,
                      const StageObserver& observer) {
  return compile_optimized(optimize(graph, observer), target, options, observer);
}

CompiledGraph compile_optimized(const Graph& graph, const TargetInfo& target, const CompileOptions&,
                                const StageObserver& observer) {
  const Fusion fusion = fuse(graph);
  show(observer, "fuse", [&] { return print(fusion, graph); });
  Lowered lowered = lower(graph, fusion);

  CompiledGraph result;
  for (size_t i = 0; i < lowered.kernels.size(); ++i) {
    Kernel kernel = std::move(lowered.kernels[i]);
    show(observer, str("kernel", i, ".lower"), [&] { return print(kernel); });
    for (const KernelPass& pass : kKernelPasses) {
      kernel = pass.run(kernel);
      show(observer, str("kernel", i, ".", pass.name), [&] { return print(kernel); });
    }
    Schedule schedule = choose_schedule(kernel, target);
    show(observer, str("kernel", i, ".schedule"), [&] { return print(schedule); });
    result.kernels.push_back(std::move(kernel));
    result.schedules.push_back(std::move(schedule));
  }
  result.plan = plan_memory(lowered.plan);
  show(observer, "plan", [&] { return print(result.plan); });
  return result;
}

}  // namespace reprise
