// What the grid points of a part touch of each buffer, and grids cut to fit each other.
#include "passes/lower_footprint.h"

#include <algorithm>
#include <cstdlib>

namespace reprise {

void Footprint::add(const Access& access, size_t grid_axes,
                    std::span<const int64_t> inner_extents) {
  const std::vector<int64_t>& c = access.index.coefficients;
  const std::vector<int64_t> grid(c.begin(), c.begin() + grid_axes);
  if (access.dynamic.valid() || (low <= high && grid != steps)) regular = false;
  steps = grid;
  int64_t first = access.index.offset, last = first;
  for (size_t i = 0; i < inner_extents.size(); ++i) {
    const int64_t reach = c[grid_axes + i] * (inner_extents[i] - 1);
    (reach < 0 ? first : last) += reach;
  }
  low = std::min(low, first);
  high = std::max(high, last);
}

bool Footprint::is_private(std::span<const int64_t> grid) const {
  if (!regular) return false;
  std::vector<std::pair<int64_t, int64_t>> axes;
  for (size_t i = 0; i < grid.size(); ++i) {
    if (grid[i] > 1) axes.emplace_back(std::abs(steps[i]), grid[i]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t reach = span();
  for (const auto& [step, extent] : axes) {
    if (step < reach) return false;
    reach += step * (extent - 1);
  }
  return true;
}

Footprint footprint(Part& part, size_t grid_axes, BufferId buffer) {
  Footprint result;
  visit_accesses(part, grid_axes, [&](const Access& access, std::span<const int64_t> inner) {
    if (access.buffer == buffer) result.add(access, grid_axes, inner);
  });
  return result;
}

namespace {

/// Makes axis `axis` two: the outer one counts steps of `inner` points.
void split_grid_axis(Part& part, size_t axis, int64_t inner) {
  part.grid[axis] /= inner;
  part.grid.insert(part.grid.begin() + axis + 1, inner);
  const auto split = [&](Affine& affine) {
    const int64_t step = affine.coefficients[axis];
    affine.coefficients[axis] = step * inner;
    affine.coefficients.insert(affine.coefficients.begin() + axis + 1, step);
  };
  for (Stage& stage : part.stages) {
    for (Body* body : {&stage.body, &stage.post}) {
      for (Access& access : body->accesses) split(access.index);
      for (Affine& affine : body->affines) split(affine);
    }
  }
}

}  // namespace

size_t align_grids(Part& a, Part& b) {
  size_t axis = 0;
  for (; axis < a.grid.size() && axis < b.grid.size(); ++axis) {
    const int64_t of_a = a.grid[axis], of_b = b.grid[axis];
    if (of_a == of_b) continue;
    if (of_a == 0 || of_b == 0) return axis;
    if (of_a % of_b == 0) {
      split_grid_axis(a, axis, of_a / of_b);
    } else if (of_b % of_a == 0) {
      split_grid_axis(b, axis, of_b / of_a);
    } else {
      return axis;
    }
  }
  return axis;
}

void shorten_grid(Part& part, size_t grid_axes) {
  for (Stage& stage : part.stages) {
    stage.parallel.insert(stage.parallel.begin(), part.grid.begin() + grid_axes, part.grid.end());
  }
  part.grid.resize(grid_axes);
}

bool has_contraction(const Part& part) {
  return std::any_of(part.stages.begin(), part.stages.end(),
                     [](const Stage& stage) { return stage.kind == StageKind::Contraction; });
}

}  // namespace reprise
