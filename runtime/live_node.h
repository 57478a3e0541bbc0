// What the slab holds: recorded values, and the tensors bound to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ir/graph.h"
#include "runtime/runtime.h"
#include "runtime/storage.h"

namespace reprise {

class Trace;

/// Where a stored value's elements are.
struct StoredValue {
  std::array<int64_t, kMaxDims> strides{};  ///< bytes
  int64_t offset = 0;                       ///< bytes
  StoragePtr storage;

  [[nodiscard]] std::byte* address() const {
    return static_cast<std::byte*>(storage->data()) + offset;
  }
};

/// Whether a value that nothing else reads may give its storage to another of `bytes` on `device`.
[[nodiscard]] inline bool can_donate(const StoredValue& value, size_t bytes, const Device& device) {
  return !value.storage->borrowed() && value.storage.use_count() == 1 && value.offset == 0 &&
         value.storage->bytes() >= bytes && value.storage->device() == &device;
}

/// One recorded value. Pending until `stored` is set; parameters carry their value in `bits`.
/// What recording an op touches of its operands lies in one cache line: whether they are stored,
/// and what follows that.
struct alignas(64) LiveNode {
  std::optional<StoredValue> stored;
  uint64_t mark_trace = 0;  ///< serial of the trace that `mark` speaks of
  uint64_t sequence = 0;    ///< never repeats: tells a node from a later one in the same slot
  NodeId id;                ///< its own
  uint32_t refs = 0;        ///< operands of others, bindings, fallbacks, tapes, traces, recordings
  uint32_t mark = 0;        ///< index in that trace (see TraceRef)
  uint32_t bindings = 0;    ///< tensors bound to it: its value must be kept
  Op op = Op::Input;
  /// Where it may be computed: what its operands have in common. All: it depends on no data.
  DeviceSet devices;
  bool in_flight = false;      ///< some thread is computing it
  bool keeps_history = false;  ///< an open tape: operands stay after it is stored
  bool consumed = false;       ///< its storage is given to a later value, computed or in flight
  TensorId reader;             ///< the tensor it was last read through inside a tape
  uint32_t reader_tape = 0;    ///< number of that tape
  uint64_t bits = 0;           ///< Parameter: the value

  Operands operands;  ///< each holds a reference
  TensorType type;
  Attrs attrs;

  TensorId left_by;                       ///< a tensor that was bound to it before an assign
  uint32_t left_generation = 0;           ///< of that tensor's slot
  const Trace* fallback_trace = nullptr;  ///< the trace that holds all fallbacks, null: several do
  uint32_t fallbacks = 0;  ///< pending assigns that go back to it when they cannot be computed

  [[nodiscard]] bool is_leaf() const { return stored || op == Op::Parameter; }
};

/// One tensor: a binding that handles share.
struct Binding {
  NodeId node;
  uint32_t refs = 0;
  uint32_t generation = 0;  ///< counts the tensors that had this slot
  uint32_t version = 0;     ///< changes when it is rebound, and with the generation
};

}  // namespace reprise
