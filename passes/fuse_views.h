// Places inside a fusion group: its points seen through permutations and reshapes.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "passes/fusion.h"
#include "passes/index_map.h"

namespace reprise {

/// The places of one group. Place 0 is that of the anchor's result.
class GroupViews {
 public:
  explicit GroupViews(const Shape& anchor);
  /// Adds the movement of a value at `from`, unless stores there would not advance with the
  /// anchor's axes, the innermost one contiguous. Returns its place.
  [[nodiscard]] std::optional<uint32_t> add(const Graph& graph, NodeId movement, uint32_t from);
  [[nodiscard]] const std::vector<FusionView>& views() const { return views_; }

 private:
  IndexSpace space_;
  int last_ = -1;                               ///< the innermost axis longer than 1
  std::vector<std::vector<IndexExpr>> places_;  ///< coordinates of axes longer than 1
  std::vector<std::vector<int64_t>> extents_;
  std::vector<FusionView> views_;
};

}  // namespace reprise
