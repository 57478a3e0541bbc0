// A pass's new graph under construction, and where each value of the old one went.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace reprise {

class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& source) : source_(source), places_(source.size()) {
    graph_.reserve(source.size());
  }

  /// The old node with its operands replaced by their new values.
  [[nodiscard]] Node remapped(NodeId old) const {
    Node node = source_[old];
    for (NodeId& operand : node.operands) operand = places_[operand.index];
    return node;
  }
  [[nodiscard]] NodeId operator[](NodeId old) const { return places_[old.index]; }
  void replace(NodeId old, NodeId now) { places_[old.index] = now; }
  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Adds the new values of the old outputs and gives the graph away.
  [[nodiscard]] Graph finish() {
    for (NodeId output : source_.outputs()) graph_.add_output(places_[output.index]);
    return std::move(graph_);
  }

 private:
  const Graph& source_;
  Graph graph_;
  std::vector<NodeId> places_;
};

}  // namespace reprise
