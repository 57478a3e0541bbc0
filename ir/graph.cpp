// The graph container.
#include "ir/graph.h"

#include "ir/error.h"

namespace reprise {

NodeId Graph::add(Node node) {
  REPRISE_ASSERT(nodes_.size() < UINT32_MAX);
  nodes_.push_back(std::move(node));
  return NodeId{static_cast<uint32_t>(nodes_.size() - 1)};
}

namespace {

uint32_t count_leaves(const Graph& graph, Op op) {
  uint32_t count = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op == op) count = std::max(count, static_cast<uint32_t>(node.attrs.word(0)) + 1);
  }
  return count;
}

}  // namespace

uint32_t num_inputs(const Graph& graph) {
  return count_leaves(graph, Op::Input);
}
uint32_t num_parameters(const Graph& graph) {
  return count_leaves(graph, Op::Parameter);
}

}  // namespace reprise
