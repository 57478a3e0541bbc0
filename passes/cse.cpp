// Common subexpression elimination: equal nodes become one.
#include <bit>

#include "ir/hash.h"
#include "passes/graph_passes.h"
#include "passes/rewriter.h"

namespace reprise {

namespace {

uint64_t hash_node(const Node& node) {
  uint64_t hash = mix_hash(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.type.dtype));
  for (int64_t extent : node.type.shape) hash = mix_hash(hash, static_cast<uint64_t>(extent));
  for (NodeId operand : node.operands) hash = mix_hash(hash, operand.index);
  for (int64_t word : node.attrs.words()) hash = mix_hash(hash, static_cast<uint64_t>(word));
  return hash;
}

/// Open hash table of the nodes of one graph, never more than half full.
class NodeTable {
 public:
  explicit NodeTable(uint32_t nodes) : slots_(std::bit_ceil(size_t{2} * nodes + 2)) {}

  /// The node equal to `node` in `graph`, added to it if there was none.
  NodeId intern(Graph& graph, Node node) {
    size_t slot = hash_node(node) & (slots_.size() - 1);
    while (slots_[slot].valid()) {
      if (graph[slots_[slot]] == node) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slots_[slot] = graph.add(std::move(node));
  }

 private:
  std::vector<NodeId> slots_;
};

}  // namespace

Graph cse(const Graph& graph) {
  GraphRewriter rewriter(graph);
  NodeTable table(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    rewriter.replace(id, table.intern(rewriter.graph(), rewriter.remapped(id)));
  }
  return rewriter.finish();
}

}  // namespace reprise
