// Where the locals of a part lie: those that are never needed together share memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace reprise::codegen {

/// Slots of memory for one point of the grid.
struct LocalSlots {
  std::vector<int> slot;       ///< by buffer; -1: no local of the part
  std::vector<int64_t> bytes;  ///< by slot
};

namespace detail {

/// The stages that touch a local.
struct LocalUse {
  int64_t bytes = 0;
  size_t first = SIZE_MAX, last = 0;
};

/// Whether a stage that stores `made`, element by element, reads `used` nowhere but at the same
/// element just before: one may then lie where the other does.
inline bool replaces(const Stage& stage, BufferId used, BufferId made) {
  if (stage.kind == StageKind::Sequence) return false;
  const bool folds = stage.kind == StageKind::Contraction || !stage.reduce.empty();
  const Body& body = folds ? stage.post : stage.body;
  for (const Access& access : (folds ? stage.body : stage.post).accesses) {
    if (access.buffer == used || access.buffer == made) return false;
  }
  const Affine* place = nullptr;
  bool stored = false;
  for (const Instr& instr : body.instrs) {
    const bool stores = instr.op == ScalarOp::Store;
    if (!stores && instr.op != ScalarOp::Load) continue;
    const Access& access = body.accesses[instr.access];
    if (access.buffer != used && access.buffer != made) continue;
    const bool masked = instr.args[stores ? 1 : 0].valid();
    if (masked || access.dynamic.valid() || (place != nullptr && *place != access.index)) {
      return false;
    }
    if (stores != (access.buffer == made) || (!stores && stored)) return false;
    place = &access.index;
    stored |= stores;
  }
  return true;
}

}  // namespace detail

/// A value that a stage computes element by element takes the place of one that it reads last.
[[nodiscard]] inline LocalSlots place_locals(const Kernel& kernel, const Part& part) {
  std::vector<detail::LocalUse> uses(kernel.buffers.size());
  for (size_t s = 0; s < part.stages.size(); ++s) {
    for (const Body* body : {&part.stages[s].body, &part.stages[s].post}) {
      for (const Access& access : body->accesses) {
        const Buffer& buffer = kernel.buffers[access.buffer.index];
        if (buffer.kind != BufferKind::Local) continue;
        detail::LocalUse& use = uses[access.buffer.index];
        use.bytes = buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
        use.first = std::min(use.first, s);
        use.last = std::max(use.last, s);
      }
    }
  }
  LocalSlots slots{.slot = std::vector<int>(kernel.buffers.size(), -1), .bytes = {}};
  std::vector<uint32_t> holder;  // by slot: the local that was there last
  for (size_t s = 0; s < part.stages.size(); ++s) {
    for (uint32_t b = 0; b < uses.size(); ++b) {
      if (uses[b].first != s) continue;
      const auto fits = [&](size_t slot) {
        const uint32_t before = holder[slot];
        if (kernel.buffers[before].dtype != kernel.buffers[b].dtype ||
            slots.bytes[slot] < uses[b].bytes) {
          return false;
        }
        return uses[before].last < s ||
               (uses[before].last == s &&
                detail::replaces(part.stages[s], BufferId{before}, BufferId{b}));
      };
      size_t chosen = 0;
      while (chosen < holder.size() && !fits(chosen)) ++chosen;
      if (chosen == holder.size()) {
        holder.push_back(b);
        slots.bytes.push_back(uses[b].bytes);
      }
      holder[chosen] = b;
      slots.slot[b] = static_cast<int>(chosen);
    }
  }
  return slots;
}

}  // namespace reprise::codegen
