// Inside the runtime: its tables, its lock, and what each thread keeps.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/kernel_cache.h"
#include "compiler/once_cache.h"
#include "compiler/pipeline.h"
#include "runtime/execute.h"
#include "runtime/live_node.h"
#include "runtime/mutex.h"
#include "runtime/plan_entry.h"
#include "runtime/runtime.h"
#include "runtime/slab.h"
#include "runtime/trace.h"

namespace reprise {

struct PartitionedGraph;  // compiler/partitioned.h

#ifdef NDEBUG
inline constexpr uint32_t kSlotMask = UINT32_MAX;
#define REPRISE_DEBUG_ASSERT(condition) static_cast<void>(0)
#else
/// Debug builds: 24 bits of slot, 8 of generation.
inline constexpr uint32_t kSlotMask = 0xffffff;
#define REPRISE_DEBUG_ASSERT(condition) REPRISE_ASSERT(condition)
#endif
[[nodiscard]] inline uint32_t slot_of(TensorId id) {
  return id.index & kSlotMask;
}
[[nodiscard]] inline TensorId tensor_id(uint32_t slot, uint32_t generation) {
  if (slot > kSlotMask) throw OutOfMemoryError(str("more than ", kSlotMask, " live tensors"));
  return {slot | (generation & ~kSlotMask >> 24) << 24};
}

/// How a value came into a tape from outside, for freezing: a node read through a tensor.
struct Capture {
  NodeId node;
  uint64_t sequence;  ///< of the node
  TensorId tensor;
  uint32_t generation;  ///< of the tensor's slot
  /// Inside: the tape itself bound the tensor to the node, so it is not where the value came from.
  enum class Bound : uint8_t { Before, Inside } bound;
};

/// A rank-0 parameter that a replay gives a new value.
struct ParameterSource {
  enum class Kind : uint8_t {
    Fixed,    ///< the recorded value
    Cell,     ///< a Scalar's present value
    Key,      ///< the seed
    Counter,  ///< fresh counters of the random stream
    Leaf,     ///< the value of a tensor (of a FrozenStep's leaf)
  } kind = Kind::Fixed;
  DType dtype = DType::F32;
  uint64_t bits = 0;  ///< Fixed: the value; Counter: after the tape's first; Leaf: its number
  std::shared_ptr<const ScalarCell> cell = {};
};

/// What one thread records into.
struct ThreadState {
  explicit ThreadState(Runtime::Impl& runtime);
  ~ThreadState();

  /// Where a tape begins, in what follows and in the order of recording.
  struct TapeStart {
    uint64_t sequence;
    size_t rebinds, captures, sources, hooks;
    uint64_t random;
  };
  struct Rebind {
    TensorId tensor;
    uint32_t generation;  ///< of the tensor's slot
    NodeId old_node;
    uint64_t sequence;
    bool by_replay = false;  ///< an effect of the replay, not of what the tape recorded
  };
  struct Source {
    NodeId node;
    uint64_t sequence;
    ParameterSource source;
  };

  [[nodiscard]] bool in_tape() const { return tape_number != 0; }

  Runtime::Impl& runtime;
  Trace trace;
  Execution execution;  ///< of the realize under way
  size_t settled = 0;   ///< entries of the trace when it was last rid of dropped nodes
  /// What was pending for long could not be computed beside something else: an index that nobody
  /// has read yet was out of range. Until nothing is pending.
  bool aged_failed = false;
  /// Eager mode computes nothing before the trace has so many entries: an index that nobody has
  /// read yet was out of range.
  size_t postponed = 0;
  std::vector<TapeStart> tapes;
  // All since the outermost tape began:
  uint32_t tape_number = 0;     ///< no other tape of the process has it; 0: no tape is open
  GrowingList<NodeId> history;  ///< recorded nodes; references held
  std::vector<Rebind> rebinds;  ///< assigns
  std::vector<Capture> captures;
  std::vector<Source> sources;
  std::vector<ReplayHook> hooks;
  uint64_t random = 0;  ///< counters reserved

