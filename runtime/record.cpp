// Recording: ops into the slab and the thread's trace; tapes, assigns.
#include <algorithm>

#include "ir/elementwise.h"
#include "ir/error.h"
#include "runtime/runtime_impl.h"

namespace reprise {

void Runtime::Impl::note_capture(ThreadState& thread, TensorId id, LiveNode& read,
                                 Capture::Bound bound) {
  read.reader_tape = thread.tape_number;
  read.reader = id;
  thread.captures.push_back({read.id, read.sequence, id, binding(id).generation, bound});
}

void Runtime::Impl::flush_if_due(ThreadState& thread, TensorId recorded) {
  const size_t pending = thread.trace.recorded().size();
  if (thread.in_tape() || (pending < kEagerOps && thread.trace.leaf_bytes() < kEagerBytes))
      [[likely]] {
    return;
  }
  if (pending < thread.postponed) return;
  thread.postponed = 0;
  try {
    realize({}, What::AllLive);
  } catch (const IndexError&) {
    thread.postponed = 2 * pending;
  } catch (const DeviceError&) {
    thread.postponed = 2 * pending;
  } catch (...) {
    if (recorded.valid()) Runtime::get().release(recorded);
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
    const SmallVector<Value, 4> values = recorder.values_of(operands);
    const Value value = static_cast<Builder&>(recorder).record(op, values, attrs, result);
    tensor = impl_->bind_recorded(thread, NodeId{value.index});
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

// Flattened: these three are called for nearly every op, and a call costs as much as what it does.
[[gnu::flatten]] TensorId Runtime::try_record(Op op, TensorId a) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    LiveNode& x = *impl_->operands(thread, locked, a)[0];
    const std::optional<DType> dtype = ElementwiseResults::find(op, 1, x.type.dtype);
    if (!dtype) return {};
    LiveNode& node = impl_->new_node(op, *dtype, x.type.shape);
    Impl::add_operand(node, x);
    thread.trace.append(node, x);
    impl_->note_recorded(thread, node);
    tensor = impl_->bind_owned(node);
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

inline LiveNode* Runtime::Impl::try_binary(ThreadState& thread, Op op, LiveNode& x, LiveNode& y) {
  const TensorType& a = x.type;
  const TensorType& b = y.type;
  if (a.dtype != b.dtype) return nullptr;
  const bool b_is_scalar = b.shape.rank() == 0;
  if (!b_is_scalar && a.shape.rank() != 0 && a.shape != b.shape) return nullptr;
  const std::optional<DType> dtype = ElementwiseResults::find(op, 2, a.dtype);
  if (!dtype || (x.devices & y.devices).empty()) return nullptr;
  LiveNode& node = new_node(op, *dtype, b_is_scalar ? a.shape : b.shape);
  add_operand(node, x);
  add_operand(node, y);
  thread.trace.append(node, x, y);
  note_recorded(thread, node);
  return &node;
}

[[gnu::flatten]] TensorId Runtime::try_record(Op op, TensorId a, TensorId b) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    const auto [x, y] = impl_->operands(thread, locked, a, b);
    LiveNode* const node = impl_->try_binary(thread, op, *x, *y);
    if (node == nullptr) return {};
    tensor = impl_->bind_owned(*node);
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

[[gnu::flatten]] TensorId Runtime::try_record(Op op, TensorId a, const Number& number,
                                              NumberIs side) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  {
    Impl::Locked locked(*impl_);
    LiveNode& x = *impl_->operands(thread, locked, a)[0];
    const DType dtype = x.type.dtype;
    if (number.join(dtype) != dtype || number.cell() != nullptr || is_pair(dtype)) return {};
    LiveNode& y = impl_->new_parameter(thread, {.dtype = dtype}, number.bits(dtype));
    LiveNode* const node = side == NumberIs::Second ? impl_->try_binary(thread, op, x, y)
                                                    : impl_->try_binary(thread, op, y, x);
    impl_->drop(y.id, locked);
    if (node == nullptr) return {};
    tensor = impl_->bind_owned(*node);
  }
  impl_->flush_if_due(thread, tensor);
  return tensor;
}

std::vector<TensorId> Runtime::build(
    std::span<const TensorId> operands,
    const std::function<std::vector<Value>(Builder&, std::span<const Value>)>& body) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  Recorder recorder(*impl_, locked, thread);
  const SmallVector<Value, 4> values = recorder.values_of(operands);
  std::vector<TensorId> result;
  for (const Value value : body(recorder, values)) {
    result.push_back(impl_->bind_recorded(thread, NodeId{value.index}));
  }
  return result;
}

void Runtime::assign(TensorId target, TensorId value, std::shared_ptr<AssignWatch> watch) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  // The target too: what it goes back to if the value cannot be computed must be computed itself.
  impl_->await_computed(std::array{target, value}, locked);
  const NodeId new_node = impl_->operands(thread, locked, value)[0]->id;
  Binding& b = impl_->binding(target);
  const NodeId old_node = b.node;
  LiveNode& before = impl_->nodes[old_node.index];
  LiveNode& after = impl_->nodes[new_node.index];
  if (before.type.dtype != after.type.dtype) {
    throw DTypeError(str("assign_: the tensor is ", before.type, ", the value is ", after.type));
  }
  if (before.type.shape != after.type.shape) {
    throw ShapeError(str("assign_: the tensor is ", before.type, ", the value is ", after.type));
  }
  if ((before.devices & after.devices).empty()) {
    throw DeviceError(str("assign_: the tensor is on ", before.devices.names(), ", the value on ",
                          after.devices.names(), "; move the value with to()"));
  }
  if (old_node == new_node) return;
  if (thread.in_tape()) {
    thread.rebinds.push_back({target, b.generation, old_node, before.sequence});
  }
  if (!after.is_leaf()) {
    const NodeId fallback = impl_->hold_fallback(thread.trace, target);
    thread.trace.assigned.push_back(
        {{new_node, after.sequence}, target, b.version + 1, fallback, std::move(watch)});
  }
  impl_->note_left(before, target);
  ++b.version;
  ++after.refs;
  ++after.bindings;
  b.node = new_node;
  if (thread.in_tape()) impl_->note_capture(thread, target, after, Capture::Bound::Inside);
  impl_->unbind(old_node, locked);
}

