// The runtime's public face: handles, leaves, recording, tapes.
#include "runtime/runtime.h"

#include <algorithm>
#include <cstring>

#include "ir/error.h"
#include "runtime/runtime_impl.h"

namespace reprise {

// --- Threads -----------------------------------------------------------------------------------

ThreadState::ThreadState(Runtime::Impl& r) : runtime(r), trace(r.nodes) {}

ThreadState::~ThreadState() {
  Runtime::Impl::Locked locked(runtime);
  runtime.reset_trace(trace, locked);
  for (const NodeId id : history) runtime.drop(id, locked);
}

ThreadState& Runtime::Impl::thread() {
  thread_local std::unique_ptr<ThreadState> state;
  if (!state) {
    const std::lock_guard lock(mutex);  // a trace registers itself
    state = std::make_unique<ThreadState>(*this);
  }
  return *state;
}

// --- Nodes and bindings ------------------------------------------------------------------------

#ifdef NDEBUG
Binding& Runtime::Impl::binding(TensorId id) {
  return tensors[id.index];
}
static TensorId make_tensor_id(uint32_t slot, uint8_t) {
  return {slot};
}
static uint32_t slot_of(TensorId id) {
  return id.index;
}
#else
// Debug builds: 24 bits of slot, 8 of generation.
static uint32_t slot_of(TensorId id) {
  return id.index & 0xffffff;
}
static TensorId make_tensor_id(uint32_t slot, uint8_t generation) {
  if (slot > 0xffffff) throw OutOfMemoryError("more than 16777216 live tensors in a debug build");
  return {slot | static_cast<uint32_t>(generation) << 24};
}
Binding& Runtime::Impl::binding(TensorId id) {
  Binding& b = tensors[slot_of(id)];
  REPRISE_ASSERT(b.refs > 0 && b.generation == id.index >> 24);
  return b;
}
#endif

NodeId Runtime::Impl::new_node(Op op, const TensorType& type) {
  const NodeId id{nodes.allocate()};
  LiveNode& node = nodes[id.index];
  node.op = op;
  node.type = type;
  node.refs = 1;
  node.bindings = 0;
  node.sequence = next_sequence++;
  node.in_flight = node.keeps_history = node.consumed = false;
  node.mark_trace = 0;
  return id;
}

void Runtime::Impl::drop(NodeId id, Locked& locked) {
  if (--nodes[id.index].refs > 0) return;
  const size_t floor = dying.size();
  dying.push_back(id);
  while (dying.size() > floor) {
    const NodeId dead = dying.back();
    dying.pop_back();
    LiveNode& node = nodes[dead.index];
    node.sequence = 0;
    if (node.stored) {
      locked.garbage.push_back(std::move(node.stored->storage));
      node.stored.reset();
    }
    for (const NodeId operand : node.operands) {
      if (--nodes[operand.index].refs == 0) dying.push_back(operand);
    }
    node.operands.clear();
    node.attrs = {};
    nodes.free(dead.index);
  }
}

void Runtime::Impl::drop_operands(NodeId id, Locked& locked) {
  LiveNode& node = nodes[id.index];
  const Operands operands = std::move(node.operands);
  node.operands = {};
  for (const NodeId operand : operands) drop(operand, locked);
}

TensorId Runtime::Impl::bind(NodeId id) {
  const uint32_t slot = tensors.allocate();
  Binding& b = tensors[slot];
  b.node = id;
  b.refs = 1;
  ++nodes[id.index].refs;
  ++nodes[id.index].bindings;
  return make_tensor_id(slot, b.generation);
}

void Runtime::Impl::unbind(NodeId id, Locked& locked) {
  --nodes[id.index].bindings;
  drop(id, locked);
}

void Runtime::Impl::reset_trace(Trace& trace, Locked& locked) {
  // Clearing first: dropping a leaf must not meet a trace that still lists it.
  const std::vector<NodeId> leaves(trace.leaves().begin(), trace.leaves().end());
  trace.clear();
  for (const NodeId leaf : leaves) drop(leaf, locked);
}

void Runtime::Impl::settle_trace(Trace& trace, Locked& locked) {
  std::vector<NodeId> pending;
  for (const Trace::Recorded& r : trace.recorded()) {
    const LiveNode& node = nodes[r.node.index];
    if (trace.alive(r) && node.bindings > 0 && !node.is_leaf()) pending.push_back(r.node);
  }
  std::vector<Trace::Recorded> assigned;
  if (!pending.empty()) {
    for (const Trace::Recorded& r : trace.assigned) {
      if (trace.alive(r) && !nodes[r.node.index].is_leaf()) assigned.push_back(r);
    }
  }
  reset_trace(trace, locked);
  for (const NodeId id : pending) (void)trace.reference(id);
  trace.assigned = std::move(assigned);
}

// --- Public: handles ---------------------------------------------------------------------------

Runtime::Runtime() : impl_(new Impl) {}

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;  // never destroyed: handles may outlive main
  return *runtime;
}

