// What the grid points of a part touch of each buffer, and grids cut to fit each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"

namespace reprise {

/// The elements of one buffer that a grid point touches, and how they advance with the grid.
struct Footprint {
  std::vector<int64_t> steps;  ///< per grid axis
  int64_t low = INT64_MAX, high = INT64_MIN;
  bool regular = true;  ///< all accesses advance alike and none is computed

  /// `inner_extents`: of the loops inside the grid that the access sees.
  void add(const Access& access, size_t grid_axes, std::span<const int64_t> inner_extents);
  /// Whether no two points of the grid touch one element.
  [[nodiscard]] bool is_private(std::span<const int64_t> grid) const;
  /// Elements between the first and the last that a point touches, both included.
  [[nodiscard]] int64_t span() const { return high - low + 1; }
};

/// Calls `visit(access, extents of the loops inside the grid)` for every access of the part, the
/// grid taken to be its first `grid_axes` axes.
template <class Visit>
void visit_accesses(Part& part, size_t grid_axes, const Visit& visit) {
  for (Stage& stage : part.stages) {
    std::vector<int64_t> inner(part.grid.begin() + grid_axes, part.grid.end());
    inner.insert(inner.end(), stage.parallel.begin(), stage.parallel.end());
    for (Access& access : stage.post.accesses) visit(access, inner);
    inner.insert(inner.end(), stage.reduce.begin(), stage.reduce.end());
    for (Access& access : stage.body.accesses) visit(access, inner);
  }
}

[[nodiscard]] Footprint footprint(Part& part, size_t grid_axes, BufferId buffer);

/// Cuts grid axes of both parts where one axis covers several of the other's, so that the points of
/// as many outer axes as possible are the same. Returns how many of these there are.
[[nodiscard]] size_t align_grids(Part& a, Part& b);

/// Makes the axes of the grid from `grid_axes` on the outermost parallel loops of every stage. A
/// variable's number does not change.
void shorten_grid(Part& part, size_t grid_axes);

[[nodiscard]] bool has_contraction(const Part& part);

}  // namespace reprise
