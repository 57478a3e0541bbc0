// A small program: a graph, which of its inputs it assigns, and data for its leaves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "tests/graph_samples.h"

namespace reprise {

/// Elements for the leaves of a graph, by index. Inputs are packed, row-major, whatever their
/// strides; what the graph has no leaf for is empty.
struct LeafData {
  std::vector<Bytes> inputs;
  std::vector<uint64_t> parameters;
};

struct Program {
  /// After a step, the input holds what the output was.
  struct Assign {
    uint32_t input = 0;
    uint32_t output = 0;
  };
  Graph graph;
  std::vector<Assign> assigns;
  LeafData data;  ///< of the first step
};

/// What the same seed always gives for this graph: small values for some leaves, for others NaN,
/// infinities, zeros of both signs, denormals and extremes among them.
[[nodiscard]] LeafData leaf_data(const Graph& graph, uint64_t seed);

/// Elements of each of the graph's outputs by the reference interpreter with this machine's
/// numerics. Throws IndexError.
[[nodiscard]] std::vector<Bytes> reference_outputs(const Graph& graph, const LeafData& data);

/// The same graph with every input contiguous.
[[nodiscard]] Graph without_strides(const Graph& graph);
/// With every backward axis of an input forward: what lowering takes.
[[nodiscard]] Graph with_forward_strides(const Graph& graph);

/// Graph text with the assigns as comments.
[[nodiscard]] std::string print(const Program& program);

}  // namespace reprise
