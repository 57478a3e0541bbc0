// Strict rewrites of single nodes: each gives the same bits, for NaN, infinities and -0 too.
#include <cmath>
#include <optional>

#include "passes/fold.h"
#include "passes/graph_passes.h"
#include "passes/movement.h"
#include "passes/rewriter.h"

namespace reprise {

namespace {

class Simplifier {
 public:
  explicit Simplifier(const Graph& graph) : source_(graph), rewriter_(graph) {}

  Graph run() {
    for (uint32_t i = 0; i < source_.size(); ++i) {
      rewriter_.replace(NodeId{i}, add(rewriter_.remapped(NodeId{i})));
    }
    return dce(rewriter_.finish());
  }

 private:
  Graph& graph() { return rewriter_.graph(); }
  const Node& node_of(NodeId id) const { return rewriter_.graph()[id]; }
  const Shape& shape_of(NodeId id) const { return node_of(id).type.shape; }

  NodeId uniform(double value, const TensorType& type) {
    const NodeId scalar = graph().add({.op = Op::Constant,
                                       .type = {type.dtype, Shape()},
                                       .operands = {},
                                       .attrs = Attrs().add_float(value)});
    return add_broadcast(graph(), scalar, type.shape);
  }

  /// The simplest value equal to `node`, whose operands are simple already.
  NodeId add(Node node) {
    const OpDef& def = op_def(node.op);
    // No element, nothing to compute; and no launch over an empty grid.
    if (node.type.shape.numel() == 0 && node.op != Op::Input && !is_pair(node.type.dtype)) {
      return uniform(0, node.type);
    }
    switch (def.kind) {
      case OpKind::Elementwise:
        return add_elementwise(std::move(node));
      case OpKind::Movement:
        return add_movement(graph(), std::move(node));
      case OpKind::Reduction:
        return add_reduction(std::move(node));
      case OpKind::Contraction:
        if (node.op == Op::Matmul && contracts_nothing(node)) return uniform(0, node.type);
        break;
      case OpKind::Scatter:  // of nothing
        if (shape_of(node.operands[2]).numel() == 0) return node.operands[0];
        break;
      case OpKind::Scan:  // of one element
        if (node.type.shape[static_cast<int>(node.attrs.word(0))] == 1) return cast_last(node);
        break;
      case OpKind::Sort:
        if (node.type.shape[static_cast<int>(node.attrs.word(0))] == 1)
          return uniform(0, node.type);
        break;
      case OpKind::Leaf:
      case OpKind::Gather:
      case OpKind::Composite:
        break;
    }
    return graph().add(std::move(node));
  }

  NodeId cast_last(const Node& node) {
    const NodeId last = node.operands[node.operands.size() - 1];
    if (graph()[last].type == node.type) return last;
    return graph().add({.op = Op::Cast,
                        .type = node.type,
                        .operands = {last},
                        .attrs = Attrs().add_type(node.type.dtype)});
  }

  bool contracts_nothing(const Node& node) const {
    const Shape& a = shape_of(node.operands[0]);
    return a[a.rank() - 1] == 0 && !is_pair(node.type.dtype);
  }

  NodeId add_elementwise(Node node) {
    // What puts pairs together stands for the memory of an output, of its full shape.
    if (op_def(node.op).lower == nullptr) return graph().add(std::move(node));
    // Stands for memory of its own.
    if (node.op == Op::Transfer) return graph().add(std::move(node));
    // First, so that the rules below look at what is computed rather than at how it is spread.
    const TensorType type = node.type;
    node.type.shape = narrow_operands(node);
    if (const auto value = fold_elementwise(graph(), node)) return uniform(*value, type);
    if (const NodeId same = same_value(node); same.valid()) {
      return add_broadcast(graph(), same, type.shape);
    }
    if (drop_guard(node)) {
      node.type = type;
      return add_elementwise(std::move(node));
    }
    rewrite_signs(node);
    return add_broadcast(graph(), graph().add(std::move(node)), type.shape);
  }

