// The rules every graph keeps, numbered; docs/IR.md lists them.
#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "ir/error.h"
#include "ir/graph.h"
#include "ir/graph_text.h"

namespace reprise {

namespace {

/// Tables by leaf are as long as the largest index.
constexpr int64_t kMaxLeaves = int64_t{1} << 24;
/// As many elements as a shape may have.
constexpr int64_t kMaxSpan = (int64_t{1} << 58) - 1;

class GraphVerifier {
 public:
  explicit GraphVerifier(const Graph& graph) : graph_(graph) {}

  void run() {
    for (uint32_t i = 0; i < graph_.size(); ++i) check_node(NodeId{i});
    for (NodeId output : graph_.outputs()) {
      if (output.index >= graph_.size()) {
        throw InternalError(
            str("G08: output ", output, " is not one of the graph's ", graph_.size(), " values"));
      }
    }
  }

 private:
  void check_node(NodeId id) {
    const Node& node = graph_[id];
    if (static_cast<int>(node.op) >= num_ops()) fail("G01", id, "no such op in the table");
    const OpDef& def = op_def(node.op);
    if (def.kind == OpKind::Composite) {
      fail("G02", id, "a composite is recorded as other ops and is no node");
    }
    const int count = static_cast<int>(node.operands.size());
    if (count < def.min_operands || (def.max_operands >= 0 && count > def.max_operands)) {
      fail("G03", id,
           str(count, " operands, but the op takes ", def.min_operands, " to ",
               def.max_operands < 0 ? "any number" : str(def.max_operands)));
    }
    for (NodeId operand : node.operands) {
      if (operand.index >= id.index) fail("G04", id, str("operand ", operand, " does not precede"));
    }
    if (!matches_schema(node.attrs, def.attrs)) {
      fail("G05", id, "the attributes do not match the op's schema");
    }
    check_type(id, node, def);
    if (node.op == Op::Input || node.op == Op::Parameter) check_leaf(id, node);
  }

  void check_type(NodeId id, const Node& node, const OpDef& def) {
    std::vector<TensorType> types;
    types.reserve(node.operands.size());
    for (NodeId operand : node.operands) types.push_back(graph_[operand].type);
    TensorType inferred;
    try {
      inferred =
          def.infer({.op = node.op, .operands = types, .attrs = node.attrs, .result = &node.type});
    } catch (const Error& error) {
      fail("G06", id, error.what());
    }
    if (inferred != node.type) fail("G06", id, str("the op's rule gives ", inferred));
  }

  /// Leaves with one index are one thing: they agree in type and layout.
  void check_leaf(NodeId id, const Node& node) {
    const int64_t index = node.attrs.word(0);
    if (index < 0 || index >= kMaxLeaves) {
      fail("G07", id, str("index ", index, " is not in [0,", kMaxLeaves, ")"));
    }
    if (node.op == Op::Input) {
      check_strides(id, node.type.shape, node.attrs.ints(1));
    } else if (node.type.shape.rank() != 0) {
      fail("G07", id, "a parameter has rank 0");
    }
    auto& seen = node.op == Op::Input ? inputs_ : parameters_;
    const auto [place, inserted] = seen.emplace(index, id);
    if (!inserted && graph_[place->second] != node) {
      fail("G07", id, str("differs from ", print_node(graph_, place->second)));
    }
  }

  void check_strides(NodeId id, const Shape& shape, std::span<const int64_t> strides) const {
    if (!strides.empty() && strides.size() != static_cast<size_t>(shape.rank())) {
      fail("G07", id, str(strides.size(), " strides for rank ", shape.rank()));
    }
    int64_t span = 1;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      const int64_t steps = std::max<int64_t>(shape[static_cast<int>(axis)] - 1, 0);
      const int64_t stride = std::max(strides[axis], -INT64_MAX);
      int64_t distance = 0;
      if (__builtin_mul_overflow(steps, std::abs(stride), &distance) ||
          __builtin_add_overflow(span, distance, &span) || span > kMaxSpan) {
        fail("G07", id, "the strides span 2^58 elements or more");
      }
    }
  }

  [[noreturn]] void fail(std::string_view rule, NodeId id, std::string_view message) const {
    throw InternalError(str(rule, ": ", print_node(graph_, id), ": ", message));
  }

  const Graph& graph_;
  std::unordered_map<int64_t, NodeId> inputs_;
  std::unordered_map<int64_t, NodeId> parameters_;
};

}  // namespace

void verify(const Graph& graph) {
  GraphVerifier(graph).run();
}

}  // namespace reprise
