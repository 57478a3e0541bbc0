// Memory planning: places a plan's temporaries in one arena, by lifetime over launches.
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

}  // namespace

Plan plan_memory(const Plan& plan) {
  Plan planned = plan;
  const size_t num_launches = plan.launches.size();
  std::vector<uint32_t> first(plan.slots.size(), UINT32_MAX), last(plan.slots.size(), 0);
  for (uint32_t l = 0; l < num_launches; ++l) {
    for (SlotId slot : plan.launches[l].buffers) {
      first[slot.index] = std::min(first[slot.index], l);
      last[slot.index] = l;
    }
  }
  std::vector<std::vector<uint32_t>> begins(num_launches), ends(num_launches);
  for (uint32_t s = 0; s < plan.slots.size(); ++s) {
    if (plan.slots[s].kind != SlotKind::Arena) continue;
    planned.slots[s].offset = 0;
    if (first[s] == UINT32_MAX || plan.slots[s].bytes == 0) continue;
    begins[first[s]].push_back(s);
    ends[last[s]].push_back(s);
  }
  Arena arena;
  for (size_t l = 0; l < num_launches; ++l) {
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
  planned.arena_bytes = arena.size();
  return planned;
}

}  // namespace reprise