  /// The value, perhaps yet to be broadcast, that `node` is equal to; invalid if there is none.
  NodeId same_value(const Node& node) const {
    const NodeId a = node.operands[0];
    const NodeId b = node.operands.size() > 1 ? node.operands[1] : NodeId{};
    switch (node.op) {
      case Op::StopGradient:  // says something to the gradient pass only, which has run
        return a;
      case Op::Cast:
        return node_of(a).type.dtype == node.type.dtype ? a : NodeId{};
      case Op::Negative:
      case Op::BitwiseInvert:
        return node_of(a).op == node.op ? node_of(a).operands[0] : NodeId{};
      case Op::Where:
        if (b == node.operands[2]) return b;
        if (const auto condition = value_of(a)) return *condition != 0 ? b : node.operands[2];
        return {};
      case Op::Add:
        if (is_neutral_of_add(b)) return a;
        return is_neutral_of_add(a) ? b : NodeId{};
      case Op::Subtract:
        // x - (+0) is x for every float; x - (-0) is not: it turns -0 into +0.
        return is_value(b, 0) ? a : NodeId{};
      case Op::Multiply:
        // Not x * 0, of integers either: x may hold an index check, which must still report.
        if (is_value(b, 1)) return a;
        return is_value(a, 1) ? b : NodeId{};
      case Op::Divide:
        return is_value(b, 1) ? a : NodeId{};
      case Op::FloorDivide:
        return is_integral(a) && is_value(b, 1) ? a : NodeId{};
      case Op::BitwiseOr:
      case Op::BitwiseXor:
        if (is_value(b, 0)) return a;
        return is_value(a, 0) ? b : NodeId{};
      case Op::LeftShift:
      case Op::RightShift:
        return is_value(b, 0) ? a : NodeId{};
      default:  // the table is open, and most ops have no such rule
        return {};
    }
  }

  /// A guarded product or quotient is a plain one where the guard is known not to be 0.
  bool drop_guard(Node& node) const {
    if (node.op != Op::GuardedMultiply && node.op != Op::GuardedDivide) return false;
    const std::optional<double> guard = value_of(node.operands[0]);
    if (!guard || *guard == 0) return false;
    node.op = node.op == Op::GuardedMultiply ? Op::Multiply : Op::Divide;
    return true;
  }

  /// x + (-y) and x - (-y), which IEEE 754 and wrapping integers both define by the other op.
  void rewrite_signs(Node& node) const {
    if (node.op == Op::Add && node_of(node.operands[1]).op == Op::Negative) {
      node.op = Op::Subtract;
    } else if (node.op == Op::Subtract && node_of(node.operands[1]).op == Op::Negative) {
      node.op = Op::Add;
    } else {
      return;
    }
    node.operands[1] = node_of(node.operands[1]).operands[0];
  }

  /// Takes explicit broadcasts off an elementwise node's operands, since it broadcasts by itself.
  /// Returns the shape it then has, which may be smaller: what all operands repeat is computed
  /// once.
  Shape narrow_operands(Node& node) const {
    Shape shape;
    for (NodeId& operand : node.operands) {
      if (node_of(operand).op == Op::BroadcastTo) operand = node_of(operand).operands[0];
      shape = broadcast_shapes(shape, shape_of(operand));
    }
    return shape;
  }

  NodeId add_reduction(Node node) {
    if (const auto value = fold_reduction(graph(), node)) return uniform(*value, node.type);
    const NodeId operand = node.operands[0];
    // What folds single elements only moves them, and widens integers.
    if (shape_of(operand).numel() != node.type.shape.numel()) return graph().add(std::move(node));
    const TensorType& type = node_of(operand).type;
    const NodeId moved = add_movement(graph(), {.op = Op::Reshape,
                                                .type = {type.dtype, node.type.shape},
                                                .operands = {operand},
                                                .attrs = {}});
    if (node_of(moved).type.dtype == node.type.dtype) return moved;
    return add_elementwise({.op = Op::Cast,
                            .type = node.type,
                            .operands = {moved},
                            .attrs = Attrs().add_type(node.type.dtype)});
  }

  std::optional<double> value_of(NodeId id) const { return uniform_value(rewriter_.graph(), id); }
  bool is_value(NodeId id, double wanted) const {
    const std::optional<double> value = value_of(id);
    return value && *value == wanted && std::signbit(*value) == std::signbit(wanted);
  }
  bool is_integral(NodeId id) const {
    const DType dtype = node_of(id).type.dtype;
    return is_integer(dtype) || dtype == DType::Bool;
  }
  /// x + (-0) is x for every float; x + (+0) is not: it turns -0 into +0.
  bool is_neutral_of_add(NodeId id) const { return is_value(id, is_integral(id) ? 0.0 : -0.0); }

  const Graph& source_;
  GraphRewriter rewriter_;
};

}  // namespace

Graph simplify(const Graph& graph) {
  return Simplifier(graph).run();
}

}  // namespace reprise
