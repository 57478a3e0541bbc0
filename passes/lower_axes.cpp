// Loop axes: split on request, merged where all accesses advance alike.
#include "passes/lower_axes.h"

#include "ir/error.h"

namespace reprise {

namespace {

/// Loops a tensor axis is cut into at most; a request beyond it keeps its division.
constexpr size_t kMaxFactors = 6;
/// Iterations that are worth an inner loop of their own, of which some lanes stay empty.
constexpr int64_t kLongLoop = 12;

using Affines = std::vector<Affine*>;

void collect(Body& body, Affines& out) {
  for (Access& access : body.accesses) out.push_back(&access.index);
  for (Affine& affine : body.affines) out.push_back(&affine);
}

/// Merges or drops axes of `extents`, which are the variables from `first` on in `affines`.
/// Affines that do not see these variables (a `post` and the reduce loops) are not among them.
void merge_range(std::vector<int64_t>& extents, size_t first, const Affines& affines, size_t keep) {
  const auto erase = [&](size_t axis) {
    extents.erase(extents.begin() + axis);
    for (Affine* affine : affines) {
      affine->coefficients.erase(affine->coefficients.begin() + first + axis);
    }
  };
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] == 1 && extents.size() > keep) erase(axis);
  }
  for (size_t axis = extents.size(); axis-- > 1;) {
    const size_t outer = first + axis - 1, inner = first + axis;
    bool mergeable = true;
    for (const Affine* affine : affines) {
      if (affine->coefficients[outer] != affine->coefficients[inner] * extents[axis]) {
        mergeable = false;
        break;
      }
    }
    if (!mergeable) continue;
    // The merged variable runs with the inner one's coefficient.
    extents[axis - 1] *= extents[axis];
    for (Affine* affine : affines) affine->coefficients[outer] = affine->coefficients[inner];
    erase(axis);
  }
}

}  // namespace

LoopAxes::LoopAxes(std::span<const int64_t> extents, Splitting splitting) : splitting_(splitting) {
  for (int64_t extent : extents) factors_.push_back({extent});
}

std::vector<int64_t> LoopAxes::loops() const {
  std::vector<int64_t> loops;
  for (const auto& axis : factors_) loops.insert(loops.end(), axis.begin(), axis.end());
  return loops;
}

uint32_t LoopAxes::num_loops() const {
  size_t count = 0;
  for (const auto& axis : factors_) count += axis.size();
  return static_cast<uint32_t>(count);
}

std::vector<IndexExpr> LoopAxes::coordinates(IndexSpace& space, uint32_t first) const {
  std::vector<IndexExpr> coordinates;
  for (const auto& axis : factors_) {
    std::vector<IndexExpr> loops;
    loops.reserve(axis.size());
    for (int64_t extent : axis) loops.push_back(space.variable(first++, extent));
    coordinates.push_back(space.linearize(loops, axis));
  }
  return coordinates;
}

bool LoopAxes::split(uint32_t loop, int64_t inner) {
  if (splitting_ == Splitting::Long && inner < kLongLoop) return false;
  for (auto& axis : factors_) {
    if (loop >= axis.size()) {
      loop -= static_cast<uint32_t>(axis.size());
      continue;
    }
    if (axis.size() >= kMaxFactors || inner <= 1 || axis[loop] % inner != 0 ||
        axis[loop] == inner) {
      return false;
    }
    axis.insert(axis.begin() + loop + 1, inner);
    axis[loop] /= inner;
    return true;
  }
  return false;
}

void merge_axes(Part& part) {
  Affines all;
  for (Stage& stage : part.stages) {
    collect(stage.body, all);
    collect(stage.post, all);
  }
  merge_range(part.grid, 0, all, 0);
  for (Stage& stage : part.stages) {
    if (stage.reduce.empty()) continue;
    Affines body;
    collect(stage.body, body);
    if (stage.kind == StageKind::Contraction) {
      // Rows merge with rows; the columns stay a loop of their own.
      Affines both = body;
      collect(stage.post, both);
      const int64_t columns = stage.parallel.back();
      stage.parallel.pop_back();
      merge_range(stage.parallel, part.grid.size(), both, 1);
      stage.parallel.push_back(columns);
      continue;
    }
    // A reduction keeps one loop, if only of one element.
    merge_range(stage.reduce, part.grid.size() + stage.parallel.size(), body, 1);
  }
}

}  // namespace reprise