TensorId Runtime::value(TensorId id) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  return impl_->bind_recorded(thread, impl_->operands(thread, locked, id)[0]->id);
}

// --- Public: tapes -----------------------------------------------------------------------------

size_t Runtime::begin_tape() {
  ThreadState& thread = impl_->thread();
  // What tapes left pending is flushed like everything else that is.
  impl_->flush_if_due(thread, {});
  const std::lock_guard lock(impl_->mutex);
  thread.tapes.push_back({impl_->next_sequence, thread.rebinds.size(), thread.captures.size(),
                          thread.sources.size(), thread.hooks.size(), thread.random});
  if (!thread.in_tape()) {
    thread.tape_number = impl_->next_tape;
    if (++impl_->next_tape == 0) impl_->next_tape = 1;
  }
  return thread.tapes.size();
}

void Runtime::end_tape() {
  ThreadState& thread = impl_->thread();
  REPRISE_ASSERT(thread.in_tape());
  thread.tapes.pop_back();
  if (!thread.tapes.empty()) return;
  thread.tape_number = 0;
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

size_t Runtime::open_tapes() const {
  return impl_->thread().tapes.size();
}

uint64_t Runtime::next_order() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->next_sequence;
}

void Runtime::check_history(TensorId y, std::span<const TensorId> xs) const {
  const ThreadState& thread = impl_->thread();
  if (!thread.in_tape()) throw Error("gradient: no tape is open on this thread");
  const std::lock_guard lock(impl_->mutex);
  const LiveNode& target = impl_->nodes[impl_->node_of(y).index];
  const bool is_x = std::any_of(xs.begin(), xs.end(),
                                [&](TensorId x) { return impl_->node_of(x) == impl_->node_of(y); });
  if (target.stored && target.operands.empty() && op_def(target.op).min_operands > 0 && !is_x) {
    throw Error(str("gradient: the target of type ", target.type,
                    " was computed outside of this tape, so how it came about is forgotten"));
  }
  impl_->check_rebinds(impl_->node_of(y), xs);
}

void Runtime::Impl::check_rebinds(NodeId y, std::span<const TensorId> xs) {
  if (left_nodes == 0) return;
  std::vector<char> seen(nodes.size(), 0);
  std::vector<NodeId> stack;
  // Reading an old value through a new one is what an assign is for.
  for (const TensorId x : xs) seen[node_of(x).index] = 1;
  if (!std::exchange(seen[y.index], 1)) stack.push_back(y);
  while (!stack.empty()) {
    const LiveNode& node = nodes[stack.back().index];
    stack.pop_back();
    const auto is_left = [&](TensorId x) {
      return x == node.left_by && binding(x).generation == node.left_generation;
    };
    if (node.left_by.valid() && std::any_of(xs.begin(), xs.end(), is_left)) {
      throw Error(str("gradient: a tensor of type ", node.type,
                      " was assigned after the target read it; take gradients before assigning"));
    }
    for (const NodeId operand : node.operands) {
      if (!std::exchange(seen[operand.index], 1)) stack.push_back(operand);
    }
  }
}

}  // namespace reprise
