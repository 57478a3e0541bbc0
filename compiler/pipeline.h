// From a graph to something that can be launched: the order of passes, each stage visible.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/backend.h"
#include "ir/graph.h"
#include "ir/plan.h"
#include "ir/target.h"

namespace reprise {

struct CompileOptions {
  bool fast_math = false;  ///< reserved; part of every key
  friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

/// A pass by the name that dumps, text cases and `reprise opt` use.
struct GraphPass {
  std::string_view name;
  Graph (*run)(const Graph&);
};
struct KernelPass {
  std::string_view name;
  Kernel (*run)(const Kernel&, const Numerics&);
};
/// In the order `compile` runs them; a name may occur twice.
[[nodiscard]] std::span<const GraphPass> graph_passes();
[[nodiscard]] std::span<const KernelPass> kernel_passes();

struct CompiledGraph {
  Plan plan;
  std::vector<Kernel> kernels;  ///< legal
  std::vector<Schedule> schedules;
};

/// Called after every stage with its name and text, and after every pass that changed something;
/// null: nobody looks.
using StageObserver = std::function<void(std::string_view stage, std::string_view text)>;

/// The graph passes alone: graphs that mean the same come out the same more often than not.
[[nodiscard]] Graph optimize(const Graph& graph, const StageObserver& observer = {});
/// Fusion, lowering, kernel passes, schedules, memory planning of an optimized graph. No code yet.
[[nodiscard]] CompiledGraph compile_optimized(const Graph& graph, const TargetInfo& target,
                                              const CompileOptions& options,
                                              const StageObserver& observer = {});
/// Both.
[[nodiscard]] CompiledGraph compile(const Graph& graph, const TargetInfo& target,
                                    const CompileOptions& options,
                                    const StageObserver& observer = {});

/// Assigns arena offsets by lifetime; sets the arenas' bytes. Offsets are multiples of 64.
[[nodiscard]] Plan plan_memory(const Plan& plan);

/// What a plan's temporaries take on its first device, in bytes.
struct ArenaUse {
  int64_t arena = 0;        ///< as planned
  int64_t alive = 0;        ///< the most that is alive during one step: no arena can be smaller
  int64_t temporaries = 0;  ///< all together, if each had memory of its own
};
[[nodiscard]] ArenaUse arena_use(const Plan& plan);

/// The code generator for CPUs, loaded when first asked for: a process that finds all its code in
/// the cache never loads LLVM. Throws DeviceError naming the file it looked for.
[[nodiscard]] const Backend& llvm_backend();
/// The code generator for Vulkan devices, loaded and failing likewise.
[[nodiscard]] const Backend& spirv_backend();

}  // namespace reprise
