// Movement made of movement: rolled, repeated, padded, cut and spread tensors.
#pragma once

#include "frontend/ops.h"

namespace reprise {

/// broadcast_to in which an extent of -1 keeps the tensor's own.
[[nodiscard]] Tensor expand(const Tensor& x, std::span<const int64_t> extents);
[[nodiscard]] Tensor expand(const Tensor& x, std::initializer_list<int64_t> extents);
/// Axis source[i] becomes axis destination[i]; the others keep their order.
[[nodiscard]] Tensor moveaxis(const Tensor& x, std::span<const int64_t> source,
                              std::span<const int64_t> destination);
[[nodiscard]] Tensor moveaxis(const Tensor& x, int64_t source, int64_t destination);
/// Elements move by `shift` places along the axis; what leaves at the end comes back in front.
[[nodiscard]] Tensor roll(const Tensor& x, int64_t shift, int64_t axis);
/// The same over all elements, row-major.
[[nodiscard]] Tensor roll(const Tensor& x, int64_t shift);
/// Each element of an axis `times` times in a row.
[[nodiscard]] Tensor repeat(const Tensor& x, int64_t times, int64_t axis);
/// Element i of an axis times[i] times; one count is for all. Throws ShapeError for another number
/// of counts than the axis has elements, or a negative one.
[[nodiscard]] Tensor repeat(const Tensor& x, std::span<const int64_t> times, int64_t axis);
[[nodiscard]] Tensor repeat(const Tensor& x, std::initializer_list<int64_t> times, int64_t axis);
/// The tensor itself `times[i]` times along axis i; missing leading axes or counts are 1.
[[nodiscard]] Tensor tile(const Tensor& x, std::span<const int64_t> times);
[[nodiscard]] Tensor tile(const Tensor& x, std::initializer_list<int64_t> times);

/// What lies around: a value, the elements mirrored at the edge (without it), the edge itself, or
/// the other end.
enum class PadMode : uint8_t { Constant, Reflect, Replicate, Circular };
/// low[i] elements before and high[i] after axis i, none negative. Throws ShapeError where the mode
/// wants more elements than the axis has.
[[nodiscard]] Tensor pad(const Tensor& x, std::span<const int64_t> low,
                         std::span<const int64_t> high, PadMode mode, Number value = 0);

/// Parts of `length` elements along an axis, the last one perhaps shorter.
[[nodiscard]] std::vector<Tensor> split_by(const Tensor& x, int64_t length, int64_t axis = 0);
/// `parts` parts along an axis, of equal length but perhaps for the last; fewer where that comes
/// out even, as in PyTorch.
[[nodiscard]] std::vector<Tensor> chunk(const Tensor& x, int64_t parts, int64_t axis = 0);
/// The positions of an axis, which they drop.
[[nodiscard]] std::vector<Tensor> unbind(const Tensor& x, int64_t axis = 0);

/// The elements where index along axis2 = index along axis1 + offset, as a new last axis.
[[nodiscard]] Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t axis1 = -2,
                              int64_t axis2 = -1);
/// Of rank 1: the square matrix with it on a diagonal, else 0. Of rank 2: its diagonal.
[[nodiscard]] Tensor diag(const Tensor& x, int64_t offset = 0);
/// The matrices (last two axes) with 0 below (above) a diagonal. `offset` never recompiles.
[[nodiscard]] Tensor triu(const Tensor& x, int64_t offset = 0);
[[nodiscard]] Tensor tril(const Tensor& x, int64_t offset = 0);

/// Coordinates of a grid from those of its axes, rank 1 each: Rows puts the first along axis 0
/// (ij), Columns along axis 1 (xy).
enum class GridOrder : uint8_t { Rows, Columns };
[[nodiscard]] std::vector<Tensor> meshgrid(std::span<const Tensor> axes,
                                           GridOrder order = GridOrder::Columns);

}  // namespace reprise