  /// Handles dropped inside a tape, which holds what was recorded anyway: they are released
  /// together, when this thread next has the mutex.
  static constexpr uint32_t kMaxDropped = 64;
  std::array<TensorId, kMaxDropped> dropped;
  uint32_t dropped_count = 0;
};

struct Runtime::Impl {
  /// The mutex. Storage is destroyed only after it is released: deleters are foreign code.
  class Locked {
   public:
    explicit Locked(Impl& impl) : lock(impl.mutex), impl_(impl) {
      if (current_thread != nullptr && current_thread->dropped_count > 0) {
        impl.release_dropped(*current_thread, *this);
      }
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() {
      if (!impl_.discarded.empty()) [[unlikely]]
        unlock_and_destroy();
    }
    /// Keeps storage until the mutex is released.
    void discard(StoragePtr storage) {
      if (storage) impl_.discarded.push_back(std::move(storage));
    }

    std::unique_lock<Mutex> lock;

   private:
    void unlock_and_destroy();
    Impl& impl_;
  };

  mutable Mutex mutex;
  Condition computed;  ///< some in-flight value was stored, or failed
  Slab<LiveNode> nodes;
  Slab<Binding> tensors;
  uint64_t next_sequence = 1;
  uint32_t next_tape = 1;
  uint64_t seed = 0;
  uint64_t random_counter = 0;
  size_t left_nodes = 0;  ///< live ones that a tensor was bound to before it was assigned
  Stats counters;         ///< live figures are computed when asked for
  GrowingList<NodeId> dying;
  /// What threads recorded that have ended and nobody has computed yet: as long as a trace says
  /// what it reads, that is not given away. Null when there is nothing.
  std::unique_ptr<Trace> left_behind;
  std::vector<StoragePtr> discarded;  ///< to be destroyed by whoever releases the mutex next

  static constexpr size_t kPlanCapacityBytes = size_t{64} << 20;
  OnceCache<PlanEntry> plans{kPlanCapacityBytes, bytes_of};          ///< by trace
  OnceCache<LoadedPlan> loaded_plans{kPlanCapacityBytes, bytes_of};  ///< by optimized graph
  KernelCache kernels;
  CompileOptions options;

  // Eager mode computes what is pending when this much has gathered.
  static constexpr size_t kEagerOps = 4096;
  static constexpr int64_t kEagerBytes = int64_t{512} << 20;

  [[nodiscard]] ThreadState& thread() {
    return current_thread != nullptr ? *current_thread : begin_thread();
  }
  [[nodiscard]] ThreadState& begin_thread();
  // In the library's own thread-local block: one load, not a call.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local ThreadState* current_thread;

