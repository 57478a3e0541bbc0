// Runs whole graphs as compiled code on the CPU device.
#pragma once

#include <string>
#include <vector>

#include "graph_samples.h"
#include "ir/graph.h"

namespace reprise {

/// The outputs' elements, contiguous, as code for this machine computes them.
[[nodiscard]] std::vector<Bytes> run_compiled(const Graph& graph, const GraphInputs& inputs);
/// Empty when that gives the bits of the graph interpreter, which runs op by op with this machine's
/// numerics; else the first difference.
[[nodiscard]] std::string compiled_difference(const Graph& graph, const GraphInputs& inputs);

}  // namespace reprise
