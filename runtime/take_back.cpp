// Pending assigns: what their tensors go back to when an index turns out to be out of range.
#include <utility>

#include "runtime/runtime_impl.h"

namespace reprise {

NodeId Runtime::Impl::hold_fallback(Trace& trace, TensorId target) {
  const Binding& b = binding(target);
  LiveNode& old = nodes[b.node.index];
  if (!old.is_leaf()) {  // perhaps assigned itself: then further back
    for (size_t i = trace.assigned.size(); i-- > 0;) {
      Trace::Assigned& a = trace.assigned[i];
      if (a.target == target && a.version == b.version && a.fallback.valid()) {
        return std::exchange(a.fallback, NodeId{});
      }
    }
  }
  old.fallback_trace = old.fallbacks == 0 || old.fallback_trace == &trace ? &trace : nullptr;
  ++old.fallbacks;
  ++old.refs;
  return b.node;
}

void Runtime::Impl::drop_fallback(Trace::Assigned& assigned, Locked& locked) {
  if (!assigned.fallback.valid()) return;
  --nodes[assigned.fallback.index].fallbacks;
  drop(std::exchange(assigned.fallback, NodeId{}), locked);
}

void Runtime::Impl::take_back_assigns(const Trace& trace, Trouble trouble, Trace& own,
                                      Locked& locked) {
  std::vector<char> checked(trace.recorded().size(), 0);
  for (size_t i = 0; i < checked.size(); ++i) {
    const Trace::Recorded& r = trace.recorded()[i];
    if (!trace.alive(r)) continue;
    const LiveNode& node = nodes[r.node.index];
    const OpKind kind = op_def(node.op).kind;
    switch (trouble) {
      case Trouble::Index:
        checked[i] = kind == OpKind::Gather || kind == OpKind::Scatter || node.op == Op::CheckIndex;
        break;
      case Trouble::Device:
        checked[i] = !node.devices.contains(cpu_device());
        break;
    }
    for (const NodeId operand : node.operands) {
      const TraceRef ref = trace.at(operand);
      if (ref.valid() && !ref.is_leaf() && checked[ref.index()]) checked[i] = 1;
    }
  }
  for (Trace::Assigned& a : own.assigned) {
    Binding& b = tensors[slot_of(a.target)];
    if (!a.fallback.valid() || b.version != a.version || nodes[b.node.index].is_leaf()) continue;
    const TraceRef ref = trace.at(a.value.node);
    if (!ref.valid() || ref.is_leaf() || !checked[ref.index()]) continue;
    b.node = a.fallback;
    ++b.version;
    ++nodes[a.fallback.index].refs;
    ++nodes[a.fallback.index].bindings;
    if (a.watch != nullptr) a.watch->taken_back = true;
    drop_fallback(a, locked);
    unbind(a.value.node, locked);
  }
}

}  // namespace reprise
