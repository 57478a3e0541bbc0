// Recording ops into the slab and the thread's trace.
#include "ir/error.h"
#include "runtime/runtime_impl.h"

namespace reprise {

Recorder::~Recorder() {
  for (const NodeId id : kept_) impl_.drop(id, locked_);
}

ValueView Recorder::view(Value value) const {
  const LiveNode& node = impl_.nodes[value.index];
  return {node.op, node.type, node.operands, node.attrs};
}

SmallVector<Value, 4> Recorder::values_of(std::span<const TensorId> ids) {
  impl_.await_computed(ids, locked_);
  SmallVector<Value, 4> values;
  for (const TensorId id : ids) {
    LiveNode& node = impl_.live_node(id);
    impl_.note_read(thread_, id, node);
    ++node.refs;
    kept_.push_back(node.id);
    values.push_back(Value{node.id.index});
  }
  return values;
}

Value Recorder::settle_on(const Device& device, Value value) {
  const Value operands[] = {value};
  const Value settled = append(Op::Reshape, operands, {}, impl_.nodes[value.index].type);
  impl_.nodes[settled.index].devices = DeviceSet::of(device);
  return settled;
}

void Recorder::check_devices(Op op, std::span<const Value> operands) const {
  DeviceSet common = DeviceSet::all();
  for (const Value operand : operands) {
    const DeviceSet devices = impl_.nodes[operand.index].devices;
    if ((common & devices).empty()) {
      throw DeviceError(str(op, ": its operands are on ", common.names(), " and ", devices.names(),
                            "; move one with to(\"", common.first().name(), "\") or to(\"",
                            devices.first().name(), "\")"));
    }
    common = common & devices;
  }
}

Value Recorder::append(Op op, std::span<const Value> operands, const Attrs& attrs,
                       const TensorType& type) {
  check_devices(op, operands);
  LiveNode& node = impl_.new_node(op, type.dtype, type.shape);
  kept_.push_back(node.id);
  node.attrs = attrs;
  for (const Value operand : operands) {
    Runtime::Impl::add_operand(node, impl_.nodes[operand.index]);
  }
  thread_.trace.append(node.id, Trace::type_is(op));
  impl_.note_recorded(thread_, node);
  return Value{node.id.index};
}

}  // namespace reprise
