// Scans along an axis.
#include "frontend/scans.h"

#include "frontend/complex.h"
#include "frontend/create.h"
#include "frontend/record.h"

namespace reprise {

namespace {

Tensor scanned(Op op, const Tensor& x, int64_t axis, std::optional<DType> dtype = {}) {
  if (dtype) return cast(scanned(op, cast(x, *dtype), axis), *dtype);
  if (op != Op::CumSum && is_pair(x.dtype())) {
    return complex_scan(op, x, normalize_axis(axis, x.rank()));
  }
  return record(op, x, Attrs().add_int(normalize_axis(axis, x.rank())));
}

Found extremum(Op op, const Tensor& x, int64_t axis) {
  const int along = normalize_axis(axis, x.rank());
  const Shape shape = x.shape();
  const Tensor values = scanned(op, x, along);
  Tensor hit = x == values;
  if (is_float(x.dtype())) hit = logical_or(hit, isnan(x));
  SmallVector<int64_t, kMaxDims> extents;
  for (int i = 0; i < shape.rank(); ++i) extents.push_back(i == along ? shape[i] : 1);
  const Tensor positions =
      reshape(arange(shape[along]), std::span<const int64_t>(extents.begin(), extents.end()));
  return {values, scanned(Op::CumMax, where(hit, positions, 0), along)};
}

}  // namespace

Tensor cumsum(const Tensor& x, int64_t axis, std::optional<DType> dtype) {
  return scanned(Op::CumSum, x, axis, dtype);
}

Tensor diff(const Tensor& x, int64_t axis, int64_t order) {
  const int along = normalize_axis(axis, x.rank());
  if (order < 0) throw Error(str("diff of ", x.type(), ": an order of ", order));
  Tensor result = x.value();
  for (; order > 0 && result.size(along) > 0; --order) {
    const Tensor after = slice(result, along, {.start = 1});
    const Tensor before = slice(result, along, {.stop = result.size(along) - 1});
    result = x.dtype() == DType::Bool ? not_equal(after, before) : after - before;
  }
  return result;
}

Tensor cumprod(const Tensor& x, int64_t axis, std::optional<DType> dtype) {
  return scanned(Op::CumProd, x, axis, dtype);
}

Tensor logcumsumexp(const Tensor& x, int64_t axis) {
  return scanned(Op::LogCumSumExp, as_float(x), axis);
}

Found cummax(const Tensor& x, int64_t axis) {
  return extremum(Op::CumMax, x, axis);
}

Found cummin(const Tensor& x, int64_t axis) {
  return extremum(Op::CumMin, x, axis);
}

Tensor linear_recurrence(const Tensor& a, const Tensor& b, int64_t axis) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  const Tensor factors = broadcast_to(cast(a, dtype), shape);
  const Tensor terms = broadcast_to(cast(b, dtype), shape);
  return record(Op::LinearRecurrence, {factors.id(), terms.id()},
                Attrs().add_int(normalize_axis(axis, shape.rank())));
}

}  // namespace reprise
