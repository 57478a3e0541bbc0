// Memory planning: places a plan's temporaries in one arena a device, by lifetime over steps.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/pipeline.h"
#include "ir/error.h"

namespace reprise {

namespace {

constexpr int64_t kAlignment = 64;

/// Free ranges of an arena that grows at its end; best fit, neighbours merged when freed.
class Arena {
 public:
  int64_t allocate(int64_t bytes) {
    auto place = by_size_.lower_bound({bytes, 0});
    if (place != by_size_.end()) {
      const auto [free_bytes, offset] = *place;
      erase(offset, free_bytes);
      if (free_bytes > bytes) insert(offset + bytes, free_bytes - bytes);
      return offset;
    }
    // Nothing fits: grow, starting with the free range at the end if there is one.
    int64_t offset = size_;
    if (!by_offset_.empty()) {
      const auto [last, free_bytes] = *by_offset_.rbegin();
      if (last + free_bytes == size_) {
        erase(last, free_bytes);
        offset = last;
      }
    }
    size_ = offset + bytes;
    return offset;
  }

  void release(int64_t offset, int64_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      erase(next->first, next->second);
    }
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      const auto [previous, free_bytes] = *std::prev(after);
      if (previous + free_bytes == offset) {
        erase(previous, free_bytes);
        offset = previous;
        bytes += free_bytes;
      }
    }
    insert(offset, bytes);
  }

  [[nodiscard]] int64_t size() const { return size_; }

 private:
  void insert(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void erase(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  // Ordered, so that the same plan always gets the same offsets.
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;  ///< (bytes, offset)
  int64_t size_ = 0;
};

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The steps during which each temporary of one device is alive.
struct Lifetimes {
  Lifetimes(const Plan& plan, uint32_t device)
      : first(plan.slots.size(), UINT32_MAX), last(plan.slots.size(), 0) {
    const std::vector<PlanStep> order = steps(plan);
    begins.resize(order.size());
    ends.resize(order.size());
    for (uint32_t l = 0; l < order.size(); ++l) {
      for (SlotId slot : slots_of(plan, order[l])) {
        first[slot.index] = std::min(first[slot.index], l);
        last[slot.index] = l;
      }
    }
    for (uint32_t s = 0; s < plan.slots.size(); ++s) {
      if (plan.slots[s].kind != SlotKind::Arena || plan.slots[s].bytes == 0) continue;
      if (plan.slots[s].device != device) continue;
      if (first[s] == UINT32_MAX) continue;
      begins[first[s]].push_back(s);
      ends[last[s]].push_back(s);
    }
  }

  std::vector<uint32_t> first, last;                ///< per slot: a step
  std::vector<std::vector<uint32_t>> begins, ends;  ///< per step: slots
};

}  // namespace

ArenaUse arena_use(const Plan& plan) {
  const Lifetimes lifetimes(plan, 0);
  ArenaUse use{.arena = plan.arenas[0], .alive = 0, .temporaries = 0};
  int64_t alive = 0;
  for (size_t l = 0; l < lifetimes.begins.size(); ++l) {
    for (uint32_t s : lifetimes.begins[l]) {
      alive += aligned(plan.slots[s].bytes);
      use.temporaries += aligned(plan.slots[s].bytes);
    }
    use.alive = std::max(use.alive, alive);
    for (uint32_t s : lifetimes.ends[l]) alive -= aligned(plan.slots[s].bytes);
  }
  return use;
}

namespace {

void plan_arena(const Plan& plan, uint32_t device, Plan& planned) {
  const Lifetimes lifetimes(plan, device);
  std::vector<std::vector<uint32_t>> begins = lifetimes.begins;
  const std::vector<std::vector<uint32_t>>& ends = lifetimes.ends;
  Arena arena;
  for (size_t l = 0; l < begins.size(); ++l) {
    // Large ones first: small ones fit what is left over more often than the reverse.
    std::stable_sort(begins[l].begin(), begins[l].end(), [&](uint32_t a, uint32_t b) {
      return plan.slots[a].bytes > plan.slots[b].bytes;
    });
    for (uint32_t s : begins[l]) {
      planned.slots[s].offset = arena.allocate(aligned(plan.slots[s].bytes));
    }
    for (uint32_t s : ends[l]) {
      arena.release(planned.slots[s].offset, aligned(plan.slots[s].bytes));
    }
  }
  planned.arenas[device] = arena.size();
}

}  // namespace

Plan plan_memory(const Plan& plan) {
  Plan planned = plan;
  for (Slot& slot : planned.slots) {
    if (slot.kind == SlotKind::Arena) slot.offset = 0;
  }
  for (uint32_t device = 0; device < plan.arenas.size(); ++device) {
    plan_arena(plan, device, planned);
  }
  return planned;
}

}  // namespace reprise
