// Who touches which elements: parts of a phase are unordered, and so are the points of a grid.
#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "ir/error.h"
#include "ir/kernel_checks.h"

namespace reprise {
namespace {

struct Touch {
  const Body* body;
  const Access* access;
  std::vector<int64_t> extents;  ///< of the variables in scope
  size_t outer;                  ///< of these, the grid's and the parallel loops'
  bool store;
};

/// Every access of some stages of a part, by buffer.
std::map<uint32_t, std::vector<Touch>> find_touches(const std::vector<int64_t>& grid,
                                                    std::span<const Stage> stages) {
  std::map<uint32_t, std::vector<Touch>> result;
  const auto add = [&](const Body& body, const std::vector<int64_t>& extents, size_t outer) {
    for (const Instr& instr : body.instrs) {
      if (instr.op != ScalarOp::Load && instr.op != ScalarOp::Store) continue;
      const Access& access = body.accesses[instr.access];
      result[access.buffer.index].push_back(
          {&body, &access, extents, outer, instr.op == ScalarOp::Store});
    }
  };
  for (const Stage& stage : stages) {
    std::vector<int64_t> extents = grid;
    extents.insert(extents.end(), stage.parallel.begin(), stage.parallel.end());
    const size_t outer = extents.size();
    add(stage.post, extents, outer);
    extents.insert(extents.end(), stage.reduce.begin(), stage.reduce.end());
    add(stage.body, extents, outer);
  }
  return result;
}

bool stores(const std::vector<Touch>& touches) {
  return std::any_of(touches.begin(), touches.end(), [](const Touch& t) { return t.store; });
}

/// Whether all accesses are one and the same, at a checked index, and no two points of the grid
/// reach one element with it.
bool shares_computed_axis(const std::vector<Touch>& touches) {
  const Touch& first = touches.front();
  const auto nest = sequence_access(*first.body, *first.access, first.extents, first.outer);
  return nest && is_injective(nest->index, nest->extents, 0) &&
         std::all_of(touches.begin(), touches.end(), [&](const Touch& touch) {
           return touch.body == first.body && *touch.access == *first.access;
         });
}

/// Whether every grid point keeps to elements of its own: all accesses move alike with the grid,
/// and what one point touches is narrower than the step to the next.
bool keeps_apart(const std::vector<Touch>& touches, const std::vector<int64_t>& grid) {
  const bool one_point = std::all_of(grid.begin(), grid.end(), [](int64_t e) { return e <= 1; });
  if (one_point) return true;
  if (touches.front().access->dynamic.valid()) return shares_computed_axis(touches);
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (const Touch& touch : touches) {
    const Affine& index = touch.access->index;
    if (touch.access->dynamic.valid()) return false;
    for (size_t v = 0; v < grid.size(); ++v) {
      const int64_t other = touches.front().access->index.coefficients[v];
      if (grid[v] > 1 && index.coefficients[v] != other) return false;
    }
    std::vector<int64_t> extents = touch.extents;
    std::fill_n(extents.begin(), grid.size(), 1);
    const std::optional<Interval> range = affine_range(index, extents);
    if (!range) continue;
    low = std::min(low, range->low);
    high = std::max(high, range->high);
  }
  if (low > high) return true;
  // As a nest: one axis for what a point touches, then the grid's.
  Affine affine;
  affine.coefficients.push_back(1);
  std::vector<int64_t> extents{high - low + 1};
  for (size_t v = 0; v < grid.size(); ++v) {
    affine.coefficients.push_back(touches.front().access->index.coefficients[v]);
    extents.push_back(grid[v]);
  }
  return is_injective(affine, extents, 0);
}

/// Whether two accesses are the same element; what only one of them has in scope must not count.
bool same_element(const Access& a, const Access& b) {
  if (a.dynamic.valid() || b.dynamic.valid() || a.index.offset != b.index.offset) return false;
  const std::vector<int64_t>& x = a.index.coefficients;
  const std::vector<int64_t>& y = b.index.coefficients;
  for (size_t v = 0; v < std::max(x.size(), y.size()); ++v) {
    if ((v < x.size() ? x[v] : 0) != (v < y.size() ? y[v] : 0)) return false;
  }
  return true;
}

/// In one stage, what is loaded and stored must be the same element at every point, since the
/// points of the parallel loops are unordered too. Gives a buffer for which it is not.
std::optional<uint32_t> mixed_buffer(const std::vector<int64_t>& grid, const Stage& stage) {
  for (const auto& [buffer, list] : find_touches(grid, {&stage, 1})) {
    const bool loads =
        std::any_of(list.begin(), list.end(), [](const Touch& t) { return !t.store; });
    if (!loads || !stores(list)) continue;
    for (const Touch& touch : list) {
      // At one computed offset too, where K19 says that it is the point's own.
      const bool equal = *touch.access == *list.front().access;
      if (stage.kind == StageKind::Sequence && equal) continue;
      if (!same_element(*touch.access, *list.front().access)) return buffer;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string ownership_error(const Kernel& kernel) {
  std::vector<int> local_owner(kernel.buffers.size(), -1);
  int part_number = 0;
  for (size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    std::vector<std::map<uint32_t, std::vector<Touch>>> parts;
    for (size_t q = 0; q < phase.parts.size(); ++q, ++part_number) {
      const Part& part = phase.parts[q];
      const auto place = [&](uint32_t buffer) {
        return str(BufferId{buffer}, " (phase ", p, " part ", q, ")");
      };
      parts.push_back(find_touches(part.grid, part.stages));
      for (const auto& [buffer, list] : parts.back()) {
        const BufferKind kind = kernel.buffers[buffer].kind;
        if (kind == BufferKind::Local) {
          int& owner = local_owner[buffer];
          if (owner >= 0 && owner != part_number) {
            return str("K12: two parts share the local ", place(buffer));
          }
          owner = part_number;
        }
        const bool stored = stores(list);
        for (size_t other = 0; other < q; ++other) {
          const auto found = parts[other].find(buffer);
          if (found != parts[other].end() && (stored || stores(found->second))) {
            return str("K14: unordered parts store and touch ", place(buffer));
          }
        }
        if (!stored) continue;
        const bool loaded =
            std::any_of(list.begin(), list.end(), [](const Touch& t) { return !t.store; });
        if (loaded && kind != BufferKind::Local && !keeps_apart(list, part.grid)) {
          return str("K18: a grid point may load what another one stores of ", place(buffer));
        }
      }
      for (const Stage& stage : part.stages) {
        if (const std::optional<uint32_t> mixed = mixed_buffer(part.grid, stage)) {
          return str("K18: a stage loads other elements than it stores of ", place(*mixed));
        }
      }
    }
  }
  return "";
}

}  // namespace reprise
