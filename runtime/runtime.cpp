// The runtime's public face: handles, leaves, recording, tapes.
#include "runtime/runtime.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ir/error.h"
#include "runtime/runtime_impl.h"

namespace reprise {

// --- Threads -----------------------------------------------------------------------------------

ThreadState::ThreadState(Runtime::Impl& r) : runtime(r), trace(r.nodes) {}

ThreadState::~ThreadState() {
  Runtime::Impl::Locked locked(runtime);
  runtime.release_dropped(*this, locked);
  runtime.leave_behind(trace, locked);
  runtime.reset_trace(trace, locked);
  for (const NodeId id : history) runtime.drop(id, locked);
}

constinit thread_local ThreadState* Runtime::Impl::current_thread = nullptr;

ThreadState& Runtime::Impl::begin_thread() {
  struct Owner {
    std::unique_ptr<ThreadState> state;
    ~Owner() { current_thread = nullptr; }
  };
  thread_local Owner owner;
  const std::lock_guard lock(mutex);  // a trace registers itself
  owner.state = std::make_unique<ThreadState>(*this);
  return *(current_thread = owner.state.get());
}

void Runtime::Impl::Locked::unlock_and_destroy() {
  StoragePtr last = std::move(impl_.discarded.back());  // mostly the only one
  impl_.discarded.pop_back();
  std::vector<StoragePtr> others;
  if (!impl_.discarded.empty()) others.swap(impl_.discarded);
  lock.unlock();
}

// --- Nodes and bindings ------------------------------------------------------------------------

namespace {
constexpr uint32_t kFewOperands = 3;  // what Operands keeps without allocating
}

void Runtime::Impl::destroy(NodeId id, Locked& locked) {
  // Without recursion, whatever the depth of what hangs on it.
  for (NodeId dead = id;;) {
    LiveNode& node = nodes[dead.index];
    node.sequence = 0;
    if (std::exchange(node.left_by, {}).valid()) --left_nodes;
    if (node.stored) {
      locked.discard(std::move(node.stored->storage));
      node.stored.reset();
    }
    for (const NodeId operand : node.operands) {
      if (--nodes[operand.index].refs == 0) dying.push_back(operand);
    }
    // Lists that live in the node itself cost nothing; longer ones give their memory back.
    if (node.operands.size() <= kFewOperands) {
      node.operands.clear();
    } else {
      node.operands = {};
    }
    if (!node.attrs.words().empty()) node.attrs = {};
    nodes.free(dead.index);
    if (dying.empty()) return;
    dead = dying.back();
    dying.pop_back();
  }
}

void Runtime::Impl::await_computed(std::span<const TensorId> ids, Locked& locked) {
  computed.wait(locked.lock, [&] {
    return std::none_of(ids.begin(), ids.end(),
                        [&](TensorId id) { return live_node(id).in_flight; });
  });
}

void Runtime::Impl::release_dropped(ThreadState& thread, Locked& locked) {
  for (uint32_t i = 0; i < thread.dropped_count; ++i) release(thread.dropped[i], locked);
  thread.dropped_count = 0;
}

void Runtime::Impl::drop_operands(NodeId id, Locked& locked) {
  LiveNode& node = nodes[id.index];
  const Operands operands = std::move(node.operands);
  node.operands = {};
  for (const NodeId operand : operands) drop(operand, locked);
}

void Runtime::Impl::reset_trace(Trace& trace, Locked& locked) {
  // Clearing first: dropping a leaf must not meet a trace that still lists it.
  const std::vector<NodeId> leaves(trace.leaves().begin(), trace.leaves().end());
  std::vector<Trace::Assigned> assigned = std::move(trace.assigned);
  trace.clear();
  for (const NodeId leaf : leaves) drop(leaf, locked);
  for (Trace::Assigned& a : assigned) drop_fallback(a, locked);
}

std::vector<NodeId> Runtime::Impl::pending_of(const Trace& trace) const {
  std::vector<NodeId> pending;
  for (const Trace::Recorded& r : trace.recorded()) {
    const LiveNode& node = nodes[r.node.index];
    if (trace.alive(r) && node.bindings > 0 && !node.is_leaf()) pending.push_back(r.node);
  }
  return pending;
}

void Runtime::Impl::leave_behind(const Trace& trace, Locked& locked) noexcept {
  for (const NodeId id : pending_of(trace)) {
    if (!left_behind) left_behind = std::make_unique<Trace>(nodes);
    (void)left_behind->reference(id);
  }
  settle_left_behind(locked);
}

bool Runtime::Impl::settle_left_behind(Locked& locked) {
  if (!left_behind) return false;
  const std::span<const Trace::Recorded> recorded = left_behind->recorded();
  const bool stale = std::any_of(recorded.begin(), recorded.end(), [&](const Trace::Recorded& r) {
    return !left_behind->alive(r) || nodes[r.node.index].is_leaf();
  });
  if (!stale) return false;
  settle_trace(*left_behind, locked);
  if (left_behind->recorded().empty()) left_behind.reset();
  return true;
}

void Runtime::Impl::settle_trace(Trace& trace, Locked& locked) {
  const std::vector<NodeId> pending = pending_of(trace);
  const auto in_aged = [&](NodeId id) { return trace.at(id).index() < trace.aged; };
  const auto aged = std::count_if(pending.begin(), pending.end(), in_aged);
  std::vector<Trace::Assigned> assigned;
  if (!pending.empty()) {
    for (Trace::Assigned& a : trace.assigned) {
      if (!trace.alive(a.value) || nodes[a.value.node.index].is_leaf()) continue;
      assigned.push_back(a);
      a.fallback = {};
    }
  }
  reset_trace(trace, locked);
  for (size_t i = 0; i < pending.size(); ++i) {
    (void)trace.reference(pending[i]);
    if (std::cmp_equal(i + 1, aged)) trace.aged = static_cast<uint32_t>(trace.recorded().size());
  }
  trace.assigned = std::move(assigned);
}

// --- Public: handles ---------------------------------------------------------------------------

Runtime::Runtime() : impl_(new Impl) {}

Runtime& Runtime::create() {
  static Runtime* const runtime = new Runtime;  // never destroyed: handles may outlive main
  instance_.store(runtime, std::memory_order_release);
  return *runtime;
}

void Runtime::retain(TensorId id) {
  const std::lock_guard lock(impl_->mutex);
  ++impl_->binding(id).refs;
}

void Runtime::release(TensorId id) noexcept {
  ThreadState* const thread = Impl::current_thread;
  if (thread != nullptr && thread->in_tape() && thread->dropped_count < ThreadState::kMaxDropped)
      [[likely]] {
    thread->dropped[thread->dropped_count++] = id;
  } else {
    release_now(id);
  }
}

[[gnu::noinline]] void Runtime::release_now(TensorId id) noexcept {
  Impl::Locked locked(*impl_);
  impl_->release(id, locked);
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
  LiveNode& node = impl_->new_node(Op::Input, dtype, layout.shape);
  node.devices = DeviceSet::of(*storage->device());
  node.stored = {layout.strides, layout.offset, std::move(storage)};
  return impl_->bind_owned(node);
}

TensorId Runtime::from_host(const TensorType& type, const void* data) {
  const size_t bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  return from_storage(type.dtype, {type.shape, contiguous_byte_strides(type), 0},
                      upload(default_device(), data, bytes));
}

TensorId Runtime::parameter(DType dtype, const Number& value) {
  ParameterSource source{.dtype = dtype, .bits = value.bits(dtype)};
  if (value.cell() != nullptr) {
    source.kind = ParameterSource::Kind::Cell;
    source.cell = value.cell()->shared_from_this();
  }
  return impl_->parameter(source, source.bits);
}

TensorId Runtime::random_key() {
  return impl_->parameter({.kind = ParameterSource::Kind::Key, .dtype = DType::U64}, seed());
}

TensorId Runtime::random_counter(uint64_t count) {
  ThreadState& thread = impl_->thread();
  uint64_t first;
  {
    const std::lock_guard lock(impl_->mutex);
    first = impl_->random_counter;
    impl_->random_counter += count;
  }
  const ParameterSource source{
      .kind = ParameterSource::Kind::Counter, .dtype = DType::U64, .bits = thread.random};
  if (thread.in_tape()) thread.random += count;
  return impl_->parameter(source, first);
}

TensorId Runtime::Impl::parameter(const ParameterSource& source, uint64_t bits) {
  ThreadState& state = thread();
  Locked locked(*this);
  return bind_owned(new_parameter(state, source, bits));
}

LiveNode& Runtime::Impl::new_parameter(ThreadState& state, const ParameterSource& source,
                                       uint64_t bits) {
  LiveNode& node = new_node(Op::Parameter, source.dtype, {});
  node.bits = bits;
  if (source.kind != ParameterSource::Kind::Fixed && state.in_tape()) {
    state.sources.push_back({node.id, node.sequence, source});
  }
  return node;
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

// --- Public: statistics ------------------------------------------------------------------------

Stats Runtime::stats() const {
  const ThreadState& thread = impl_->thread();
  const Impl::Locked locked(*impl_);
  Stats stats = impl_->counters;
  const KernelCacheStats kernels = impl_->kernels.stats();
  stats.kernels_compiled = kernels.compiled;
  stats.kernel_hits = kernels.hits;
  stats.cache_bytes = impl_->kernels.bytes() + impl_->plans.weight() + impl_->loaded_plans.weight();
  stats.live_tensors = impl_->tensors.live();
  stats.live_nodes = impl_->nodes.live();
  stats.pending_ops = thread.trace.recorded().size();
  for (Device* const device : opened_devices()) {
    stats.live_bytes += device->allocator().live_bytes();
    stats.cached_bytes += device->allocator().cached_bytes();
  }
  return stats;
}

void Runtime::reset_stats() {
  const std::lock_guard lock(impl_->mutex);
  impl_->counters = {};
  impl_->kernels.reset_stats();
}

}  // namespace reprise
