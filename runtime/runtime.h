// The runtime: one mutex, the slab of tensor bindings and recorded nodes, realization.
//
// A TensorId is a binding to a node; copies of a handle share the id, assigning rebinds it. A node
// is an immutable value: recorded, pending, or stored. All public calls are thread-safe; the mutex
// is held while recording and bookkeeping, never while compiling, computing or copying.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/number.h"
#include "ir/shape.h"
#include "runtime/device.h"
#include "runtime/storage.h"

namespace reprise {

struct TensorTag {
  static constexpr const char* kPrefix = "t";
};
/// A tensor's 4 bytes. Debug builds keep 8 bits of generation in it and check them.
using TensorId = Id<TensorTag>;

/// Where a stored value's elements are: strides and offset in bytes, outermost axis first.
struct Layout {
  Shape shape;
  std::array<int64_t, kMaxDims> strides{};
  int64_t offset = 0;
};

/// Bytes, row-major.
[[nodiscard]] inline std::array<int64_t, kMaxDims> contiguous_byte_strides(const TensorType& type) {
  auto strides = type.shape.contiguous_strides();
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(size_of(type.dtype));
  return strides;
}

/// Counters since the start or the last reset_stats(); live figures are as of now.
struct Stats {
  // What was asked of each cache: a recorded trace; when it is new, its optimized graph; when that
  // is new too and its plan is compiled, the plan's kernels.
  uint64_t plan_hits = 0, plan_misses = 0;
  uint64_t graph_hits = 0, plans_compiled = 0;
  uint64_t kernel_hits = 0, kernels_compiled = 0;
  uint64_t launches = 0, realizes = 0, replays = 0, recorded = 0;
  double compile_seconds = 0;
  uint64_t live_tensors = 0, live_nodes = 0;
  uint64_t pending_ops = 0;  ///< recorded by the calling thread and not settled yet
  uint64_t live_bytes = 0, cached_bytes = 0;  ///< of tensors; kept for the next; on all devices
  uint64_t cache_bytes = 0;  ///< host memory of the plan and kernel caches, which are bounded
};

/// Of assigns that belong together: whether one of them has been taken back.
struct AssignWatch {
  std::atomic<bool> taken_back{false};
};

class FrozenStep;
struct LoadedPlan;

/// What a replay tells its hooks: it begins, or it threw and everything is to be as before.
enum class ReplayEvent : uint8_t { Begins, Failed };
using ReplayHook = std::function<void(ReplayEvent)>;

class Runtime {
 public:
  [[nodiscard]] static Runtime& get() {
    Runtime* const runtime = instance_.load(std::memory_order_acquire);
    return runtime != nullptr ? *runtime : create();
  }

  // Handles. Every id returned below is owned once by the caller.
  void retain(TensorId id);
  void release(TensorId id) noexcept;

  // Leaves
  /// Copies `type.shape.numel()` contiguous elements to the default device.
  [[nodiscard]] TensorId from_host(const TensorType& type, const void* data);
  /// Adopts storage without copying; `borrowed` storage is never written.
  [[nodiscard]] TensorId from_storage(DType dtype, const Layout& layout, StoragePtr storage);
  /// A rank-0 value that is a parameter of every plan, never part of a key. Throws DTypeError when
  /// the number does not fit.
  [[nodiscard]] TensorId parameter(DType dtype, const Number& value);
  /// A rank-0 u64 parameter: the seed.
  [[nodiscard]] TensorId random_key();
  /// A rank-0 u64 parameter: the first of `count` counters of the global random stream, reserved.
  [[nodiscard]] TensorId random_counter(uint64_t count);
  void set_seed(uint64_t seed);
  [[nodiscard]] uint64_t seed() const;

