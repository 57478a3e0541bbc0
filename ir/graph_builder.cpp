// Recording into a Graph.
#include "ir/builder.h"
#include "ir/error.h"

namespace reprise {

ValueView GraphBuilder::view(Value value) const {
  REPRISE_ASSERT(value.index < graph_.size());
  const Node& node = graph_[NodeId{value.index}];
  return {.op = node.op, .type = node.type, .operands = node.operands, .attrs = node.attrs};
}

Value GraphBuilder::input(const TensorType& type, uint32_t index,
                          std::span<const int64_t> strides) {
  return record(Op::Input, {}, Attrs().add_int(index).add_ints(strides), &type);
}

Value GraphBuilder::parameter(DType dtype, uint32_t index) {
  const TensorType type{dtype, {}};
  return record(Op::Parameter, {}, Attrs().add_int(index), &type);
}

Value GraphBuilder::append(Op op, std::span<const Value> operands, const Attrs& attrs,
                           const TensorType& type) {
  Node node{.op = op, .type = type, .operands = {}, .attrs = attrs};
  node.operands.reserve(static_cast<uint32_t>(operands.size()));
  for (Value operand : operands) node.operands.push_back(NodeId{operand.index});
  return Value{graph_.add(std::move(node)).index};
}

}  // namespace reprise