  // All below: mutex held.
  [[nodiscard]] Binding& binding(TensorId id) {
    Binding& b = tensors[slot_of(id)];
    REPRISE_DEBUG_ASSERT(b.refs > 0 && (b.generation & 0xff) == id.index >> 24);
    return b;
  }
  [[nodiscard]] NodeId node_of(TensorId id) { return binding(id).node; }
  [[nodiscard]] LiveNode& live_node(TensorId id) { return nodes[node_of(id).index]; }
  /// Waits (the mutex is released meanwhile) until another thread computes none of these, all at
  /// one moment: what they were made of may just be given away to them.
  void await_computed(std::span<const TensorId> ids, Locked& locked);
  /// The nodes of operands, once nobody computes one of them.
  template <class... Ids>
  [[nodiscard]] std::array<LiveNode*, sizeof...(Ids)> operands(ThreadState& thread, Locked& locked,
                                                               Ids... ids) {
    std::array<LiveNode*, sizeof...(Ids)> found{&live_node(ids)...};
    if (std::any_of(found.begin(), found.end(), [](LiveNode* n) { return n->in_flight; }))
        [[unlikely]] {
      await_computed(std::array{ids...}, locked);
      found = {&live_node(ids)...};
    }
    LiveNode* const* next = found.data();
    (note_read(thread, ids, **next++), ...);
    return found;
  }
  /// A node with one reference, the caller's.
  [[nodiscard]] LiveNode& new_node(Op op, DType dtype, const Shape& shape) {
    const NodeId id{nodes.allocate()};
    LiveNode& node = nodes[id.index];
    node.id = id;
    node.op = op;
    node.type.dtype = dtype;
    node.type.shape = shape;
    node.refs = 1;
    node.bindings = 0;
    node.sequence = next_sequence++;
    node.devices = DeviceSet::all();
    node.in_flight = node.keeps_history = node.consumed = false;
    node.mark_trace = 0;
    node.reader_tape = 0;
    return node;
  }
  static void add_operand(LiveNode& node, LiveNode& operand) {
    node.operands.push_back(operand.id);
    node.devices = node.devices & operand.devices;
    ++operand.refs;
  }
  /// A node that is in the trace by now: inside a tape it enters the history.
  void note_recorded(ThreadState& thread, LiveNode& node) {
    if (thread.in_tape()) {
      node.keeps_history = true;
      ++node.refs;
      thread.history.push_back(node.id);
    }
    ++counters.recorded;
  }
  void drop(NodeId id, Locked& locked) {
    if (--nodes[id.index].refs == 0) destroy(id, locked);
  }
  void destroy(NodeId id, Locked& locked);
  [[nodiscard]] TensorId bind(NodeId id) {
    LiveNode& node = nodes[id.index];
    ++node.refs;
    return bind_owned(node);
  }
  /// Takes over a reference of the caller.
  [[nodiscard]] TensorId bind_owned(LiveNode& node) {
    const uint32_t slot = tensors.allocate();
    Binding& b = tensors[slot];
    b.node = node.id;
    b.refs = 1;
    ++node.bindings;
    return tensor_id(slot, b.generation);
  }
  /// A tensor for what was recorded. That may be a value from outside a tape, passed on as it came.
  [[nodiscard]] TensorId bind_recorded(ThreadState& thread, NodeId id) {
    const TensorId tensor = bind(id);
    LiveNode& node = nodes[id.index];
    if (thread.in_tape() && !node.keeps_history) {
      note_capture(thread, tensor, node, Capture::Bound::Inside);
    }
    return tensor;
  }
  void unbind(NodeId id, Locked& locked) {
    --nodes[id.index].bindings;
    drop(id, locked);
  }
  /// Drops one reference of a tensor.
  void release(TensorId id, Locked& locked) {
    Binding& b = binding(id);
    if (--b.refs > 0) return;
    ++b.generation;
    ++b.version;
    tensors.free(slot_of(id));
    unbind(b.node, locked);
  }
  void release_dropped(ThreadState& thread, Locked& locked);
  /// Remembers through which tensor a value from outside came into this thread's tape.
  void note_read(ThreadState& thread, TensorId id, LiveNode& read) {
    if (!thread.in_tape() || read.keeps_history) return;
    if (read.reader_tape == thread.tape_number && read.reader == id) return;
    note_capture(thread, id, read);
  }
  /// Records an op on two operands of one dtype and shape (or rank 0); null when they differ.
  [[nodiscard]] LiveNode* try_binary(ThreadState& thread, Op op, LiveNode& x, LiveNode& y);
  void note_capture(ThreadState& thread, TensorId id, LiveNode& read,
                    Capture::Bound bound = Capture::Bound::Before);
  void drop_operands(NodeId id, Locked& locked);
  void reset_trace(Trace& trace, Locked& locked);
  /// What a handle can reach of it that is not computed.
  [[nodiscard]] std::vector<NodeId> pending_of(const Trace& trace) const;
  /// The trace's thread ends.
  void leave_behind(const Trace& trace, Locked& locked) noexcept;
  /// Forgets what has been computed or dropped of what ended threads recorded; false: nothing has.
  bool settle_left_behind(Locked& locked);
  /// Forgets what has been computed or dropped; what is still pending stays recorded.
  void settle_trace(Trace& trace, Locked& locked);
  /// The node, referenced, that `target` goes back to when what it is about to be assigned cannot
  /// be computed.
  [[nodiscard]] NodeId hold_fallback(Trace& trace, TensorId target);
  void drop_fallback(Trace::Assigned& assigned, Locked& locked);
  /// What keeps a value from being computed, now and later: an index out of range, or a device that
  /// is lost or refuses code.
  enum class Trouble : uint8_t { Index, Device };
  /// `trace` met trouble: the tensors of `own` that were assigned values which may be to blame,
  /// made with checked indices or on a device other than the CPU, are bound to their old values
  /// again.
  void take_back_assigns(const Trace& trace, Trouble trouble, Trace& own, Locked& locked);
  /// `tensor` is about to be bound to another node.
  void note_left(LiveNode& node, TensorId tensor) {
    if (!node.left_by.valid()) ++left_nodes;
    node.left_by = tensor;
    node.left_generation = binding(tensor).generation;
  }
  /// Throws when one of `xs` was assigned after `y` read its old value, by whatever thread.
  void check_rebinds(NodeId y, std::span<const TensorId> xs);