void Runtime::retain(TensorId id) {
  const std::lock_guard lock(impl_->mutex);
  ++impl_->binding(id).refs;
}

void Runtime::release(TensorId id) noexcept {
  Impl::Locked locked(*impl_);
  Binding& b = impl_->binding(id);
  if (--b.refs > 0) return;
  ++b.generation;
  impl_->tensors.free(slot_of(id));
  impl_->unbind(b.node, locked);
}

TensorType Runtime::type(TensorId id) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->nodes[impl_->node_of(id).index].type;
}

bool Runtime::is_realized(TensorId id) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->nodes[impl_->node_of(id).index].is_leaf();
}

// --- Public: leaves ----------------------------------------------------------------------------

TensorId Runtime::from_storage(DType dtype, const Layout& layout, StoragePtr storage) {
  Impl::Locked locked(*impl_);
  const NodeId id = impl_->new_node(Op::Input, {dtype, layout.shape});
  impl_->nodes[id.index].stored =
      std::make_unique<StoredValue>(StoredValue{std::move(storage), layout.strides, layout.offset});
  const TensorId tensor = impl_->bind(id);
  impl_->drop(id, locked);
  return tensor;
}

namespace {

std::array<int64_t, kMaxDims> contiguous_byte_strides(const TensorType& type) {
  auto strides = type.shape.contiguous_strides();
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(size_of(type.dtype));
  return strides;
}

}  // namespace

TensorId Runtime::from_host(const TensorType& type, const void* data) {
  const size_t bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  StoragePtr storage = cpu_device().allocator().allocate(bytes);
  if (bytes > 0) std::memcpy(storage->data(), data, bytes);
  return from_storage(type.dtype, {type.shape, contiguous_byte_strides(type), 0},
                      std::move(storage));
}

TensorId Runtime::parameter(DType dtype, uint64_t bits) {
  Impl::Locked locked(*impl_);
  const NodeId id = impl_->new_node(Op::Parameter, {dtype, {}});
  impl_->nodes[id.index].bits = bits;
  const TensorId tensor = impl_->bind(id);
  impl_->drop(id, locked);
  return tensor;
}

TensorId Runtime::random_counter(uint64_t count) {
  uint64_t first;
  {
    const std::lock_guard lock(impl_->mutex);
    first = impl_->random_counter;
    impl_->random_counter += count;
  }
  return parameter(DType::U64, first);
}

void Runtime::set_seed(uint64_t seed) {
  const std::lock_guard lock(impl_->mutex);
  impl_->seed = seed;
  impl_->random_counter = 0;
}

uint64_t Runtime::seed() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->seed;
}

// --- Public: recording -------------------------------------------------------------------------

TensorId Runtime::record(Op op, std::span<const TensorId> operands, const Attrs& attrs,
                         const TensorType* result) {
  ThreadState& thread = impl_->thread();
  TensorId tensor;
  bool flush;
  {
    Impl::Locked locked(*impl_);
    Recorder recorder(*impl_, locked, thread);
    SmallVector<Value, 4> values;
    for (const TensorId id : operands) {
      values.push_back(Value{impl_->operand_node(id, locked).index});
    }
    const Value value = static_cast<Builder&>(recorder).record(op, values, attrs, result);
    tensor = impl_->bind(NodeId{value.index});
    flush = thread.tape_depth == 0 && (thread.trace.recorded().size() >= Impl::kEagerOps ||
                                       thread.trace.leaf_bytes() >= Impl::kEagerBytes);
  }
  if (flush) {
    try {
      impl_->realize({}, Impl::What::AllLive);
    } catch (...) {
      release(tensor);
      throw;
    }
  }
  return tensor;
}

