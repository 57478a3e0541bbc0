// One form for graphs that mean the same: merged movement, sorted operands, one order of nodes.
#include <algorithm>
#include <tuple>

#include "ir/hash.h"
#include "passes/fold.h"
#include "passes/graph_passes.h"
#include "passes/movement.h"
#include "passes/rewriter.h"

namespace reprise {

namespace {

/// How often each value is read; outputs count.
std::vector<uint32_t> count_users(const Graph& graph) {
  std::vector<uint32_t> users(graph.size());
  for (const Node& node : graph.nodes()) {
    for (NodeId operand : node.operands) ++users[operand.index];
  }
  for (NodeId output : graph.outputs()) ++users[output.index];
  return users;
}

/// Whether a movement swaps the last two axes and leaves the others.
bool is_transposition(const Node& node) {
  if (node.op != Op::Permute) return false;
  const std::span<const int64_t> order = node.attrs.ints(0);
  const auto rank = static_cast<int64_t>(order.size());
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t from = axis < rank - 2 ? axis : 2 * rank - 3 - axis;
    if (order[static_cast<size_t>(axis)] != from) return false;
  }
  return rank >= 2;
}

NodeId add_transposition(Graph& graph, NodeId value) {
  const TensorType type = graph[value].type;
  const int rank = type.shape.rank();
  std::vector<int64_t> order, extents;
  for (int axis = 0; axis < rank; ++axis) {
    order.push_back(axis < rank - 2 ? axis : 2 * rank - 3 - axis);
    extents.push_back(type.shape[static_cast<int>(order.back())]);
  }
  return add_movement(graph, {.op = Op::Permute,
                              .type = {type.dtype, Shape(std::span<const int64_t>(extents))},
                              .operands = {value},
                              .attrs = Attrs().add_ints(order)});
}

/// Merges movement, gives constants their canonical number, and turns a transposed product that
/// nobody else reads into the product of the transposed factors, whose elements are the same chains
/// of the same products: what is done with it can then follow where it is computed.
Graph rewrite_nodes(const Graph& graph) {
  GraphRewriter rewriter(graph);
  const std::vector<uint32_t> users = count_users(graph);
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    Node node = rewriter.remapped(id);
    if (node.op == Op::Constant) {
      node.attrs = Attrs().add_float(canonical_constant(node.attrs.as_float(0), node.type.dtype));
    }
    if (is_transposition(node)) {
      const NodeId moved = graph[id].operands[0];
      const Node product = rewriter.graph()[node.operands[0]];
      if (graph[moved].op == Op::Matmul && product.op == Op::Matmul && users[moved.index] == 1) {
        node.op = Op::Matmul;
        node.operands = {add_transposition(rewriter.graph(), product.operands[1]),
                         add_transposition(rewriter.graph(), product.operands[0])};
        node.attrs = {};
      }
    }
    const bool moves = op_def(node.op).kind == OpKind::Movement;
    rewriter.replace(id, moves ? add_movement(rewriter.graph(), std::move(node))
                               : rewriter.graph().add(std::move(node)));
  }
  return rewriter.finish();
}

/// Whether swapping the two operands gives the same bits (all NaNs being equal).
bool is_commutative(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Multiply:
    case Op::Maximum:  // order -0 below +0, whichever comes first
    case Op::Minimum:
    case Op::BitwiseAnd:
    case Op::BitwiseOr:
    case Op::BitwiseXor:
    case Op::Equal:
    case Op::NotEqual:
      return true;
    default:  // the table is open: an op unknown here keeps its operands' order
      return false;
  }
}

/// Where a value stands among the operands of a commutative op. Made of the value's structure
/// alone, never of when it was recorded. Inputs come first, scalars last: that reads best.
using Rank = std::tuple<int, int64_t, uint64_t>;

std::vector<Rank> rank_values(const Graph& graph) {
  std::vector<Rank> ranks(graph.size());
  std::vector<uint64_t> hashes(graph.size());
  std::vector<uint32_t> heights(graph.size());
  std::vector<uint64_t> operands;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[NodeId{i}];
    operands.clear();
    for (NodeId operand : node.operands) {
      operands.push_back(hashes[operand.index]);
      heights[i] = std::max(heights[i], heights[operand.index] + 1);
    }
    if (is_commutative(node.op)) std::sort(operands.begin(), operands.end());
    uint64_t hash =
        mix_hash(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.type.dtype));
    for (int64_t extent : node.type.shape) hash = mix_hash(hash, static_cast<uint64_t>(extent));
    for (int64_t word : node.attrs.words()) hash = mix_hash(hash, static_cast<uint64_t>(word));
    for (uint64_t operand : operands) hash = mix_hash(hash, operand);
    hashes[i] = hash;
    switch (node.op) {
      case Op::Input:
        ranks[i] = {0, node.attrs.word(0), hash};
        break;
      case Op::Parameter:
        ranks[i] = {2, node.attrs.word(0), hash};
        break;
      case Op::Constant:
        ranks[i] = {3, node.attrs.word(0), hash};
        break;
      default:
        ranks[i] = {1, heights[i], hash};
        break;
    }
  }
  return ranks;
}

/// Appends nodes in depth-first order from the outputs, operands before users, without recursion.
class DepthFirstOrder {
 public:
  explicit DepthFirstOrder(const Graph& graph)
      : graph_(graph), ranks_(rank_values(graph)), rewriter_(graph), done_(graph.size()) {}

  Graph run() {
    for (NodeId output : graph_.outputs()) visit_from(output);
    return rewriter_.finish();
  }

 private:
  struct Visit {
    NodeId id;
    Operands operands;  ///< in canonical order
    uint32_t next = 0;
  };

  Visit open(NodeId id) const {
    const Node& node = graph_[id];
    Visit visit{.id = id, .operands = node.operands};
    if (is_commutative(node.op) &&
        ranks_[node.operands[1].index] < ranks_[node.operands[0].index]) {
      std::swap(visit.operands[0], visit.operands[1]);
    }
    return visit;
  }

  void visit_from(NodeId root) {
    if (done_[root.index]) return;
    stack_.push_back(open(root));
    while (!stack_.empty()) {
      Visit& visit = stack_.back();
      if (visit.next < visit.operands.size()) {
        const NodeId operand = visit.operands[visit.next++];
        if (!done_[operand.index]) stack_.push_back(open(operand));
        continue;
      }
      close(visit);
      stack_.pop_back();
    }
  }

  void close(const Visit& visit) {
    done_[visit.id.index] = true;
    Node node = graph_[visit.id];
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      node.operands[i] = rewriter_[visit.operands[i]];
    }
    rewriter_.replace(visit.id, rewriter_.graph().add(std::move(node)));
  }

  const Graph& graph_;
  std::vector<Rank> ranks_;
  GraphRewriter rewriter_;
  std::vector<bool> done_;
  std::vector<Visit> stack_;
};

}  // namespace

Graph canonicalize(const Graph& graph) {
  const Graph rewritten = rewrite_nodes(graph);
  return DepthFirstOrder(rewritten).run();
}

}  // namespace reprise
