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
    {"expand", expand},     {"split_pairs", split_pairs},
    {"dce", dce},           {"canonicalize", canonicalize},
    {"simplify", simplify}, {"cse", cse},
    {"dce", dce},           {"recompute", recompute},
};

constexpr KernelPass kKernelPasses[] = {
    {"legalize", legalize},
    {"expand_math", [](const Kernel& kernel, const Numerics&) { return expand_math(kernel); }},
    {"simplify_kernel",
     [](const Kernel& kernel, const Numerics&) { return simplify_kernel(kernel); }},
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

/// Runs a pass, and shows what came out if it is something else than what went in.
template <class Ir, class Pass>
Ir run_shown(const Pass& pass, const Ir& ir, const StageObserver& observer,
             std::string_view stage) {
  Ir result = pass(ir);
  if (observer && !(result == ir)) observer(stage, print(result));
  return result;
}

}  // namespace

Graph optimize(const Graph& graph, const StageObserver& observer) {
  Graph current = graph;
  show(observer, "graph", [&] { return print(current); });
  for (const GraphPass& pass : kGraphPasses) {
    current = run_shown(pass.run, current, observer, pass.name);
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
  Lowered lowered = lower(graph, fusion, target.l2_bytes);

  CompiledGraph result;
  for (size_t i = 0; i < lowered.kernels.size(); ++i) {
    Kernel kernel = std::move(lowered.kernels[i]);
    show(observer, str("kernel", i, ".lower"), [&] { return print(kernel); });
    for (const KernelPass& pass : kKernelPasses) {
      const auto run = [&](const Kernel& before) { return pass.run(before, target.numerics); };
      kernel = run_shown(run, kernel, observer, str("kernel", i, ".", pass.name));
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
