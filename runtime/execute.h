// Running a plan: allocate, launch, hand the results back.
#pragma once

#include <memory>
#include <vector>

#include "runtime/live_node.h"
#include "runtime/plan_entry.h"

namespace reprise {

/// One run of a plan: what it reads, what it leaves. Meant to be used again: its lists keep their
/// memory.
struct Execution {
  /// What a launch is given lies `shift` bytes from the value's element 0. Whoever runs the plan
  /// keeps the value from being dropped.
  struct Input {
    const StoredValue* value;
    int64_t shift;
  };
  std::vector<Input> inputs;          ///< by plan input
  std::vector<uint64_t> parameters;   ///< by plan parameter
  std::vector<StoragePtr> donations;  ///< by plan output; null: allocate
  std::vector<NodeId> donated;        ///< leaves whose storage went into `donations`
  LaunchTimes* times = nullptr;       ///< takes the launches' times, in place of the plan's own
  std::vector<StoredValue> results;   ///< by plan output
  std::vector<void*> addresses;       ///< by slot, while it runs
  std::vector<StoragePtr> carried;    ///< inputs that were on another device, while it runs

  /// Ready for a plan; holds no storage.
  void clear(const LoadedPlan& plan) {
    const size_t outputs = plan.results;
    inputs.clear();
    parameters.clear();
    donated.clear();
    release();
    donations.resize(outputs);
    results.resize(outputs);
  }
  /// Lets go of the storage it holds.
  void release() {
    for (StoragePtr& storage : donations) storage.reset();
    for (StoredValue& value : results) value.storage.reset();
    carried.clear();
  }
};

/// Allocates everything first, then launches. Throws OutOfMemoryError before anything has run, and
/// IndexError after a launch that found an index out of range, before any donated block is written.
void execute(const LoadedPlan& loaded, Execution& run);

/// The value itself when it is in the CPU's memory, else the part of its storage that it reaches.
[[nodiscard]] StoredValue on_host(const StoredValue& value, const TensorType& type);

/// Copies the elements of a value in the CPU's memory, in row-major order.
void copy_strided(const StoredValue& value, const TensorType& type, std::byte* destination);

}  // namespace reprise
