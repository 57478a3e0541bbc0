// Runs a plan launch by launch on host memory.
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/plan.h"
#include "ir/target.h"

namespace reprise {

void interpret(const Plan& plan, std::span<const Kernel> kernels, const Numerics& numerics,
               std::span<void* const> inputs, std::span<void* const> outputs,
               std::span<const uint64_t> params, LaunchStatus* status) {
  // One arena as planned, so that a wrong plan gives wrong values; apart when not yet planned.
  const bool planned = plan.arena_bytes > 0;
  std::vector<std::byte> arena(static_cast<size_t>(plan.arena_bytes));
  std::vector<std::vector<std::byte>> apart;
  std::vector<void*> memory;
  for (const Slot& slot : plan.slots) {
    switch (slot.kind) {
      case SlotKind::Input:
        memory.push_back(inputs[slot.index]);
        break;
      case SlotKind::Output:
        memory.push_back(outputs[slot.index]);
        break;
      case SlotKind::Arena:
        if (planned) {
          memory.push_back(arena.data() + slot.offset);
        } else {
          memory.push_back(apart.emplace_back(static_cast<size_t>(slot.bytes)).data());
        }
        break;
    }
  }
  for (const Launch& launch : plan.launches) {
    std::vector<void*> buffers;
    for (const SlotId slot : launch.buffers) buffers.push_back(memory[slot.index]);
    std::vector<uint64_t> words;
    for (const uint32_t param : launch.params) words.push_back(params[param]);
    interpret(kernels[launch.kernel], numerics, buffers, words, status);
  }
}

}  // namespace reprise
