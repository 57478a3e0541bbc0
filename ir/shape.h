// Shapes: extents of a tensor, row-major, no data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>

#include "ir/dtype.h"

namespace reprise {

/// Bounds the rank of a tensor (not the depth of a loop nest).
inline constexpr int kMaxDims = 8;

/// Extents, outermost first. Throws ShapeError past kMaxDims, for a negative extent, and when the
/// number of elements does not fit 58 bits.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents)
      : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const int64_t> extents);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int64_t operator[](int axis) const { return extents_[axis]; }
  [[nodiscard]] const int64_t* begin() const { return extents_.data(); }
  [[nodiscard]] const int64_t* end() const { return extents_.data() + rank_; }
  [[nodiscard]] std::span<const int64_t> extents() const { return {begin(), end()}; }
  operator std::span<const int64_t>() const { return extents(); }
  /// Product of the extents; 1 for a scalar.
  [[nodiscard]] int64_t numel() const;
  /// Row-major strides in elements.
  [[nodiscard]] std::array<int64_t, kMaxDims> contiguous_strides() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int axis = 0; axis < a.rank_; ++axis) {  // in line: a call costs more than a few extents
      if (a.extents_[axis] != b.extents_[axis]) return false;
    }
    return true;
  }

 private:
  std::array<int64_t, kMaxDims> extents_{};
  int rank_ = 0;
};

/// "[2,3]", the form of every text and error message.
std::ostream& operator<<(std::ostream& out, const Shape& shape);
[[nodiscard]] std::string to_string(const Shape& shape);

/// NumPy's broadcast of two shapes; throws ShapeError naming both.
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b);
/// Maps an axis in [-rank, rank) to [0, rank); throws IndexError naming axis and rank.
[[nodiscard]] int normalize_axis(int64_t axis, int rank);

/// What a value is before it has memory.
struct TensorType {
  DType dtype = DType::F32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
/// "f32[2,3]".
std::ostream& operator<<(std::ostream& out, const TensorType& type);

}  // namespace reprise
