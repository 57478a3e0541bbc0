// Runs graphs through fusion, lowering and memory planning on the interpreters.
#pragma once

#include <string>
#include <vector>

#include "graph_samples.h"
#include "ir/graph.h"
#include "passes/lower.h"

namespace reprise {

/// Fused, lowered and placed in memory; every kernel and the plan verified.
[[nodiscard]] Lowered lower_verified(const Graph& graph);
/// The outputs' elements, contiguous, as the plan and kernel interpreters compute them.
[[nodiscard]] std::vector<Bytes> run_lowered(const Graph& graph, const Lowered& lowered,
                                             const GraphInputs& inputs);
/// Memory for the outputs that does not look right by chance where nobody writes.
[[nodiscard]] std::vector<Bytes> unwritten_outputs(const Graph& graph);
/// Fills the outputs that the plan leaves to its user: those that are views of other slots.
void copy_aliases(const Graph& graph, const Plan& plan, const GraphInputs& inputs,
                  std::vector<Bytes>& outputs);
/// Empty when the lowered graph gives the bits of the graph interpreter on sampled inputs; else the
/// difference, with the graph, the fusion and the kernels.
[[nodiscard]] std::string lowering_difference(const Graph& graph, uint32_t seed);
[[nodiscard]] std::string lowering_difference(const Graph& graph, const GraphInputs& inputs);

}  // namespace reprise
