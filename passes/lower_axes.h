// Loop axes of a stage: splitting them so that indices become affine, merging what can be one loop.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "passes/index_map.h"

namespace reprise {

/// The loops that iterate over some tensor axes; an axis may be several nested loops.
class LoopAxes {
 public:
  enum class Splitting : uint8_t {
    Allowed,
    Long,  ///< only where the inner loop is long enough to be run by vectors
  };

  LoopAxes() = default;
  explicit LoopAxes(std::span<const int64_t> extents, Splitting splitting = Splitting::Allowed);

  /// Extents of the loops, outermost first.
  [[nodiscard]] std::vector<int64_t> loops() const;
  [[nodiscard]] uint32_t num_loops() const;
  /// The index along each axis, the loops being variables `first`, `first`+1, ...
  [[nodiscard]] std::vector<IndexExpr> coordinates(IndexSpace& space, uint32_t first) const;
  /// Makes loop `loop` two loops; false where that is not possible (any more).
  bool split(uint32_t loop, int64_t inner);

 private:
  std::vector<std::vector<int64_t>> factors_;  ///< per axis, outermost first
  Splitting splitting_ = Splitting::Allowed;
};

/// Merges neighbouring grid axes, and neighbouring reduce loops of loop stages, wherever every
/// index of the part allows it; drops axes of extent 1. The linear order of grid points and of
/// reduced elements stays.
void merge_axes(Part& part);

}  // namespace reprise
