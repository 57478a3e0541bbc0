// Donation: outputs that may be written over an input, element by element.
#include <algorithm>
#include <optional>
#include <vector>

#include "passes/lower_plan.h"

namespace reprise {

namespace {

/// A body of a kernel in which a buffer is accessed.
struct BodyUse {
  const Body* body = nullptr;
  std::vector<uint32_t> instrs;  ///< positions of the loads or stores
};

/// The only body that accesses `buffer`; nothing if there are several or none.
std::optional<BodyUse> only_use(const Kernel& kernel, BufferId buffer) {
  std::optional<BodyUse> use;
  for (const Phase& phase : kernel.phases) {
    for (const Part& part : phase.parts) {
      for (const Stage& stage : part.stages) {
        for (const Body* body : {&stage.body, &stage.post}) {
          BodyUse found{.body = body, .instrs = {}};
          for (uint32_t i = 0; i < body->instrs.size(); ++i) {
            const Instr& instr = body->instrs[i];
            if (instr.op != ScalarOp::Load && instr.op != ScalarOp::Store) continue;
            if (body->accesses[instr.access].buffer == buffer) found.instrs.push_back(i);
          }
          if (found.instrs.empty()) continue;
          if (use) return std::nullopt;
          use = std::move(found);
        }
      }
    }
  }
  return use;
}

/// Whether instruction `value` needs the results of all of `loads`: then no compiler and no vector
/// width can move a load past the store of `value`.
bool depends_on_all(const Body& body, ScalarId value, std::span<const uint32_t> loads) {
  std::vector<bool> needed(body.instrs.size());
  needed[value.index] = true;
  for (uint32_t i = value.index + 1; i-- > 0;) {
    if (!needed[i]) continue;
    for (ScalarId arg : body.instrs[i].args) {
      if (arg.valid()) needed[arg.index] = true;
    }
  }
  return std::all_of(loads.begin(), loads.end(), [&](uint32_t load) { return needed[load]; });
}

}  // namespace

bool may_donate(const Kernel& kernel, BufferId input, BufferId output) {
  const std::optional<BodyUse> reads = only_use(kernel, input);
  const std::optional<BodyUse> writes = only_use(kernel, output);
  if (!reads || !writes || reads->body != writes->body || writes->instrs.size() != 1) return false;
  const Body& body = *reads->body;
  const Instr& store = body.instrs[writes->instrs[0]];
  if (store.op != ScalarOp::Store || store.args[1].valid()) return false;
  const Access& place = body.accesses[store.access];
  if (place.dynamic.valid()) return false;
  for (uint32_t load : reads->instrs) {
    const Access& access = body.accesses[body.instrs[load].access];
    if (access.index != place.index || access.dynamic.valid()) return false;
  }
  return depends_on_all(body, store.args[0], reads->instrs);
}

std::vector<Donation> find_donations(const Plan& plan, std::span<const Kernel> kernels) {
  std::vector<uint32_t> last_launch(plan.slots.size(), UINT32_MAX);
  for (uint32_t l = 0; l < plan.launches.size(); ++l) {
    for (SlotId slot : plan.launches[l].buffers) last_launch[slot.index] = l;
  }
  std::vector<bool> aliased(plan.slots.size()), taken(plan.slots.size());
  for (const Alias& alias : plan.aliases) aliased[alias.slot.index] = true;

  std::vector<Donation> donations;
  for (uint32_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& input = plan.slots[s];
    if (input.kind != SlotKind::Input || aliased[s] || last_launch[s] == UINT32_MAX) continue;
    const Launch& launch = plan.launches[last_launch[s]];
    const Kernel& kernel = kernels[launch.kernel];
    const auto position = [&](uint32_t slot) {
      const auto place = std::find(launch.buffers.begin(), launch.buffers.end(), SlotId{slot});
      return BufferId{static_cast<uint32_t>(place - launch.buffers.begin())};
    };
    for (uint32_t b = 0; b < launch.buffers.size(); ++b) {
      const SlotId o = launch.buffers[b];
      const Slot& output = plan.slots[o.index];
      if (output.kind != SlotKind::Output || kernel.buffers[b].kind != BufferKind::Output ||
          taken[o.index] || output.dtype != input.dtype || output.bytes != input.bytes ||
          !may_donate(kernel, position(s), BufferId{b})) {
        continue;
      }
      taken[o.index] = true;
      donations.push_back(
          {static_cast<uint32_t>(input.index), static_cast<uint32_t>(output.index)});
      break;
    }
  }
  return donations;
}

}  // namespace reprise
