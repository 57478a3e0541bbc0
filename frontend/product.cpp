// Matrix products and indexing by data.
#include <limits>

#include "frontend/complex.h"
#include "frontend/ops.h"
#include "frontend/positions.h"
#include "frontend/record.h"

namespace reprise {

Tensor matmul(const Tensor& a, const Tensor& b) {
  const TensorType left = a.type();
  const TensorType right = b.type();
  const auto product = [&](const Tensor& x, const Tensor& y) {
    if (is_pair(left.dtype) || is_pair(right.dtype)) return complex_matmul(x, y);
    if (left.dtype == DType::Bool && right.dtype == DType::Bool) {  // some k with both
      const Tensor counts =
          record(Op::Matmul, {cast(x, DType::I64).id(), cast(y, DType::I64).id()});
      return counts != 0;
    }
    if (left.dtype == right.dtype) return record(Op::Matmul, {x.id(), y.id()});
    const DType dtype = promote(left.dtype, right.dtype);
    return record(Op::Matmul, {cast(x, dtype).id(), cast(y, dtype).id()});
  };
  const bool row = left.shape.rank() == 1;
  const bool column = right.shape.rank() == 1;
  if (left.shape.rank() == 0 || right.shape.rank() == 0) {
    throw ShapeError(str("matmul of ", left, " and ", right, ": rank 0 has no rows or columns"));
  }
  if (!row && !column) return product(a, b);
  // Checked here, where the shapes are still the caller's.
  const int64_t inner = left.shape[left.shape.rank() - 1];
  const int64_t outer = right.shape[column ? 0 : right.shape.rank() - 2];
  if (inner != outer) {
    throw ShapeError(str("matmul of ", left, " and ", right, ": inner extents ", inner, " and ",
                         outer, " differ"));
  }
  const Tensor whole = product(row ? unsqueeze(a, 0) : a, column ? unsqueeze(b, 1) : b);
  if (row && column) return reshape(whole, {});
  return squeeze(whole, row ? -2 : -1);
}

Tensor indices_of(const Tensor& indices, std::string_view what) {
  const DType dtype = indices.dtype();
  if (!is_integer(dtype)) {
    throw DTypeError(str(what, ": indices must be integers, they are ", indices.type()));
  }
  constexpr int64_t last = std::numeric_limits<int64_t>::max();
  return cast(dtype == DType::U64 ? minimum(indices, last) : indices, DType::I64);
}

Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis) {
  const Tensor places = indices_of(indices, "gather");
  const int place = normalize_axis(axis, x.rank());
  return record(Op::Gather, {x.id(), places.id()}, Attrs().add_int(place));
}

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis) {
  return gather(x, indices, axis);
}

Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype) {
  const TensorType type = indices.type();
  if (!is_integer(type.dtype)) {
    throw DTypeError(str("one_hot: indices must be integers, they are ", type));
  }
  if (classes < 0) throw ShapeError(str("one_hot with ", classes, " classes"));
  return record(Op::OneHot, indices, Attrs().add_int(classes).add_type(dtype));
}

}  // namespace reprise