  [[nodiscard]] LiveNode& new_parameter(ThreadState& thread, const ParameterSource& source,
                                        uint64_t bits);
  /// Computes what eager mode has gathered when that is enough; `recorded` is released if it
  /// throws. An index out of range, or a lost device, is told to who reads a value that needs it.
  void flush_if_due(ThreadState& thread, TensorId recorded);

  // Mutex not held.
  [[nodiscard]] TensorId parameter(const ParameterSource& source, uint64_t bits);
  enum class What : uint8_t { Given, Read, Only, AllLive };
  /// Given: computes `ids`, the pending assigns of this thread, which an index out of range takes
  /// back, and what was already pending when it last computed something, so that a running total
  /// stays short; Read: the same, but what is taken back is the caller's to say; Only: nothing but
  /// `ids`; AllLive: everything this thread has pending that a handle can reach.
  void realize(std::span<const TensorId> ids, What what);
  [[nodiscard]] StoredValue stored(TensorId id, TensorType& type);
  [[nodiscard]] std::shared_ptr<const LoadedPlan> load_plan(
      const Graph& graph, Device& device, std::span<const uint32_t> output_devices = {});
  /// Loads the code of a compiled graph.
  [[nodiscard]] std::shared_ptr<LoadedPlan> make_plan(const Graph& graph, PartitionedGraph compiled,
                                                      const StageObserver& observer);
  /// What an entry's plan was compiled from, and the devices of its outputs.
  [[nodiscard]] Graph graph_of(const Trace& trace, const PlanEntry& entry, const Device& device,
                               std::vector<uint32_t>& places);

  // Mutex held: a parameter's value as data.
  [[nodiscard]] StoredValue store_parameter(const LiveNode& parameter);
  // Mutex held: collects what a plan reads and decides donations.
  void prepare(const Trace& trace, const PlanEntry& entry, Execution& run);
};

/// Records into the live slab; values are node numbers. Holds the mutex through its caller.
class Recorder final : public Builder {
 public:
  Recorder(Runtime::Impl& impl, Runtime::Impl::Locked& locked, ThreadState& thread)
      : impl_(impl), locked_(locked), thread_(thread) {}
  ~Recorder() override;
  [[nodiscard]] ValueView view(Value value) const override;
  [[nodiscard]] uint64_t order(Value value) const override {
    return impl_.nodes[value.index].sequence;
  }
  /// The present values of tensors that nobody computes, kept until the recorder ends.
  [[nodiscard]] SmallVector<Value, 4> values_of(std::span<const TensorId> ids);
  /// The same value, which is computed on `device` and nowhere else: transferred there when it is
  /// computed elsewhere.
  [[nodiscard]] Value settle_on(const Device& device, Value value);

 private:
  Value append(Op op, std::span<const Value> operands, const Attrs& attrs,
               const TensorType& type) override;
  /// Throws DeviceError when no device has all operands.
  void check_devices(Op op, std::span<const Value> operands, const Attrs& attrs) const;

  Runtime::Impl& impl_;
  Runtime::Impl::Locked& locked_;
  ThreadState& thread_;
  SmallVector<NodeId, 8> kept_;  ///< a reference each, so that nothing vanishes on the way
};

}  // namespace reprise
