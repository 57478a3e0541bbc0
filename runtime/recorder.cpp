// Recording ops into the slab and the thread's trace.
#include "runtime/runtime_impl.h"

namespace reprise {

Recorder::~Recorder() {
  for (const NodeId id : recorded_) impl_.drop(id, locked_);
}

ValueView Recorder::view(Value value) const {
  const LiveNode& node = impl_.nodes[value.index];
  return {node.op, node.type, node.operands, node.attrs};
}

Value Recorder::append(Op op, std::span<const Value> operands, const Attrs& attrs,
                       const TensorType& type) {
  const NodeId id = impl_.new_node(op, type);
  recorded_.push_back(id);
  LiveNode& node = impl_.nodes[id.index];
  node.attrs = attrs;
  for (const Value operand : operands) impl_.add_operand(node, NodeId{operand.index});
  impl_.enter(thread_, id, Trace::type_is(op));
  return Value{id.index};
}

}  // namespace reprise
