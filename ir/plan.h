// Host side of a compiled graph: slots of memory, launches and transfers in order, scalar
// parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/ids.h"
#include "ir/shape.h"

namespace reprise {

enum class SlotKind : uint8_t {
  Input,   ///< storage of a leaf; `index` counts the graph's inputs
  Output,  ///< storage made for an output; `index` counts the graph's outputs
  Arena,   ///< part of the arena of its device, at `offset`
};

struct Slot {
  SlotKind kind = SlotKind::Arena;
  DType dtype = DType::F32;
  int64_t bytes = 0;
  int64_t index = 0;
  int64_t offset = 0;
  uint32_t device = 0;  ///< the plan's number for it
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// One kernel launch: which slot is each buffer of the kernel, which plan parameter each of its.
struct Launch {
  uint32_t kernel = 0;
  std::vector<SlotId> buffers;
  std::vector<uint32_t> params;
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// The bytes of a slot, from another device: `to` is filled from `offset` bytes into `from`.
struct Transfer {
  uint32_t before = 0;  ///< the launch it precedes; as many as there are: it comes after all
  SlotId from, to;
  int64_t offset = 0;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Output `output` may take over the storage of input `input` when nobody else holds it at launch:
/// the last launch that reads the input reads each element before it writes the same one.
struct Donation {
  uint32_t input = 0;
  uint32_t output = 0;
  friend bool operator==(const Donation&, const Donation&) = default;
};

/// An output that needs no launch: an input (or another output) seen through a layout.
struct Alias {
  uint32_t output = 0;
  SlotId slot;
  int64_t offset = 0;            ///< elements
  std::vector<int64_t> strides;  ///< elements, one per axis
  friend bool operator==(const Alias&, const Alias&) = default;
};

struct Plan {
  std::vector<Slot> slots;
  std::vector<DType> params;
  std::vector<Launch> launches;
  std::vector<Transfer> transfers;  ///< in order
  std::vector<Donation> donations;
  std::vector<Alias> aliases;
  std::vector<int64_t> arenas{0};  ///< bytes; one a device, which they number
  uint32_t num_kernels = 0;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// What a plan does, one after another.
struct PlanStep {
  enum class Kind : uint8_t { Launch, Transfer } kind;
  uint32_t index;  ///< among the plan's launches or transfers
};
[[nodiscard]] std::vector<PlanStep> steps(const Plan& plan);
/// The slots that a step reads or writes.
[[nodiscard]] std::vector<SlotId> slots_of(const Plan& plan, PlanStep step);
/// The number of the device that runs a launch.
[[nodiscard]] uint32_t device_of(const Plan& plan, const Launch& launch);
/// One more than the largest number of an output slot or alias.
[[nodiscard]] uint32_t num_outputs(const Plan& plan);

/// Textual form; `print(parse(text)) == text`. Grammar: docs/IR.md.
[[nodiscard]] std::string print(const Plan& plan);
[[nodiscard]] Plan parse_plan(std::string_view text);
struct Kernel;
struct LaunchStatus;
struct Numerics;
/// Throws InternalError naming the rule (P01, ...) and the place.
void verify(const Plan& plan);
/// Also against the kernels that the launches name.
void verify(const Plan& plan, std::span<const Kernel> kernels);
/// Runs a plan through the kernel interpreter. `inputs` and `outputs` are host memory by index; an
/// output that is an alias is not written. Before memory is planned, arena slots are kept apart.
void interpret(const Plan& plan, std::span<const Kernel> kernels, const Numerics& numerics,
               std::span<void* const> inputs, std::span<void* const> outputs,
               std::span<const uint64_t> params, LaunchStatus* status = nullptr);

}  // namespace reprise
