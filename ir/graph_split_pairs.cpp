// Pairs (complex numbers, complex integers) as their two parts, which is all that lowering
// computes.
#include <algorithm>
#include <array>

#include "ir/error.h"
#include "ir/graph.h"

namespace reprise {

namespace {

class PairSplitter {
 public:
  PairSplitter(const Graph& graph, const std::function<NodeId(NodeId)>& memory)
      : source_(graph), memory_(memory), places_(graph.size()), parts_(graph.size()) {}

  Graph run() {
    result_.reserve(source_.size());
    for (uint32_t i = 0; i < source_.size(); ++i) place(NodeId{i});
    for (const NodeId output : source_.outputs()) result_.add_output(whole(output));
    return std::move(result_);
  }

 private:
  using Parts = std::array<NodeId, 2>;

  const Parts& parts(NodeId old) const { return parts_[old.index]; }
  bool holds_pairs(NodeId old) const { return is_pair(source_[old].type.dtype); }

  void place(NodeId id) {
    const Node& node = source_[id];
    const bool takes = std::any_of(node.operands.begin(), node.operands.end(),
                                   [&](NodeId operand) { return holds_pairs(operand); });
    if (!takes && !is_pair(node.type.dtype)) {
      Node same = node;
      for (NodeId& operand : same.operands) operand = places_[operand.index];
      places_[id.index] = result_.add(std::move(same));
      return;
    }
    switch (node.op) {
      case Op::Input:
        places_[id.index] = result_.add(node);
        parts_[id.index] = {part_of_input(Op::Real, id), part_of_input(Op::Imag, id)};
        return;
      case Op::Constant:
        parts_[id.index] = {constant(node.attrs.as_float(0), node.type.dtype, {}),
                            constant(0, node.type.dtype, {})};
        return;
      case Op::Complex:
        for (size_t k = 0; k < 2; ++k) {
          parts_[id.index][k] = broadcast(places_[node.operands[k].index], node.type.shape);
        }
        return;
      case Op::Real:
        places_[id.index] = parts(node.operands[0])[0];
        return;
      case Op::Imag:
        places_[id.index] = parts(node.operands[0])[1];
        return;
      case Op::Cast:
        return convert(id, node);
      default:  // the table is open
        break;
    }
    if (op_def(node.op).pairs != OnPairs::EachPart) {
      throw InternalError(str(node.op, " of pairs, which it does not take: ", node.type));
    }
    if (!is_pair(node.type.dtype)) {
      // Pairs are only waited for: one part of them will do.
      Node same = node;
      for (NodeId& operand : same.operands) {
        operand = holds_pairs(operand) ? parts(operand)[0] : places_[operand.index];
      }
      places_[id.index] = result_.add(std::move(same));
      return;
    }
    for (size_t k = 0; k < 2; ++k) parts_[id.index][k] = of_part(node, k);
  }

  void convert(NodeId id, const Node& node) {
    const NodeId operand = node.operands[0];
    const DType part = part_of(node.type.dtype);
    const Shape& shape = node.type.shape;
    if (!holds_pairs(operand)) {
      parts_[id.index] = {cast(places_[operand.index], part, shape),
                          constant(0, node.type.dtype, shape)};
    } else if (is_pair(node.type.dtype)) {
      for (size_t k = 0; k < 2; ++k) parts_[id.index][k] = cast(parts(operand)[k], part, shape);
    } else {  // whether either is not 0
      const Operands both{cast(parts(operand)[0], part, shape),
                          cast(parts(operand)[1], part, shape)};
      places_[id.index] =
          result_.add({.op = Op::BitwiseOr, .type = node.type, .operands = both, .attrs = {}});
    }
  }

  /// The node with part `k` of every pair in place of it.
  NodeId of_part(const Node& node, size_t k) {
    Node part = node;
    part.type.dtype = part_of(node.type.dtype);
    for (NodeId& operand : part.operands) {
      operand = holds_pairs(operand) ? parts(operand)[k] : places_[operand.index];
    }
    if (node.op == Op::Bitcast) part.attrs = Attrs().add_type(part.type.dtype);
    return result_.add(std::move(part));
  }

  NodeId part_of_input(Op op, NodeId input) {
    const TensorType& type = source_[input].type;
    return result_.add({.op = op,
                        .type = {part_of(type.dtype), type.shape},
                        .operands = {places_[input.index]},
                        .attrs = {}});
  }

  NodeId constant(double value, DType pair, const Shape& shape) {
    return broadcast(result_.add({.op = Op::Constant,
                                  .type = {part_of(pair), {}},
                                  .operands = {},
                                  .attrs = Attrs().add_float(value)}),
                     shape);
  }

  NodeId broadcast(NodeId value, const Shape& shape) {
    const TensorType type = result_[value].type;
    if (type.shape == shape) return value;
    return result_.add(
        {.op = Op::BroadcastTo, .type = {type.dtype, shape}, .operands = {value}, .attrs = {}});
  }

  NodeId cast(NodeId value, DType dtype, const Shape& shape) {
    if (result_[value].type.dtype == dtype) return value;
    return result_.add({.op = Op::Cast,
                        .type = {dtype, shape},
                        .operands = {value},
                        .attrs = Attrs().add_type(dtype)});
  }

  /// An output: pairs put together again, or a view of memory that holds pairs.
  NodeId whole(NodeId old) {
    if (!holds_pairs(old)) return places_[old.index];
    if (places_[old.index].valid()) return places_[old.index];
    const NodeId memory = memory_ ? memory_(old) : old;
    if (memory != old) {
      std::vector<NodeId> views;
      for (NodeId id = old; id != memory; id = source_[id].operands[0]) views.push_back(id);
      NodeId value = whole(memory);
      for (size_t i = views.size(); i-- > 0;) {
        Node view = source_[views[i]];
        view.operands[0] = value;
        value = result_.add(std::move(view));
      }
      return places_[old.index] = value;
    }
    const Parts& both = parts(old);
    return places_[old.index] = result_.add({.op = Op::Complex,
                                             .type = source_[old].type,
                                             .operands = {both[0], both[1]},
                                             .attrs = {}});
  }

  const Graph& source_;
  const std::function<NodeId(NodeId)>& memory_;
  Graph result_;
  std::vector<NodeId> places_;  ///< new values; of pairs only where they stay whole
  std::vector<Parts> parts_;
};

}  // namespace

Graph split_pairs(const Graph& graph, const std::function<NodeId(NodeId)>& memory) {
  const std::span<const Node> nodes = graph.nodes();
  const bool none = std::none_of(nodes.begin(), nodes.end(),
                                 [](const Node& node) { return is_pair(node.type.dtype); });
  return none ? graph : PairSplitter(graph, memory).run();
}

}  // namespace reprise
