// Recording ops into the slab and the thread's trace.
#include <utility>

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
  const LiveNode& node = impl_.nodes[value.index];
  if (!node.devices.contains(device)) {
    const Attrs way = Attrs().add_int(node.devices.first().index()).add_int(device.index());
    return append(Op::Transfer, operands, way, TensorType(node.type));
  }
  const Value settled = append(Op::Reshape, operands, {}, TensorType(node.type));
  impl_.nodes[settled.index].devices = DeviceSet::of(device);
  return settled;
}

namespace {
/// The value is operand 0's; what else such an op is given may be on any device.
bool is_placed_by_first(Op op) {
  return op == Op::Checkpoint || op == Op::After;
}
}  // namespace

void Recorder::check_devices(Op op, std::span<const Value> operands, const Attrs& attrs) const {
  DeviceSet common = DeviceSet::all();
  if (op == Op::Transfer && attrs.word(0) != attrs.word(1)) {
    for (const int64_t place : attrs.words()) {
      if (place < 0 || std::cmp_greater_equal(place, devices().size())) {
        throw DeviceError(str("transfer: there is no device ", place));
      }
    }
    common = DeviceSet::of(*devices()[static_cast<size_t>(attrs.word(0))]);
  }
  for (const Value operand : is_placed_by_first(op) ? operands.first(1) : operands) {
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
  check_devices(op, operands, attrs);
  LiveNode& node = impl_.new_node(op, type.dtype, type.shape);
  kept_.push_back(node.id);
  node.attrs = attrs;
  for (const Value operand : operands) {
    Runtime::Impl::add_operand(node, impl_.nodes[operand.index]);
  }
  if (is_placed_by_first(op)) node.devices = impl_.nodes[operands[0].index].devices;
  if (op == Op::Transfer && attrs.word(0) != attrs.word(1)) {
    node.devices = DeviceSet::of(*devices()[static_cast<size_t>(attrs.word(1))]);
  }
  thread_.trace.append(node.id, Trace::type_is(op));
  impl_.note_recorded(thread_, node);
  return Value{node.id.index};
}

}  // namespace reprise
