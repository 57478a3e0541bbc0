// Movement made of movement, under NumPy's names and PyTorch's.
#include <string>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

Tensor rolled(const Tensor& x, const Integers& shift, const std::optional<Integers>& axis) {
  if (!axis) {
    if (shift.values.size() == 1) return roll(x, shift.values[0]);
    throw ShapeError(str("roll: ", shift.values.size(), " shifts without axes"));
  }
  if (shift.values.size() != axis->values.size() && shift.values.size() != 1) {
    throw ShapeError(
        str("roll: ", shift.values.size(), " shifts for ", axis->values.size(), " axes"));
  }
  Tensor result = x.value();
  for (size_t i = 0; i < axis->values.size(); ++i) {
    result = roll(result, shift.values[shift.values.size() == 1 ? 0 : i], axis->values[i]);
  }
  return result;
}

void bind_parts(py::module_& module) {
  module.def(
      "chunk",
      [](const TensorArg& x, int64_t chunks, int64_t axis) { return chunk(x.value, chunks, axis); },
      py::arg("x"), py::arg("chunks"), py::arg("axis") = 0,
      "So many parts of equal length but perhaps for the last, or fewer where that comes out even.",
      Unlocked());
  module.def(
      "unstack", [](const TensorArg& x, int64_t axis) { return unbind(x.value, axis); },
      py::arg("x"), py::arg("axis") = 0, "The positions of an axis, which they drop.", Unlocked());
}

void bind_matrices(py::module_& module) {
  module.def(
      "diagonal",
      [](const TensorArg& x, int64_t offset, int64_t axis1, int64_t axis2) {
        return diagonal(x.value, offset, axis1, axis2);
      },
      py::arg("x"), py::arg("offset") = 0, py::arg("axis1") = -2, py::arg("axis2") = -1,
      "The diagonals of the matrices in two axes, as a new last axis; a view.", Unlocked());
  module.def(
      "diag", [](const TensorArg& x, int64_t k) { return diag(x.value, k); }, py::arg("x"),
      py::arg("k") = 0, "The matrix with x on a diagonal, or the diagonal of a matrix.",
      Unlocked());
  module.def(
      "triu", [](const TensorArg& x, int64_t k) { return triu(x.value, k); }, py::arg("x"),
      py::arg("k") = 0, "Matrices with 0 below a diagonal.", Unlocked());
  module.def(
      "tril", [](const TensorArg& x, int64_t k) { return tril(x.value, k); }, py::arg("x"),
      py::arg("k") = 0, "Matrices with 0 above a diagonal.", Unlocked());
  module.def(
      "meshgrid",
      [](const py::args& axes, const std::string& indexing) {
        const std::vector<Tensor> given = tensors_of(axes);
        if (indexing != "xy" && indexing != "ij") {
          throw Error(str("meshgrid: indexing is \"xy\" or \"ij\", not \"", indexing, "\""));
        }
        return unlocked([&] {
          return meshgrid(given, indexing == "ij" ? GridOrder::Rows : GridOrder::Columns);
        });
      },
      py::arg("indexing") = "xy", "Coordinates of a grid from those of its axes.");
}

/// One count or a list of them, in an array or a tensor too.
Tensor repeated(const Tensor& x, const py::object& repeats, std::optional<int64_t> axis) {
  py::object counts = repeats;
  if (py::isinstance<Tensor>(counts)) require_readable("counts of repeat");
  if (py::isinstance<Tensor>(counts) || is_array(counts)) counts = counts.attr("tolist")();
  Integers times;
  if (!load_integers(counts, times.values)) {
    throw py::type_error("repeat: expected a number of times or a list of them");
  }
  const bool single = integer_of(counts).has_value();
  return unlocked([&] {
    const Tensor flat = axis ? x : flatten(x);
    const int64_t along = axis.value_or(0);
    return single ? repeat(flat, times.values[0], along) : repeat(flat, times.values, along);
  });
}

}  // namespace

void bind_rearrange(py::module_& module, TensorClass& tensor) {
  def_both(
      module, tensor, "roll",
      [](const TensorArg& x, const Integers& shift, const std::optional<Integers>& axis) {
        return rolled(x.value, shift, axis);
      },
      py::arg("shift"), py::arg("axis") = py::none(),
      "Elements move along axes, or through all of them; what leaves at the end comes in front.",
      Unlocked());
  def_both(
      module, tensor, "repeat",
      [](const TensorArg& x, const py::object& repeats, std::optional<int64_t> axis) {
        return repeated(x.value, repeats, axis);
      },
      py::arg("repeats"), py::arg("axis") = py::none(),
      "Each element so many times in a row, along an axis or of all elements: one count, or one "
      "for each (a tensor of them is read at once).");
  module.def(
      "tile",
      [](const TensorArg& x, const Integers& repetitions) {
        return tile(x.value, repetitions.values);
      },
      py::arg("x"), py::arg("repetitions"), "x itself, repeated along its axes and before them.",
      Unlocked());
  module.def(
      "expand",
      [](const TensorArg& x, const Integers& shape) { return expand(x.value, shape.values); },
      py::arg("x"), py::arg("shape"), "broadcast_to in which -1 keeps x's own extent.", Unlocked());
  bind_parts(module);
  bind_matrices(module);
}

}  // namespace reprise::python
