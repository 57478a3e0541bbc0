// A compiled trace: the plan, its loaded kernels, and how both refer back to the trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/builder.h"
#include "ir/plan.h"
#include "runtime/device.h"
#include "runtime/launch_times.h"
#include "runtime/trace.h"

namespace reprise {

/// What one optimized graph compiles to, its kernels loaded. Shared by every trace and frozen step
/// that comes to this graph.
struct LoadedPlan {
  Device* device = nullptr;      ///< where what no transfer brings elsewhere is computed
  std::vector<Device*> devices;  ///< by the plan's number
  Plan plan;
  /// Neighbouring launches of one device, or a transfer where `program` is null.
  struct Step {
    std::unique_ptr<DeviceProgram> program;
    uint32_t transfer = 0;
  };
  std::vector<Step> steps;
  size_t kernels = 0;             ///< different ones
  std::vector<TensorType> types;  ///< of the outputs
  std::vector<Device*> output_devices;
  size_t results = 0;  ///< outputs, and memory that they are views of
  /// Bytes, of the outputs: row-major, or as an alias lies in its slot.
  std::vector<std::array<int64_t, kMaxDims>> strides;
  std::shared_ptr<LaunchTimes> times;  ///< null unless REPRISE_LOG asked for it
};

/// A trace's plan, and how it refers back to the trace.
struct PlanEntry {
  struct Input {
    uint32_t leaf = 0;
    int64_t shift = 0;            ///< bytes from the leaf's element 0 to the address a launch gets
    std::vector<uint32_t> users;  ///< trace numbers of the nodes that use it, one per use
  };
  std::shared_ptr<const LoadedPlan> loaded;
  std::vector<Input> inputs;         ///< by plan input
  std::vector<uint32_t> parameters;  ///< leaf number, by plan parameter
  std::vector<uint32_t> outputs;     ///< trace number, by plan output
};

/// Host memory that a cached entry takes, roughly. What it shares with other caches counts there.
[[nodiscard]] size_t bytes_of(std::span<const uint64_t> key, const PlanEntry& entry);
[[nodiscard]] size_t bytes_of(std::span<const uint64_t> key, const LoadedPlan& plan);

/// A trace and what is asked of it, as a graph: the input of the compiler.
struct TraceGraph {
  Graph graph;
  std::vector<PlanEntry::Input> inputs;
  std::vector<uint32_t> parameters;
  std::vector<uint32_t> outputs;
};

/// Builds the graph that computes `wanted` (trace numbers) and stores, among what that needs, the
/// nodes in `kept` (ascending trace numbers). Outputs come in ascending trace order.
[[nodiscard]] TraceGraph build_graph(const Trace& trace, const Slab<LiveNode>& nodes,
                                     std::span<const uint32_t> wanted,
                                     std::span<const uint32_t> kept);

/// An input of a graph whose elements lie as `strides` says (bytes, by axis; negative ones too).
/// `shift` becomes the bytes from element 0 to the lowest address, which a launch gets.
[[nodiscard]] Value add_input(GraphBuilder& builder, const TensorType& type, uint32_t index,
                              std::span<const int64_t> strides, int64_t* shift);

}  // namespace reprise
