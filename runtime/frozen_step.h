// A recorded step as a function: replayed without recording, looking up or compiling anything.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "runtime/plan_entry.h"
#include "runtime/runtime_impl.h"

namespace reprise {

/// Leaves are what the step reads: the inputs of a replay first, then captured tensors, which are
/// read through their ids. Thread-safe; steps that assign run one at a time.
class FrozenStep {
 public:
  explicit FrozenStep(Runtime::Impl& runtime);
  ~FrozenStep();
  FrozenStep(const FrozenStep&) = delete;
  FrozenStep& operator=(const FrozenStep&) = delete;

  /// Writes one tensor per output, each owned by the caller. Throws ShapeError or DTypeError for an
  /// input of another type than the frozen one's, DeviceError for one on another device, Error when
  /// there are more or fewer inputs, or where tensors that were one are no longer; everything is as
  /// it was then.
  void replay(std::span<const TensorId> inputs, std::span<TensorId> results);

  [[nodiscard]] size_t num_inputs() const { return num_inputs_; }
  [[nodiscard]] size_t num_results() const { return results_.size(); }
  /// The plan that the last replay ran, or will run.
  [[nodiscard]] std::shared_ptr<const LoadedPlan> plan() const;

 private:
  friend class Freezer;
  friend class Runtime;

  struct Leaf {
    TensorType type;
    TensorId tensor;       ///< captured: a reference; an input's is not valid
    bool is_read = false;  ///< as data; what is only passed on may still be pending
    DeviceSet readers{};   ///< the devices that read it
    uint32_t same_as = 0;  ///< an earlier leaf that must be the same value, or its own number
  };
  /// What a result is: an output of the plan, one of the leaves as it came, or a rank-0 parameter's
  /// value at this replay.
  struct Result {
    enum class Kind : uint8_t { Output, Leaf, Parameter } kind;
    uint32_t index;
  };
  struct Assign {
    TensorId tensor;  ///< a reference
    Result value;
  };
  /// The plan for one set of layouts.
  struct Variant {
    std::vector<std::array<int64_t, kMaxDims>> strides;  ///< bytes, by graph input
    std::vector<int64_t> shifts;                         ///< bytes, by graph input
    std::shared_ptr<const LoadedPlan> loaded;
    struct Donation {
      uint32_t output, leaf;
    };
    std::vector<Donation> donations;
  };
  /// One replay under way.
  struct Run;

  /// The step's graph for leaves that lie like this.
  [[nodiscard]] Graph specialized(std::span<const std::array<int64_t, kMaxDims>> strides,
                                  std::vector<int64_t>& shifts) const;
  [[nodiscard]] std::shared_ptr<const Variant> compile(
      std::vector<std::array<int64_t, kMaxDims>> strides) const;
  /// A replay without its hooks.
  void run_once(std::span<const TensorId> inputs, std::span<TensorId> results);
  [[nodiscard]] std::unique_ptr<Run> idle_run();
  void read_cells(Run& run) const;
  /// What a parameter is at this replay.
  [[nodiscard]] uint64_t parameter_bits(const Run& run, uint32_t index, uint64_t counter) const;
  // The runtime's mutex held:
  void check_inputs(std::span<const TensorId> inputs) const;
  /// Finds the leaves' nodes; false after it has waited or computed something: begin again.
  [[nodiscard]] bool find_leaves(std::span<const TensorId> inputs, Run& run,
                                 Runtime::Impl::Locked& locked) const;
  [[nodiscard]] bool find_variant(Run& run);
  void begin(Run& run, ThreadState& thread);
  // Not held:
  void finish(std::unique_ptr<Run> run, bool done, std::span<TensorId> results);

  Runtime::Impl& runtime_;
  Graph graph_;  ///< inputs contiguous
  size_t num_inputs_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> input_leaves_;       ///< by graph input
  std::vector<ParameterSource> parameters_;  ///< by graph parameter, then those of results
  uint32_t graph_parameters_ = 0;            ///< how many of them the graph has
  Device* device_ = nullptr;                 ///< where what no transfer places is computed
  std::vector<TensorType> output_types_;     ///< by graph output
  std::vector<DeviceSet> output_devices_;    ///< by graph output
  std::vector<uint32_t> output_places_;      ///< by graph output: the index of one of those
  std::vector<Result> results_;              ///< what a replay returns
  std::vector<Assign> assigns_;
  std::vector<ReplayHook> hooks_;
  uint64_t random_ = 0;  ///< counters that one replay takes

  std::mutex one_at_a_time_;  ///< held by replays of a step with assigns or hooks
  /// The last one used first; under the runtime's mutex.
  std::vector<std::shared_ptr<const Variant>> variants_;
  std::vector<std::unique_ptr<Run>> idle_;  ///< to be used again; under the runtime's mutex
  static constexpr size_t kMaxVariants = 8;
};

}  // namespace reprise
