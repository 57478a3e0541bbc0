// Products with sums that have names of their own; norms.
#include "frontend/contractions.h"

#include <cmath>

#include "frontend/rearrange.h"
#include "frontend/record.h"
#include "ir/elementwise.h"

namespace reprise {

namespace {
using Extents = SmallVector<int64_t, kMaxDims>;
}  // namespace

Tensor dot(const Tensor& a, const Tensor& b) {
  const TensorType left = a.type(), right = b.type();
  if (left.shape.rank() != 1 || right.shape.rank() != 1) {
    throw ShapeError(str("dot of ", left, " and ", right, ": both must have rank 1"));
  }
  if (left.shape[0] != right.shape[0]) {
    throw ShapeError(str("dot of ", left, " and ", right, ": their lengths differ"));
  }
  return matmul(a, b);
}

Tensor vdot(const Tensor& a, const Tensor& b) {
  const TensorType left = a.type(), right = b.type();
  if (left.shape.numel() != right.shape.numel()) {
    throw ShapeError(str("vdot of ", left, " and ", right, ": ", left.shape.numel(), " and ",
                         right.shape.numel(), " elements"));
  }
  return dot(conj(flatten(a)), flatten(b));
}

Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis) {
  if (a.size(axis) != b.size(axis)) {
    throw ShapeError(str("vecdot of ", a.type(), " and ", b.type(), ": axis ", axis,
                         " has extents ", a.size(axis), " and ", b.size(axis)));
  }
  return einsum("...i,...i->...", {conj(moveaxis(a, axis, -1)), moveaxis(b, axis, -1)});
}

Tensor outer(const Tensor& a, const Tensor& b) {
  return reshape(a, {-1, 1}) * reshape(b, {1, -1});
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const Shape left = a.shape(), right = b.shape();
  const int rank = std::max(left.rank(), right.rank());
  const auto extent = [&](const Shape& shape, int axis) {
    const int own = axis - (rank - shape.rank());
    return own < 0 ? 1 : shape[own];
  };
  Extents spread_a, spread_b, extents;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t m = extent(left, axis), n = extent(right, axis);
    extents.push_back(m * n);
    for (const int64_t e : {m, int64_t{1}}) spread_a.push_back(e);
    for (const int64_t e : {int64_t{1}, n}) spread_b.push_back(e);
  }
  return reshape(reshape(a, spread_a) * reshape(b, spread_b), extents);
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t axis) {
  for (const Tensor* x : {&a, &b}) {
    if (x->size(axis) != 3) {
      throw ShapeError(str("cross of ", a.type(), " and ", b.type(), ": axis ", axis,
                           " of both must have extent 3"));
    }
  }
  // The axis of each by its own rank, at the end while the others broadcast.
  const Tensor left = moveaxis(a, axis, -1), right = moveaxis(b, axis, -1);
  const auto part = [](const Tensor& x, int64_t i) { return slice(x, -1, {i, i + 1}); };
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back(part(left, j) * part(right, k) - part(left, k) * part(right, j));
  }
  return moveaxis(concat(parts, -1), -1, axis);
}

Tensor trace(const Tensor& x, int64_t offset) {
  return sum(diagonal(x, offset), -1);
}

namespace {

/// abs(x) in floats.
Tensor magnitudes(const Tensor& x) {
  return abs(is_pair(x.dtype()) ? x : as_float(x));
}

}  // namespace

Tensor norm(const Tensor& x, double p, const AxisList& axes, KeepDims keep) {
  if (std::isnan(p)) throw Error("norm: p is NaN");
  const Tensor magnitude = magnitudes(x);
  const DType dtype = magnitude.dtype();
  if (p == INFINITY) return max(magnitude, axes, keep);
  if (p == -INFINITY) return min(magnitude, axes, keep);
  if (p == 0) return cast(count_nonzero(x, axes, keep), dtype);
  if (p == 1) return sum(magnitude, axes, keep);
  // Powers of half types are summed where they do not overflow.
  const bool half = dtype == DType::F16 || dtype == DType::BF16;
  const Tensor wide = half ? cast(magnitude, DType::F32) : magnitude;
  if (p == 2) return cast(sqrt(sum(square(wide), axes, keep)), dtype);
  // Of 0 neither power is asked: their slopes there may be infinite, and the norm's is 0.
  const auto power = [](const Tensor& base, double exponent) {
    const Tensor is_zero = base == 0;
    const double at_zero = exponent < 0 ? INFINITY : 0;
    return where(is_zero, at_zero, pow(where(is_zero, 1, base), exponent));
  };
  return cast(power(sum(power(wide, p), axes, keep), 1 / p), dtype);
}

Tensor matrix_norm(const Tensor& x, MatrixNorm which, KeepDims keep) {
  if (x.rank() < 2) throw ShapeError(str("matrix_norm of ", x.type(), ": matrices have two axes"));
  const AxisList matrix = {-2, -1};
  switch (which) {
    case MatrixNorm::Frobenius:
      return norm(x, 2, matrix, keep);
    case MatrixNorm::One:
      return max(sum(magnitudes(x), -2, KeepDims::Yes), matrix, keep);
    case MatrixNorm::Infinity:
      return max(sum(magnitudes(x), -1, KeepDims::Yes), matrix, keep);
    case MatrixNorm::LeastColumn:
      return min(sum(magnitudes(x), -2, KeepDims::Yes), matrix, keep);
    case MatrixNorm::LeastRow:
      return min(sum(magnitudes(x), -1, KeepDims::Yes), matrix, keep);
  }
  return {};
}

Tensor count_nonzero(const Tensor& x, const AxisList& axes, KeepDims keep) {
  return sum(cast(x, DType::Bool), axes, keep);
}

}  // namespace reprise
