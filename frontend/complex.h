// Arithmetic on complex tensors: what each op is in terms of real and imaginary parts.
#pragma once

#include <utility>

#include "frontend/ops.h"
#include "ir/op.h"

namespace reprise {

/// The parts of a complex tensor, or of values on the way to one.
struct Parts {
  Tensor re, im;
};
[[nodiscard]] Parts parts_of(const Tensor& z);
[[nodiscard]] Tensor joined(const Parts& z);

// What the ops of ops.h record where an operand is complex. Each throws DTypeError for an op that
// has no meaning there, naming it, and for complex integers.
[[nodiscard]] Tensor complex_unary(Op op, const Tensor& z);
[[nodiscard]] Tensor complex_binary(Op op, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor complex_power(const Tensor& base, Number exponent);
[[nodiscard]] Tensor complex_reduction(Op op, const Tensor& z, uint32_t axes, KeepDims keep,
                                       int64_t ddof = 0);
[[nodiscard]] Tensor complex_scan(Op op, const Tensor& z, int axis);
/// Of operands of rank 2 or more, at least one of them complex.
[[nodiscard]] Tensor complex_matmul(const Tensor& a, const Tensor& b);

// Of parts (complex_functions.cpp); edges as C's Annex G has them.
[[nodiscard]] Parts complex_product(const Parts& a, const Parts& b);
[[nodiscard]] Parts complex_quotient(const Parts& a, const Parts& b);
[[nodiscard]] Parts complex_exp(const Parts& z);
[[nodiscard]] Parts complex_expm1(const Parts& z);
[[nodiscard]] Parts complex_log(const Parts& z);
[[nodiscard]] Parts complex_log1p(const Parts& z);
[[nodiscard]] Parts complex_sqrt(const Parts& z);
[[nodiscard]] Parts complex_sinh(const Parts& z);
[[nodiscard]] Parts complex_cosh(const Parts& z);
[[nodiscard]] Parts complex_tanh(const Parts& z);
[[nodiscard]] Parts complex_asin(const Parts& z);
[[nodiscard]] Parts complex_acos(const Parts& z);
[[nodiscard]] Parts complex_acosh(const Parts& z);
[[nodiscard]] Parts complex_atanh(const Parts& z);

/// i z and -i z.
[[nodiscard]] inline Parts times_i(const Parts& z) {
  return {negative(z.im), z.re};
}
[[nodiscard]] inline Parts times_minus_i(const Parts& z) {
  return {z.im, negative(z.re)};
}

}  // namespace reprise
