// Inside the runtime: its tables, its lock, and what each thread keeps.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "compiler/kernel_cache.h"
#include "compiler/once_cache.h"
#include "compiler/pipeline.h"
#include "runtime/execute.h"
#include "runtime/live_node.h"
#include "runtime/plan_entry.h"
#include "runtime/runtime.h"
#include "runtime/slab.h"
#include "runtime/trace.h"

namespace reprise {

/// What one thread records into.
struct ThreadState {
  explicit ThreadState(Runtime::Impl& runtime);
  ~ThreadState();

  Runtime::Impl& runtime;
  Trace trace;
  int tape_depth = 0;
  size_t settled = 0;           ///< entries of the trace when it was last rid of dropped nodes
  std::vector<NodeId> history;  ///< nodes recorded since the outermost tape began; references held
  struct Rebind {
    TensorId tensor;
    NodeId old_node;
    uint64_t sequence;
  };
  std::vector<Rebind> rebinds;  ///< assigns since the outermost tape began
};

struct Runtime::Impl {
  /// The mutex, and what must be destroyed only after it is released (deleters are foreign code).
  class Locked {
   public:
    explicit Locked(Impl& impl) : lock(impl.mutex) {}
    std::vector<StoragePtr> garbage;
    std::unique_lock<std::mutex> lock;  // declared last: released first
  };

  mutable std::mutex mutex;
  std::condition_variable computed;  ///< some in-flight value was stored, or failed
  Slab<LiveNode> nodes;
  Slab<Binding> tensors;
  uint64_t next_sequence = 1;
  uint64_t seed = 0;
  uint64_t random_counter = 0;
  Stats counters;  ///< live figures are computed when asked for
  std::vector<NodeId> dying;

  static constexpr size_t kPlanCapacity = 512;
  OnceCache<PlanEntry> plans{kPlanCapacity};
  KernelCache kernels;
  CompileOptions options;

  // Eager mode computes what is pending when this much has gathered.
  static constexpr size_t kEagerOps = 4096;
  static constexpr int64_t kEagerBytes = int64_t{512} << 20;

  [[nodiscard]] ThreadState& thread();

  // All below: mutex held.
  [[nodiscard]] Binding& binding(TensorId id);
  [[nodiscard]] NodeId node_of(TensorId id) { return binding(id).node; }
  /// The node of an operand. Waits (the mutex is released meanwhile) while another thread computes
  /// it: what it was made of may just be given away to it.
  [[nodiscard]] NodeId operand_node(TensorId id, Locked& locked) {
    computed.wait(locked.lock, [&] { return !nodes[node_of(id).index].in_flight; });
    return node_of(id);
  }
  [[nodiscard]] NodeId new_node(Op op, const TensorType& type);  ///< one reference, the caller's
  void drop(NodeId id, Locked& locked);
  [[nodiscard]] TensorId bind(NodeId id);
  void unbind(NodeId id, Locked& locked);
  void drop_operands(NodeId id, Locked& locked);
  void reset_trace(Trace& trace, Locked& locked);
  /// Forgets what has been computed or dropped; what is still pending stays recorded.
  void settle_trace(Trace& trace, Locked& locked);
  /// Throws when one of `xs` was assigned after `y` read its old value.
  void check_rebinds(const ThreadState& thread, NodeId y, std::span<const TensorId> xs);

  // Mutex not held.
  enum class What : uint8_t { Given, Only, AllLive };
  /// Given: computes `ids` and the pending assigns of this thread; Only: nothing but `ids`;
  /// AllLive: everything this thread has pending that a handle can reach.
  void realize(std::span<const TensorId> ids, What what);
  [[nodiscard]] StoredValue stored(TensorId id, TensorType& type);

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

 private:
  Value append(Op op, std::span<const Value> operands, const Attrs& attrs,
               const TensorType& type) override;

  Runtime::Impl& impl_;
  Runtime::Impl::Locked& locked_;
  ThreadState& thread_;
  SmallVector<NodeId, 8> recorded_;  ///< a reference each, so that nothing vanishes on the way
};

}  // namespace reprise
