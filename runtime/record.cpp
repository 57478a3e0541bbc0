// Recording: ops into the slab and the thread's trace; tapes, assigns.
#include <algorithm>

#include "ir/elementwise.h"
#include "ir/error.h"
#include "runtime/runtime_impl.h"

namespace reprise {

void Runtime::Impl::note_capture(ThreadState& thread, TensorId id, NodeId node,
                                 Capture::Bound bound) {
  LiveNode& read = nodes[node.index];
  read.reader_tape = thread.tape_number;
  read.reader = id;
  thread.captures.push_back({node, read.sequence, id, binding(id).generation, bound});
}

void Runtime::Impl::flush_if_due(ThreadState& thread, TensorId recorded) {
  if (!thread.tapes.empty() || (thread.trace.recorded().size() < kEagerOps &&
                                thread.trace.leaf_bytes() < kEagerBytes)) [[likely]] {
    return;
  }
  try {
    realize({}, What::AllLive);
  } catch (...) {
    Runtime::get().release(recorded);
    throw;
  }
}

TensorId Runtime::record(Op op, std::span<const TensorId> operands, const Attrs& attrs,
                         const TensorType* result) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    Recorder recorder(*impl_, locked, thread);
    SmallVector<Value, 4> values;
    for (const TensorId id : operands) {
      values.push_back(Value{impl_->operand_node(thread, id, locked).index});
    }
    const Value value = static_cast<Builder&>(recorder).record(op, values, attrs, result);
    tensor = impl_->bind(NodeId{value.index});
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

TensorId Runtime::try_record(Op op, TensorId a) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    const NodeId x = impl_->operand_node(thread, a, locked);
    const TensorType& type = impl_->nodes[x.index].type;
    const std::optional<DType> dtype = ElementwiseResults::find(op, 1, type.dtype);
    if (!dtype) return {};
    const NodeId id = impl_->new_node(op, type);
    LiveNode& node = impl_->nodes[id.index];
    node.type.dtype = *dtype;
    impl_->add_operand(node, x);
    impl_->enter(thread, id, Trace::TypeIs::Inferred);
    tensor = impl_->bind_owned(id);
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

inline NodeId Runtime::Impl::try_binary(ThreadState& thread, Op op, NodeId x, NodeId y) {
  const TensorType& a = nodes[x.index].type;
  const TensorType& b = nodes[y.index].type;
  if (a.dtype != b.dtype) return {};
  const bool b_is_scalar = b.shape.rank() == 0;
  if (!b_is_scalar && a.shape.rank() != 0 && a.shape != b.shape) return {};
  const std::optional<DType> dtype = ElementwiseResults::find(op, 2, a.dtype);
  if (!dtype) return {};
  const NodeId id = new_node(op, b_is_scalar ? a : b);
  LiveNode& node = nodes[id.index];
  node.type.dtype = *dtype;
  add_operand(node, x);
  add_operand(node, y);
  enter(thread, id, Trace::TypeIs::Inferred);
  return id;
}

TensorId Runtime::try_record(Op op, TensorId a, TensorId b) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    const NodeId x = impl_->operand_node(thread, a, locked);
    const NodeId y = impl_->operand_node(thread, b, locked);
    const NodeId id = impl_->try_binary(thread, op, x, y);
    if (!id.valid()) return {};
    tensor = impl_->bind_owned(id);
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

TensorId Runtime::try_record(Op op, TensorId a, const Number& number, NumberIs side) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    const NodeId x = impl_->operand_node(thread, a, locked);
    const DType dtype = impl_->nodes[x.index].type.dtype;
    if (number.join(dtype) != dtype || number.cell() != nullptr) return {};
    const NodeId y = impl_->new_parameter(thread, {.dtype = dtype}, number.bits(dtype));
    const NodeId id = side == NumberIs::Second ? impl_->try_binary(thread, op, x, y)
                                               : impl_->try_binary(thread, op, y, x);
    impl_->drop(y, locked);
    if (!id.valid()) return {};
    tensor = impl_->bind_owned(id);
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

std::vector<TensorId> Runtime::build(
    const std::function<std::vector<Value>(Builder&, const std::function<Value(TensorId)>&)>&
        body) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  Recorder recorder(*impl_, locked, thread);
  const auto value_of = [&](TensorId id) {
    return Value{impl_->operand_node(thread, id, locked).index};
  };
  std::vector<TensorId> result;
  for (const Value value : body(recorder, value_of)) {
    result.push_back(impl_->bind(NodeId{value.index}));
  }
  return result;
}