std::vector<TensorId> Runtime::build(
    const std::function<std::vector<Value>(Builder&, const std::function<Value(TensorId)>&)>&
        body) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  Recorder recorder(*impl_, locked, thread);
  const auto value_of = [&](TensorId id) { return Value{impl_->operand_node(id, locked).index}; };
  std::vector<TensorId> result;
  for (const Value value : body(recorder, value_of)) {
    result.push_back(impl_->bind(NodeId{value.index}));
  }
  return result;
}

void Runtime::assign(TensorId target, TensorId value) {
  ThreadState& thread = impl_->thread();
  Impl::Locked locked(*impl_);
  Binding& b = impl_->binding(target);
  const NodeId old_node = b.node;
  const NodeId new_node = impl_->node_of(value);
  const LiveNode& before = impl_->nodes[old_node.index];
  LiveNode& after = impl_->nodes[new_node.index];
  if (before.type.dtype != after.type.dtype) {
    throw DTypeError(str("assign_: the tensor is ", before.type, ", the value is ", after.type));
  }
  if (before.type.shape != after.type.shape) {
    throw ShapeError(str("assign_: the tensor is ", before.type, ", the value is ", after.type));
  }
  if (old_node == new_node) return;
  if (thread.tape_depth > 0) thread.rebinds.push_back({target, old_node, before.sequence});
  if (!after.is_leaf()) thread.trace.assigned.push_back({new_node, after.sequence});
  ++after.refs;
  ++after.bindings;
  b.node = new_node;
  impl_->unbind(old_node, locked);
}

TensorId Runtime::value(TensorId id) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->bind(impl_->node_of(id));
}

// --- Public: tapes -----------------------------------------------------------------------------

void Runtime::begin_tape() {
  ++impl_->thread().tape_depth;
}

void Runtime::end_tape() {
  ThreadState& thread = impl_->thread();
  REPRISE_ASSERT(thread.tape_depth > 0);
  if (--thread.tape_depth > 0) return;
  Impl::Locked locked(*impl_);
  for (const NodeId id : thread.history) {
    LiveNode& node = impl_->nodes[id.index];
    node.keeps_history = false;
    if (node.stored) impl_->drop_operands(id, locked);
    impl_->drop(id, locked);
  }
  thread.history.clear();
  thread.rebinds.clear();
  // What was recorded and dropped must not pile up over tapes that compute nothing.
  if (thread.trace.recorded().size() > 2 * thread.settled + 256) {
    impl_->settle_trace(thread.trace, locked);
    thread.settled = thread.trace.recorded().size();
  }
}

bool Runtime::in_tape() const {
  return impl_->thread().tape_depth > 0;
}

void Runtime::check_history(TensorId y, std::span<const TensorId> xs) const {
  const ThreadState& thread = impl_->thread();
  if (thread.tape_depth == 0) throw Error("gradient: no tape is open on this thread");
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

// --- Public: statistics ------------------------------------------------------------------------

Stats Runtime::stats() const {
  const ThreadState& thread = impl_->thread();
  const std::lock_guard lock(impl_->mutex);
  Stats stats = impl_->counters;
  const KernelCacheStats kernels = impl_->kernels.stats();
  stats.kernels_compiled = kernels.compiled;
  stats.kernel_hits = kernels.hits;
  stats.live_tensors = impl_->tensors.live();
  stats.live_nodes = impl_->nodes.live();
  stats.pending_ops = thread.trace.recorded().size();
  stats.live_bytes = cpu_device().allocator().live_bytes();
  stats.cached_bytes = cpu_device().allocator().cached_bytes();
  return stats;
}

void Runtime::reset_stats() {
  const std::lock_guard lock(impl_->mutex);
  impl_->counters = {};
  impl_->kernels.reset_stats();
}

}  // namespace reprise
