// Checks a plan against the numbered rules of docs/IR.md.
#include <algorithm>
#include <map>
#include <set>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/plan.h"

namespace reprise {
namespace {

[[noreturn]] void fail(std::string_view rule, std::string_view message) {
  throw InternalError(str("internal error: plan breaks ", rule, ": ", message));
}

void verify_slots(const Plan& plan) {
  std::set<int64_t> outputs;
  for (uint32_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    if (slot.bytes < 0 || slot.index < 0) {
      fail("P01", str(SlotId{i}, " has ", slot.bytes, " bytes and index ", slot.index));
    }
    if (slot.kind == SlotKind::Output && !outputs.insert(slot.index).second) {
      fail("P02", str(SlotId{i}, " is a second slot of output ", slot.index));
    }
  }
}

void verify_devices(const Plan& plan) {
  for (uint32_t i = 0; i < plan.slots.size(); ++i) {
    if (plan.slots[i].device >= plan.arenas.size()) {
      fail("P14",
           str(SlotId{i}, " is on device ", plan.slots[i].device, " of ", plan.arenas.size()));
    }
  }
  for (size_t l = 0; l < plan.launches.size(); ++l) {
    for (const SlotId slot : plan.launches[l].buffers) {
      if (plan.slots[slot.index].device == device_of(plan, plan.launches[l])) continue;
      fail("P14", str("launch ", l, " is given ", plan.launches[l].buffers.front(), " and ", slot,
                      ", which are on two devices"));
    }
  }
}

void verify_transfers(const Plan& plan) {
  uint32_t before = 0;
  for (size_t t = 0; t < plan.transfers.size(); ++t) {
    const Transfer& transfer = plan.transfers[t];
    for (const SlotId slot : {transfer.from, transfer.to}) {
      if (slot.index >= plan.slots.size()) {
        fail("P04", str("transfer ", t, " uses ", slot, ", which does not exist"));
      }
    }
    if (transfer.before < before || transfer.before > plan.launches.size()) {
      fail("P15", str("transfer ", t, " comes before launch ", transfer.before));
    }
    before = transfer.before;
    const Slot& from = plan.slots[transfer.from.index];
    const Slot& to = plan.slots[transfer.to.index];
    if (from.device == to.device || to.kind == SlotKind::Input) {
      fail("P15", str("transfer ", t, " from ", transfer.from, " to ", transfer.to,
                      to.kind == SlotKind::Input ? ", an input" : " on the same device"));
    }
    if (from.dtype != to.dtype || transfer.offset < 0 || transfer.offset > from.bytes - to.bytes) {
      fail("P15", str("transfer ", t, " reads ", to.bytes, " bytes of ", name(to.dtype),
                      " at offset ", transfer.offset, " of ", transfer.from, ": ", name(from.dtype),
                      ", ", from.bytes, " bytes"));
    }
  }
}

struct Lifetime {
  size_t first = SIZE_MAX, last = 0;
};

/// Two arena slots that some step may need at once must not share bytes.
void verify_arena(const Plan& plan, uint32_t device) {
  const int64_t arena_bytes = plan.arenas[device];
  if (arena_bytes == 0) return;  // not planned yet, or nothing to plan
  std::vector<Lifetime> lives(plan.slots.size());
  const std::vector<PlanStep> order = steps(plan);
  for (size_t s = 0; s < order.size(); ++s) {
    for (const SlotId slot : slots_of(plan, order[s])) {
      Lifetime& life = lives[slot.index];
      life.first = std::min(life.first, s);
      life.last = s;
    }
  }
  std::vector<uint32_t> arena;
  for (uint32_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    if (slot.kind != SlotKind::Arena || slot.device != device) continue;
    if (lives[i].first == SIZE_MAX) continue;
    if (slot.offset < 0 || slot.offset % 64 != 0 || slot.offset + slot.bytes > arena_bytes) {
      fail("P05", str(SlotId{i}, " takes bytes ", slot.offset, " to ", slot.offset + slot.bytes,
                      " of an arena of ", arena_bytes));
    }
    arena.push_back(i);
  }
  std::sort(arena.begin(), arena.end(),
            [&](uint32_t a, uint32_t b) { return plan.slots[a].offset < plan.slots[b].offset; });
  for (size_t a = 0; a < arena.size(); ++a) {
    const Slot& slot = plan.slots[arena[a]];
    for (size_t b = a + 1; b < arena.size(); ++b) {
      const Slot& other = plan.slots[arena[b]];
      if (other.offset >= slot.offset + slot.bytes) break;
      const Lifetime& x = lives[arena[a]];
      const Lifetime& y = lives[arena[b]];
      if (other.bytes > 0 && x.first <= y.last && y.first <= x.last) {
        fail("P06", str(SlotId{arena[a]}, " and ", SlotId{arena[b]},
                        " are alive at once and share bytes"));
      }
    }
  }
}

void verify_donations(const Plan& plan) {
  std::set<uint32_t> inputs;
  std::set<uint32_t> outputs;
  for (const Donation& donation : plan.donations) {
    const auto find = [&](SlotKind kind, uint32_t index) {
      return std::find_if(plan.slots.begin(), plan.slots.end(), [&](const Slot& slot) {
        return slot.kind == kind && slot.index == index;
      });
    };
    const auto input = find(SlotKind::Input, donation.input);
    const auto output = find(SlotKind::Output, donation.output);
    const std::string text =
        str("donation of input ", donation.input, " to output ", donation.output);
    if (input == plan.slots.end() || output == plan.slots.end()) {
      fail("P07", str("a ", text, " without such slots"));
    }
    if (input->device != output->device) fail("P07", str("a ", text, " on another device"));
    if (!inputs.insert(donation.input).second || !outputs.insert(donation.output).second) {
      fail("P07", str("a second ", text));
    }
  }
}

void verify_aliases(const Plan& plan) {
  std::set<int64_t> outputs;
  for (const Slot& slot : plan.slots) {
    if (slot.kind == SlotKind::Output) outputs.insert(slot.index);
  }
  for (const Alias& alias : plan.aliases) {
    if (alias.slot.index >= plan.slots.size()) {
      fail("P08",
           str("output ", alias.output, " is an alias of ", alias.slot, ", which does not exist"));
    }
    if (plan.slots[alias.slot.index].kind == SlotKind::Arena) {
      fail("P08", str("output ", alias.output, " is an alias of ", alias.slot,
                      ", which dies with the launch"));
    }
    if (alias.offset < 0) fail("P08", str("output ", alias.output, " begins at ", alias.offset));
    if (!outputs.insert(alias.output).second) {
      fail("P02", str("output ", alias.output, " is given twice"));
    }
  }
}

}  // namespace

void verify(const Plan& plan) {
  verify_slots(plan);
  for (size_t l = 0; l < plan.launches.size(); ++l) {
    const Launch& launch = plan.launches[l];
    if (launch.kernel >= plan.num_kernels) {
      fail("P03", str("launch ", l, " of k", launch.kernel, " of ", plan.num_kernels));
    }
    for (const SlotId slot : launch.buffers) {
      if (slot.index >= plan.slots.size()) {
        fail("P04", str("launch ", l, " uses ", slot, ", which does not exist"));
      }
    }
    for (const uint32_t param : launch.params) {
      if (param >= plan.params.size()) {
        fail("P04", str("launch ", l, " uses p", param, ", which does not exist"));
      }
    }
  }
  verify_devices(plan);
  verify_transfers(plan);
  for (uint32_t device = 0; device < plan.arenas.size(); ++device) verify_arena(plan, device);
  verify_donations(plan);
  verify_aliases(plan);
}

void verify(const Plan& plan, std::span<const Kernel> kernels) {
  verify(plan);
  if (kernels.size() != plan.num_kernels) {
    fail("P03", str(kernels.size(), " kernels, not ", plan.num_kernels));
  }
  std::vector<bool> written(plan.slots.size());
  for (const PlanStep step : steps(plan)) {
    if (step.kind == PlanStep::Kind::Transfer) {
      const Transfer& transfer = plan.transfers[step.index];
      const Slot& from = plan.slots[transfer.from.index];
      if (from.kind != SlotKind::Input && !written[transfer.from.index] &&
          plan.slots[transfer.to.index].bytes > 0) {
        fail("P12", str("transfer ", step.index, " reads ", transfer.from,
                        " before anything is written there"));
      }
      written[transfer.to.index] = true;
      continue;
    }
    const uint32_t l = step.index;
    const Launch& launch = plan.launches[l];
    const Kernel& kernel = kernels[launch.kernel];
    const size_t wanted = static_cast<size_t>(
        std::count_if(kernel.buffers.begin(), kernel.buffers.end(),
                      [](const Buffer& b) { return b.kind != BufferKind::Local; }));
    if (launch.buffers.size() != wanted || launch.params.size() != kernel.params.size()) {
      fail("P09",
           str("launch ", l, " has ", launch.buffers.size(), " buffers and ", launch.params.size(),
               " parameters for ", wanted, " and ", kernel.params.size()));
    }
    for (size_t i = 0; i < launch.params.size(); ++i) {
      const DType given = plan.params[launch.params[i]];
      if (given != kernel.params[i]) {
        fail("P10",
             str("launch ", l, " passes ", name(given), " for p", i, ": ", name(kernel.params[i])));
      }
    }
    for (uint32_t i = 0; i < wanted; ++i) {
      const SlotId id = launch.buffers[i];
      const Slot& slot = plan.slots[id.index];
      const Buffer& buffer = kernel.buffers[i];
      const int64_t bytes = buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
      // A kernel sees the memory of pairs as that of their parts.
      const bool same = slot.dtype == buffer.dtype || part_of(slot.dtype) == buffer.dtype;
      if (!same || slot.bytes < bytes) {
        fail("P10",
             str("launch ", l, " passes ", id, ": ", name(slot.dtype), ", ", slot.bytes,
                 " bytes for ", BufferId{i}, ": ", name(buffer.dtype), '[', buffer.extent, ']'));
      }
      const bool reads = buffer.kind == BufferKind::Input;
      if (!reads && slot.kind == SlotKind::Input) {
        fail("P11", str("launch ", l, " writes the input ", id));
      }
      if (reads && slot.kind != SlotKind::Input && !written[id.index] && buffer.extent > 0) {
        fail("P12", str("launch ", l, " reads ", id, " before anything is written there"));
      }
      for (uint32_t other = 0; other < i; ++other) {
        if (launch.buffers[other] == id &&
            !(reads && kernel.buffers[other].kind == BufferKind::Input)) {
          fail("P13", str("launch ", l, " passes ", id, " as two buffers, one of them written"));
        }
      }
    }
    for (uint32_t i = 0; i < wanted; ++i) {
      if (kernel.buffers[i].kind != BufferKind::Input) written[launch.buffers[i].index] = true;
    }
  }
}

}  // namespace reprise
