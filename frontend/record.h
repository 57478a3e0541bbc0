// What the frontend's ops share: recording with handles, promotion, weak numbers as parameters.
#pragma once

#include <initializer_list>
#include <span>

#include "frontend/tensor.h"
#include "ir/number.h"
#include "ir/op.h"

namespace reprise {

[[nodiscard]] inline Tensor record(Op op, std::span<const TensorId> operands,
                                   const Attrs& attrs = {}, const TensorType* result = nullptr) {
  return Tensor(Runtime::get().record(op, operands, attrs, result));
}
[[nodiscard]] inline Tensor record(Op op, std::initializer_list<TensorId> operands,
                                   const Attrs& attrs = {}, const TensorType* result = nullptr) {
  return record(op, std::span(operands.begin(), operands.size()), attrs, result);
}
[[nodiscard]] inline Tensor record(Op op, const Tensor& x, const Attrs& attrs = {},
                                   const TensorType* result = nullptr) {
  return record(op, {x.id()}, attrs, result);
}
/// A rank-0 parameter: read at every launch, never part of a key. Of pairs one for each part, of a
/// real number for the real part alone.
[[nodiscard]] Tensor parameter_pair(Number value, DType dtype);
[[nodiscard]] inline Tensor parameter(Number value, DType dtype) {
  if (is_pair(dtype)) [[unlikely]]
    return parameter_pair(value, dtype);
  return Tensor(Runtime::get().parameter(dtype, value));
}
/// A rank-0 constant: part of what gets compiled.
[[nodiscard]] Tensor constant(double value, DType dtype);

/// Throws DTypeError unless the numbers from `first` to `last`, made by `what`, are values of
/// `dtype` or, being floats, round to some: a cast would wrap or saturate what is beyond.
void require_fit(const char* what, Number first, Number last, DType dtype);

/// x in f32 where it is bool or integers, as functions of floats take them. DTypeError for pairs.
[[nodiscard]] Tensor as_float(const Tensor& x);

/// Records `op` on two operands of one dtype.
[[nodiscard]] Tensor record_binary(Op op, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor record_binary(Op op, const Tensor& a, Number b);
[[nodiscard]] Tensor record_binary(Op op, Number a, const Tensor& b);

}  // namespace reprise