  // Recording
  [[nodiscard]] TensorId record(Op op, std::span<const TensorId> operands, const Attrs& attrs = {},
                                const TensorType* result = nullptr);
  // The common case of `record` for little: an elementwise op whose operands already are of one
  // dtype that it takes, and of one shape or rank 0. In any other case the result is invalid and
  // nothing has been recorded.
  [[nodiscard]] TensorId try_record(Op op, TensorId a);
  [[nodiscard]] TensorId try_record(Op op, TensorId a, TensorId b);
  enum class NumberIs : uint8_t { First, Second };
  [[nodiscard]] TensorId try_record(Op op, TensorId a, const Number& number, NumberIs side);
  /// Runs `body` with a builder that records live and the values of `operands`; the values it
  /// returns become ids. The mutex is held: `body` must not call back.
  [[nodiscard]] std::vector<TensorId> build(
      std::span<const TensorId> operands,
      const std::function<std::vector<Value>(Builder&, std::span<const Value>)>& body);
  [[nodiscard]] TensorType type(TensorId id) const;
  /// Rebinds `target` to the present value of `value`. Same type, else ShapeError or DTypeError.
  /// When the value turns out to need an index out of range, the error takes the assign back, and
  /// says so in `watch`, which is held as long as that may happen.
  void assign(TensorId target, TensorId value, std::shared_ptr<AssignWatch> watch = nullptr);
  /// A new handle on the present value; later assigns to `id` do not reach it.
  [[nodiscard]] TensorId value(TensorId id);

  // Tapes: per thread, nested. While one is open nothing launches by itself and recorded nodes keep
  // their history (for gradients) until it ends.
  size_t begin_tape();  ///< returns how many are open then
  void end_tape();
  [[nodiscard]] size_t open_tapes() const;  ///< of this thread
  [[nodiscard]] bool in_tape() const { return open_tapes() > 0; }
  /// The order (see Builder::order) of what is recorded next, by whichever thread.
  [[nodiscard]] uint64_t next_order() const;
  /// Whether what this thread's tape recorded still says how y came from xs. Throws Error when no
  /// tape is open or an x was assigned after y read its old value.
  void check_history(TensorId y, std::span<const TensorId> xs) const;

  /// Notes something to be called at the start of every replay of a step frozen from this thread's
  /// open tape, before the step's Scalars are read, and again if the replay fails. Does nothing
  /// when no tape is open.
  void at_replay(ReplayHook hook);
  /// What this thread's innermost tape recorded of `outputs` and of its assigns, as a function of
  /// `inputs` and of the tensors it read besides. Throws Error when no tape is open, or an input
  /// was assigned inside it.
  [[nodiscard]] std::shared_ptr<FrozenStep> freeze(std::span<const TensorId> inputs,
                                                   std::span<const TensorId> outputs);

  // Values
  /// Computes the given tensors and every pending assign of this thread; values with live handles
  /// among what is computed are stored too.
  void realize(std::span<const TensorId> ids);
  /// Realizes and copies contiguous elements out; throws IndexError if a gather went out of range.
  void read(TensorId id, void* destination, size_t bytes);
  /// Realizes and returns where the elements are, on whatever device, without a copy.
  [[nodiscard]] std::pair<StoragePtr, Layout> storage(TensorId id);
  /// The same in the CPU's memory. Throws DeviceError when they are on another device.
  [[nodiscard]] std::pair<StoragePtr, Layout> host_storage(TensorId id);
  /// The value on `device`: itself where it is there, else a transfer inside a tape, and realized
  /// and copied outside of one. A large block is shared where both address it.
  [[nodiscard]] TensorId to_device(TensorId id, Device& device);
  /// Where the value may be computed and read; all: it depends on no data.
  [[nodiscard]] DeviceSet devices(TensorId id) const;
  [[nodiscard]] bool is_realized(TensorId id) const;
  /// Text of the graph that realizing `ids` would compile.
  [[nodiscard]] std::string dump_graph(std::span<const TensorId> ids);

  /// The plan of a graph, found or compiled, its kernels loaded (see plan_entry.h). What no
  /// transfer brings elsewhere is computed on `device`, or where `output_devices` (indices of
  /// devices, by output) say.
  [[nodiscard]] std::shared_ptr<const LoadedPlan> load_plan(
      const Graph& graph, Device& device, std::span<const uint32_t> output_devices = {});

  [[nodiscard]] Stats stats() const;
  void reset_stats();

  struct Impl;  ///< runtime_impl.h

 private:
  void release_now(TensorId id) noexcept;
  [[nodiscard]] static Runtime& create();
  static inline constinit std::atomic<Runtime*> instance_{nullptr};

  Runtime();
  ~Runtime() = delete;  // lives as long as the process
  Impl* impl_;
};

}  // namespace reprise
