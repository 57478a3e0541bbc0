// Kernels that store on their way along an axis: scans, scatters, sorting. Points of their grids
// are the other axes, each of which goes through the axis in order.
#pragma once

#include <span>
#include <vector>

#include "passes/lower_kernel.h"
#include "passes/lower_nest.h"

namespace reprise {

/// What their lowerings share: places along the anchor's axis and beside it, parts that walk it.
class SequenceLowering : protected NestLowering {
 public:
  SequenceLowering(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
                   uint32_t index);

 protected:
  using Coordinates = std::vector<IndexExpr>;

  /// Of the anchor's shape: `kept` along the other axes, `along` on this one.
  [[nodiscard]] IndexMap place(std::span<const IndexExpr> kept, const IndexExpr& along) const;
  /// In a buffer of the anchor's shape.
  [[nodiscard]] Access element(ValueLowering& body, BufferId buffer, const IndexMap& at) const {
    return body.access(buffer, body.space().linearize(at.coordinates, shape_));
  }
  /// In a buffer that holds `width` values for each line.
  [[nodiscard]] Access in_line(ValueLowering& body, BufferId buffer,
                               std::span<const IndexExpr> kept, int64_t width,
                               const IndexExpr& along) const;
  [[nodiscard]] static IndexExpr constant(int64_t value) { return IndexSpace::constant(value); }

  /// One stage without reduce loops over a grid.
  using EachPoint = std::function<void(ValueLowering&, const Coordinates& point)>;
  [[nodiscard]] Part loop_part(std::span<const int64_t> grid, const EachPoint& each);
  /// What each line does for each of `steps` in order.
  using EachStep =
      std::function<void(ValueLowering&, const Coordinates& kept, const Coordinates& step)>;
  [[nodiscard]] Part sequence_part(std::span<const int64_t> steps, const EachStep& each);
  /// A value of `dtype` for each point that changes on the way: `first` gives it before the first
  /// step, `each` (which gets it) after each one.
  using First = std::function<ScalarId(ValueLowering&, const Coordinates& point)>;
  using Next = std::function<ScalarId(ValueLowering&, const Coordinates& point,
                                      const Coordinates& step, ScalarId so_far)>;
  [[nodiscard]] Part carrying_part(std::span<const int64_t> grid, int64_t steps, DType dtype,
                                   const First& first, const Next& each);

  /// The op's own step, in its accumulator's dtype.
  [[nodiscard]] ScalarId step(ScalarBuilder& builder, ScalarId so_far,
                              std::span<const ScalarId> next) const;
  [[nodiscard]] ScalarId operand(ValueLowering& body, size_t i, const IndexMap& at,
                                 DType dtype) const {
    return body.builder().cast(body.value(anchor().operands[i], at), dtype);
  }
  [[nodiscard]] KernelDraft finished() {
    order_buffers(draft_);
    return std::move(draft_);
  }

  const Shape shape_;  ///< the anchor's
  const int axis_;
  const int64_t extent_;
  std::vector<int64_t> kept_;  ///< extents of the other axes
  int64_t lines_ = 1;
  BufferId result_;

 private:
  [[nodiscard]] Stage sequence(const Nest& nest, std::vector<SplitRequest>& requests,
                               const EachStep& each);
  [[nodiscard]] Stage loop(const Nest& nest, std::vector<SplitRequest>& requests,
                           const EachPoint& each);
};

// The kernel of group number `index`, whose anchor is of that kind.
[[nodiscard]] KernelDraft lower_scan(const Graph& graph, const FusionGroup& group,
                                     const StoredValues& stored, uint32_t index);
[[nodiscard]] KernelDraft lower_scatter(const Graph& graph, const FusionGroup& group,
                                        const StoredValues& stored, uint32_t index);
[[nodiscard]] KernelDraft lower_sort(const Graph& graph, const FusionGroup& group,
                                     const StoredValues& stored, uint32_t index);

}  // namespace reprise
