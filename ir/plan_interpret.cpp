// Runs a plan step by step on host memory, which all its devices share.
#include <cstring>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/plan.h"
#include "ir/target.h"

namespace reprise {

void interpret(const Plan& plan, std::span<const Kernel> kernels, const Numerics& numerics,
               std::span<void* const> inputs, std::span<void* const> outputs,
               std::span<const uint64_t> params, LaunchStatus* status) {
  // Arenas as planned, so that a wrong plan gives wrong values; apart when not yet planned.
  std::vector<std::vector<std::byte>> arenas;
  for (const int64_t bytes : plan.arenas) arenas.emplace_back(static_cast<size_t>(bytes));
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
        if (!arenas[slot.device].empty()) {
          memory.push_back(arenas[slot.device].data() + slot.offset);
        } else {
          memory.push_back(apart.emplace_back(static_cast<size_t>(slot.bytes)).data());
        }
        break;
    }
  }
  for (const PlanStep step : steps(plan)) {
    if (step.kind == PlanStep::Kind::Transfer) {
      const Transfer& transfer = plan.transfers[step.index];
      const Slot& to = plan.slots[transfer.to.index];
      if (to.bytes == 0) continue;
      std::memcpy(memory[transfer.to.index],
                  static_cast<std::byte*>(memory[transfer.from.index]) + transfer.offset,
                  static_cast<size_t>(to.bytes));
      continue;
    }
    const Launch& launch = plan.launches[step.index];
    std::vector<void*> buffers;
    for (const SlotId slot : launch.buffers) buffers.push_back(memory[slot.index]);
    std::vector<uint64_t> words;
    for (const uint32_t param : launch.params) words.push_back(params[param]);
    interpret(kernels[launch.kernel], numerics, buffers, words, status);
  }
}

}  // namespace reprise
