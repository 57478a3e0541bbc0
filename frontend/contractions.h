// Products with sums: einsum and what is a case of it; norms.
#pragma once

#include <string_view>

#include "frontend/ops.h"

namespace reprise {

/// Sums of products by labels, as NumPy's einsum: "ij,jk->ik", "...ij->...ji", a repeated label
/// takes a diagonal, without "->" the labels that occur once are kept in alphabetical order. An
/// extent of 1 is broadcast. The dtype is the operands' own by promotion. Throws Error for an
/// equation that is none, ShapeError where it does not fit the operands.
[[nodiscard]] Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
[[nodiscard]] Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands);

/// Sums over the last `axes` axes of a and the first of b.
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes = 2);
/// Sums over pairs of axes; the others of a, then those of b.
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, std::span<const int64_t> a_axes,
                               std::span<const int64_t> b_axes);
/// Of rank 1; the sum of the products. vdot flattens first.
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor vdot(const Tensor& a, const Tensor& b);
/// dot along an axis of each, of equal extents; the other axes broadcast. Conjugates a, as vdot.
[[nodiscard]] Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis = -1);
/// The products of each element of a with each of b, both flattened: (a.numel(), b.numel()).
[[nodiscard]] Tensor outer(const Tensor& a, const Tensor& b);
/// The Kronecker product, of ranks up to 4.
[[nodiscard]] Tensor kron(const Tensor& a, const Tensor& b);
/// The vector product along an axis of extent 3.
[[nodiscard]] Tensor cross(const Tensor& a, const Tensor& b, int64_t axis = -1);
/// The sum of a diagonal of the matrices in the last two axes.
[[nodiscard]] Tensor trace(const Tensor& x, int64_t offset = 0);

/// sum(|x|^p)^(1/p) over axes; infinity: the largest magnitude, -infinity: the smallest, 0: how
/// many are not 0. Integers become f32. The gradient at 0 is 0.
[[nodiscard]] Tensor norm(const Tensor& x, double p = 2, const AxisList& axes = {},
                          KeepDims keep = KeepDims::No);
/// Of matrices in the last two axes: Frobenius, or the largest sum of magnitudes of a column (One)
/// or a row (Infinity), or the least.
enum class MatrixNorm : uint8_t { Frobenius, One, Infinity, LeastColumn, LeastRow };
[[nodiscard]] Tensor matrix_norm(const Tensor& x, MatrixNorm which = MatrixNorm::Frobenius,
                                 KeepDims keep = KeepDims::No);
/// How many elements are not 0, as i64.
[[nodiscard]] Tensor count_nonzero(const Tensor& x, const AxisList& axes = {},
                                   KeepDims keep = KeepDims::No);

}  // namespace reprise
