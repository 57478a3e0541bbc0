// Products with sums, under NumPy's names and the array API's.
#include <cmath>
#include <string>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

KeepDims keep(bool keepdims) {
  return keepdims ? KeepDims::Yes : KeepDims::No;
}

/// One number of axes, or a pair of lists.
Tensor dotted(const Tensor& a, const Tensor& b, const py::object& axes) {
  if (const std::optional<int64_t> count = integer_of(axes)) {
    return unlocked([&] { return tensordot(a, b, *count); });
  }
  Integers left, right;
  if (!py::isinstance<py::sequence>(axes) || py::len(axes) != 2 ||
      !load_integers(axes[py::int_(0)], left.values) ||
      !load_integers(axes[py::int_(1)], right.values)) {
    throw py::type_error("tensordot: axes is a number or a pair of axes or of lists of them");
  }
  return unlocked([&] { return tensordot(a, b, left.values, right.values); });
}

MatrixNorm norm_named(const py::object& ord) {
  if (py::isinstance<py::str>(ord) && ord.cast<std::string>() == "fro")
    return MatrixNorm::Frobenius;
  if (py::isinstance<py::int_>(ord) || py::isinstance<py::float_>(ord)) {
    const auto number = ord.cast<double>();
    if (number == 1) return MatrixNorm::One;
    if (number == INFINITY) return MatrixNorm::Infinity;
    if (number == -1) return MatrixNorm::LeastColumn;
    if (number == -INFINITY) return MatrixNorm::LeastRow;
  }
  throw Error("matrix_norm: ord is \"fro\", 1, -1, inf or -inf, not " + std::string(py::str(ord)));
}

using Product = Tensor (*)(const Tensor&, const Tensor&);

}  // namespace

void bind_contractions(py::module_& module) {
  module.def(
      "einsum",
      [](const std::string& equation, const py::args& operands) {
        const std::vector<Tensor> given = tensors_of(operands);
        return unlocked([&] { return einsum(equation, given); });
      },
      py::arg("equation"), "Sums of products by labels: \"ij,jk->ik\".");
  module.def(
      "tensordot",
      [](const TensorArg& a, const TensorArg& b, const py::object& axes) {
        return dotted(a.value, b.value, axes);
      },
      py::arg("x1"), py::arg("x2"), py::arg("axes") = 2,
      "Sums over the last axes of x1 and the first of x2, or over pairs of axes.");
  const auto product = [&](const char* name, Product function, const char* doc) {
    module.def(
        name,
        [function](const TensorArg& a, const TensorArg& b) { return function(a.value, b.value); },
        py::arg("x1"), py::arg("x2"), doc, Unlocked());
  };
  product("dot", &dot, "The sum of the products of two vectors.");
  product("vdot", &vdot, "The sum of the products of all elements.");
  module.def(
      "vecdot",
      [](const TensorArg& a, const TensorArg& b, int64_t axis) {
        return vecdot(a.value, b.value, axis);
      },
      py::arg("x1"), py::arg("x2"), py::arg("axis") = -1,
      "dot along an axis of equal extents, of x1's conjugate; the other axes broadcast.",
      Unlocked());
  product("outer", &outer, "The products of each element of x1 with each of x2.");
  product("kron", &kron, "The Kronecker product.");
  module.def(
      "cross",
      [](const TensorArg& a, const TensorArg& b, int64_t axis) {
        return cross(a.value, b.value, axis);
      },
      py::arg("x1"), py::arg("x2"), py::arg("axis") = -1,
      "The vector product along an axis of extent 3.", Unlocked());
  module.def(
      "trace", [](const TensorArg& x, int64_t offset) { return trace(x.value, offset); },
      py::arg("x"), py::arg("offset") = 0, "The sum of a diagonal of the last two axes.",
      Unlocked());
  module.def(
      "vector_norm",
      [](const TensorArg& x, const AxisList& axis, bool keepdims, Fixed ord) {
        return norm(x.value, ord.value, axis, keep(keepdims));
      },
      py::arg("x"), py::arg("axis") = py::none(), py::arg("keepdims") = false, py::arg("ord") = 2.0,
      "sum(|x|^ord)^(1/ord); inf: the largest magnitude, -inf: the smallest, 0: how many are not "
      "0.",
      Unlocked());
  module.def(
      "matrix_norm",
      [](const TensorArg& x, bool keepdims, const py::object& ord) {
        const MatrixNorm which = norm_named(ord);
        return unlocked([&] { return matrix_norm(x.value, which, keep(keepdims)); });
      },
      py::arg("x"), py::arg("keepdims") = false, py::arg("ord") = "fro",
      "Of the last two axes: \"fro\", or the largest sum of magnitudes of a column (1) or row "
      "(inf), or the least (-1, -inf).");
  module.def(
      "count_nonzero",
      [](const TensorArg& x, const AxisList& axis, bool keepdims) {
        return count_nonzero(x.value, axis, keep(keepdims));
      },
      py::arg("x"), py::arg("axis") = py::none(), py::arg("keepdims") = false,
      "How many elements are not 0, int64.", Unlocked());
}

}  // namespace reprise::python