void Runtime::assign(TensorId target, TensorId value) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  const NodeId new_node = impl_->operand_node(thread, value, locked);  // may wait
  Binding& b = impl_->binding(target);
  const NodeId old_node = b.node;
  const LiveNode& before = impl_->nodes[old_node.index];
  LiveNode& after = impl_->nodes[new_node.index];
  if (before.type.dtype != after.type.dtype) {
    throw DTypeError(str("assign_: the tensor is ", before.type, ", the value is ", after.type));
  }
  if (before.type.shape != after.type.shape) {
    throw ShapeError(str("assign_: the tensor is ", before.type, ", the value is ", after.type));
  }
  if (old_node == new_node) return;
  if (!thread.tapes.empty()) {
    thread.rebinds.push_back({target, b.generation, old_node, before.sequence});
  }
  if (!after.is_leaf()) {
    const NodeId fallback = impl_->hold_fallback(thread.trace, target);
    thread.trace.assigned.push_back({{new_node, after.sequence}, target, b.version + 1, fallback});
  }
  ++b.version;
  ++after.refs;
  ++after.bindings;
  b.node = new_node;
  if (!thread.tapes.empty()) impl_->note_capture(thread, target, new_node, Capture::Bound::Inside);
  impl_->unbind(old_node, locked);
}

TensorId Runtime::value(TensorId id) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  const NodeId node = impl_->operand_node(thread, id, locked);
  const TensorId tensor = impl_->bind(node);
  if (!thread.tapes.empty()) impl_->note_capture(thread, tensor, node, Capture::Bound::Inside);
  return tensor;
}

// --- Public: tapes -----------------------------------------------------------------------------

void Runtime::begin_tape() {
  ThreadState& thread = impl_->thread();
  const std::lock_guard lock(impl_->mutex);
  if (thread.tapes.empty()) thread.tape_number = impl_->next_tape++;
  thread.tapes.push_back({impl_->next_sequence, thread.rebinds.size(), thread.captures.size(),
                          thread.sources.size(), thread.hooks.size(), thread.random});
}

void Runtime::end_tape() {
  ThreadState& thread = impl_->thread();
  REPRISE_ASSERT(!thread.tapes.empty());
  thread.tapes.pop_back();
  if (!thread.tapes.empty()) return;
  thread.captures.clear();
  thread.sources.clear();
  thread.hooks.clear();  // may run foreign code: before the lock
  thread.random = 0;
  Impl::Locked locked(*impl_);
  for (const NodeId id : thread.history) {
    LiveNode& node = impl_->nodes[id.index];
    node.keeps_history = false;
    if (node.stored) impl_->drop_operands(id, locked);
    impl_->drop(id, locked);
  }
  const size_t ended = thread.history.size();
  thread.history.clear();
  thread.rebinds.clear();
  // What was recorded and dropped must not pile up over tapes that compute nothing, nor stand in
  // the way of recognizing what is recorded next. The work is in proportion to the recording.
  const size_t left = thread.trace.recorded().size();
  if (left > 2 * thread.settled + 256 || left <= 2 * ended) {
    impl_->settle_trace(thread.trace, locked);
    thread.settled = thread.trace.recorded().size();
  }
}

bool Runtime::in_tape() const {
  return !impl_->thread().tapes.empty();
}

void Runtime::check_history(TensorId y, std::span<const TensorId> xs) const {
  const ThreadState& thread = impl_->thread();
  if (thread.tapes.empty()) throw Error("gradient: no tape is open on this thread");
  const std::lock_guard lock(impl_->mutex);
  const LiveNode& target = impl_->nodes[impl_->node_of(y).index];
  const bool is_x = std::any_of(xs.begin(), xs.end(),
                                [&](TensorId x) { return impl_->node_of(x) == impl_->node_of(y); });
  if (target.stored && target.operands.empty() && op_def(target.op).min_operands > 0 && !is_x) {
    throw Error(str("gradient: the target of type ", target.type,
                    " was computed outside of this tape, so how it came about is forgotten"));
  }
  impl_->check_rebinds(thread, impl_->node_of(y), xs);
}

void Runtime::Impl::check_rebinds(const ThreadState& thread, NodeId y,
                                  std::span<const TensorId> xs) {
  std::vector<char> seen;
  std::vector<NodeId> stack;
  for (const ThreadState::Rebind& rebind : thread.rebinds) {
    const NodeId old_node = rebind.old_node;
    if (nodes[old_node.index].sequence != rebind.sequence) continue;
    if (std::find(xs.begin(), xs.end(), rebind.tensor) == xs.end()) continue;
    // Reading the old value through the new one is what an assign is for.
    const NodeId new_node = node_of(rebind.tensor);
    seen.assign(nodes.size(), 0);
    seen[new_node.index] = seen[y.index] = 1;
    if (y != new_node) stack.push_back(y);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      for (const NodeId operand : nodes[id.index].operands) {
        if (!std::exchange(seen[operand.index], 1)) stack.push_back(operand);
      }
    }
    if (!seen[old_node.index] || old_node == new_node) continue;
    throw Error(str("gradient: a tensor of type ", nodes[old_node.index].type,
                    " was assigned after the target read it; take gradients before assigning"));
  }
}

}  // namespace reprise
