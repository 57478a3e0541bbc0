// Checked construction of shapes and the rules that combine them.
#include "ir/shape.h"

#include "ir/error.h"

namespace reprise {
namespace {

/// Byte offsets of any dtype (16 bytes at most) must fit 64 bits, with room to add two of them.
constexpr int64_t kMaxElements = int64_t{1} << 58;

void print_extents(std::ostream& out, std::span<const int64_t> extents) {
  out << '[';
  for (size_t i = 0; i < extents.size(); ++i) out << (i ? "," : "") << extents[i];
  out << ']';
}

std::string text_of(std::span<const int64_t> extents) {
  std::ostringstream out;
  print_extents(out, extents);
  return std::move(out).str();
}

}  // namespace

Shape::Shape(std::span<const int64_t> extents) {
  if (extents.size() > kMaxDims) {
    throw ShapeError(str("rank ", extents.size(), " exceeds kMaxDims=", kMaxDims));
  }
  // Empty axes count as 1 here, so that strides fit too.
  int64_t elements = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    const int64_t extent = extents[i];
    if (extent < 0) {
      throw ShapeError(
          str("shape ", text_of(extents), " has a negative extent ", extent, " at axis ", i));
    }
    if (__builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) ||
        elements >= kMaxElements) {
      throw ShapeError(str("shape ", text_of(extents), " has 2^58 elements or more"));
    }
    extents_[i] = extent;
  }
  rank_ = static_cast<int>(extents.size());
}

int64_t Shape::numel() const {
  int64_t product = 1;
  for (int64_t extent : extents()) product *= extent;
  return product;
}

std::array<int64_t, kMaxDims> Shape::contiguous_strides() const {
  std::array<int64_t, kMaxDims> strides{};
  int64_t stride = 1;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= std::max<int64_t>((*this)[axis], 1);
  }
  return strides;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  print_extents(out, shape.extents());
  return out;
}

std::string to_string(const Shape& shape) {
  return text_of(shape.extents());
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, kMaxDims> extents{};
  for (int axis = 0; axis < rank; ++axis) {
    const int from_a = axis - (rank - a.rank());
    const int from_b = axis - (rank - b.rank());
    const int64_t extent_a = from_a < 0 ? 1 : a[from_a];
    const int64_t extent_b = from_b < 0 ? 1 : b[from_b];
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) {
      throw ShapeError(str("shapes ", a, " and ", b, " do not broadcast (", extent_a, " vs ",
                           extent_b, " at axis ", axis, ")"));
    }
    extents[static_cast<size_t>(axis)] = extent_a == 1 ? extent_b : extent_a;
  }
  return Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(rank)));
}

int normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw IndexError(str("axis ", axis, " is out of range for rank ", rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::ostream& operator<<(std::ostream& out, const TensorType& type) {
  return out << type.dtype << type.shape;
}

}  // namespace reprise
