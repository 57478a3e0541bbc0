// Compiling a graph with transfers: a plan whose launches are of several devices.
#pragma once

#include <functional>
#include <vector>

#include "compiler/pipeline.h"

namespace reprise {

struct PartitionedGraph {
  /// Kernels are numbered through all pieces. Outputs beyond the graph's own are memory that some
  /// of these are views of.
  Plan plan;
  std::vector<uint32_t> devices;  ///< by the plan's number of a device: the graph's
  struct Piece {
    uint32_t device = 0;     ///< the graph's number
    CompiledGraph compiled;  ///< its plan is part of the whole one
  };
  std::vector<Piece> pieces;
};

/// `output_devices`: the graph's number of the device that each output is to be on; `target` of
/// each device.
[[nodiscard]] PartitionedGraph compile_partitioned(
    const Graph& graph, std::span<const uint32_t> output_devices,
    const std::function<const TargetInfo&(uint32_t device)>& target, const CompileOptions& options,
    const StageObserver& observer = {});

}  // namespace reprise
