// New shapes over the same elements, products, and indexing by data.
#include <algorithm>
#include <string>
#include <utility>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

/// `x.reshape(2, 3)` as well as `x.reshape((2, 3))`.
std::vector<int64_t> extents_of(const py::args& given) {
  std::vector<int64_t> extents;
  const py::object source = given.size() == 1 ? py::object(given[0]) : py::object(given);
  if (!load_integers(source, extents)) {
    throw py::type_error("expected integers, it was given " + std::string(py::str(source)));
  }
  return extents;
}

Tensor expanded(const Tensor& x, std::span<const int64_t> axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  std::vector<int64_t> places;
  for (const int64_t axis : axes) places.push_back(normalize_axis(axis, rank));
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
    throw Error(str("expand_dims of ", x.type(), ": one of ", axes.size(), " axes occurs twice"));
  }
  Tensor result = x.value();
  for (const int64_t place : places) result = unsqueeze(result, place);
  return result;
}

/// NumPy's ways to write it: one number, one pair, or a pair for each axis.
Tensor padded(const Tensor& x, const py::object& width, const std::string& mode, Number value) {
  const std::pair<const char*, PadMode> modes[] = {
      {"constant", PadMode::Constant}, {"reflect", PadMode::Reflect},
      {"edge", PadMode::Replicate},    {"replicate", PadMode::Replicate},
      {"wrap", PadMode::Circular},     {"circular", PadMode::Circular}};
  const auto* const found = std::find_if(std::begin(modes), std::end(modes),
                                         [&](const auto& known) { return known.first == mode; });
  if (found == std::end(modes)) {
    throw Error(str("pad: the mode is constant, reflect, replicate or circular, not ", mode));
  }
  const auto rank = static_cast<size_t>(x.rank());
  std::vector<int64_t> low(rank), high(rank);
  try {
    const py::object pairs =
        py::module_::import("numpy").attr("broadcast_to")(width, py::make_tuple(rank, 2));
    for (size_t axis = 0; axis < rank; ++axis) {
      const auto pair = pairs[py::int_(axis)].attr("tolist")().cast<std::vector<int64_t>>();
      low[axis] = pair[0];
      high[axis] = pair[1];
    }
  } catch (const std::exception&) {  // NumPy's own, or no integers
    throw ShapeError(str("pad of ", x.type(), ": a width, a pair, or a pair for each axis, not ",
                         std::string(py::repr(width))));
  }
  return unlocked([&] { return pad(x, low, high, found->second, value); });
}

std::vector<Tensor> split_at(const Tensor& x, const Integers& where, bool is_count, int64_t axis) {
  if (is_count) return split(x, where.values[0], axis);
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t stop : where.values) {
    parts.push_back(slice(x, axis, {start, stop}));
    start = stop;
  }
  parts.push_back(slice(x, axis, {start}));
  return parts;
}

std::vector<Tensor> broadcast_arrays(const std::vector<TensorArg>& tensors) {
  Shape shape;
  for (const TensorArg& x : tensors) shape = broadcast_shapes(shape, x.value.shape());
  std::vector<Tensor> result;
  for (const TensorArg& x : tensors) result.push_back(broadcast_to(x.value, shape));
  return result;
}

Tensor transposed(const Tensor& x) {
  std::vector<int64_t> order;
  for (int i = x.rank(); i-- > 0;) order.push_back(i);
  return permute(x, order);
}

Tensor matrix_transposed(const Tensor& x) {
  if (x.rank() < 2) throw ShapeError(str("the matrix transpose of ", x.type(), ": rank below 2"));
  return transpose(x);
}

/// A node of its own on the same value: what is differentiated or replayed by it is this use alone.
Tensor identity(const Tensor& x) {
  const TensorType type = x.type();
  const TensorId ids[] = {x.id()};
  return Tensor(Runtime::get().record(Op::Reshape, ids, {}, &type));
}

void bind_methods(TensorClass& tensor) {
  tensor
      .def(
          "reshape",
          [](const Tensor& x, const py::args& shape) {
            const std::vector<int64_t> extents = extents_of(shape);
            return unlocked([&] { return reshape(x, extents); });
          },
          "The same elements in another shape; one extent may be -1.")
      .def(
          "permute_dims",
          [](const Tensor& x, const py::args& axes) {
            const std::vector<int64_t> order = extents_of(axes);
            return unlocked([&] { return permute(x, order); });
          },
          "Axis i of the result is axis axes[i] of x.")
      .def(
          "transpose", [](const Tensor& x, int64_t a, int64_t b) { return transpose(x, a, b); },
          py::arg("axis1") = -2, py::arg("axis2") = -1, "Swaps two axes, the last two unless told.",
          Unlocked())
      .def_property_readonly(
          "T", [](const Tensor& x) { return unlocked([&] { return transposed(x); }); },
          "All axes in reverse order.")
      .def_property_readonly(
          "mT", [](const Tensor& x) { return unlocked([&] { return matrix_transposed(x); }); },
          "The last two axes swapped.");
}

void bind_shapes(py::module_& module, TensorClass& tensor) {
  module.def("_identity", &identity, Unlocked());
  module.def(
      "reshape",
      [](const TensorArg& x, const Integers& shape) { return reshape(x.value, shape.values); },
      py::arg("x"), py::arg("shape"), "The same elements in another shape; one extent may be -1.",
      Unlocked());
  module.def(
      "permute_dims",
      [](const TensorArg& x, const Integers& axes) { return permute(x.value, axes.values); },
      py::arg("x"), py::arg("axes"), "Axis i of the result is axis axes[i] of x.", Unlocked());
  module.def(
      "matrix_transpose", [](const TensorArg& x) { return matrix_transposed(x.value); },
      py::arg("x"), "The last two axes swapped.", Unlocked());
  module.def(
      "moveaxis",
      [](const TensorArg& x, const Integers& source, const Integers& destination) {
        return moveaxis(x.value, source.values, destination.values);
      },
      py::arg("x"), py::arg("source"), py::arg("destination"),
      "Moves axes to other places; the others keep their order.", Unlocked());
  def_both(
      module, tensor, "flatten", [](const TensorArg& x) { return flatten(x.value); },
      "One axis of all elements, row-major.", Unlocked());
  def_both(
      module, tensor, "squeeze",
      [](const TensorArg& x, const std::optional<Integers>& axis) {
        return axis ? squeeze(x.value, AxisList(axis->values)) : squeeze(x.value);
      },
      py::arg("axis") = py::none(),
      "Drops axes of extent 1: those given (ShapeError if longer), or all.", Unlocked());
  module.def(
      "expand_dims",
      [](const TensorArg& x, const Integers& axis) { return expanded(x.value, axis.values); },
      py::arg("x"), py::arg("axis") = 0, "New axes of extent 1, at these places of the result.",
      Unlocked());
  module.def(
      "broadcast_to",
      [](const TensorArg& x, const Shape& shape) { return broadcast_to(x.value, shape); },
      py::arg("x"), py::arg("shape"), "Repeats axes of extent 1 without moving data.", Unlocked());
  module.def(
      "broadcast_arrays",
      [](const py::args& tensors) {
        const auto given = tensors.cast<std::vector<TensorArg>>();
        return unlocked([&] { return broadcast_arrays(given); });
      },
      "All in their common shape.");
  module.def(
      "flip", [](const TensorArg& x, const AxisList& axis) { return flip(x.value, axis); },
      py::arg("x"), py::arg("axis") = py::none(), "Reverses axes, all unless told.", Unlocked());
  module.def(
      "pad",
      [](const TensorArg& x, const py::object& width, const std::string& mode, Number value) {
        return padded(x.value, width, mode, value);
      },
      py::arg("x"), py::arg("pad_width"), py::arg("mode") = "constant",
      py::arg("constant_values") = 0,
      "A border around x: one width, one (before, after), or one such pair for each axis. The mode "
      "is \"constant\" (the number must fit x's dtype, which stays), \"reflect\", \"replicate\" or "
      "\"circular\" (NumPy's \"edge\" and \"wrap\" too).");
  module.def(
      "concat",
      [](const std::vector<TensorArg>& tensors, const std::optional<int64_t>& axis) {
        std::vector<Tensor> parts = values_of(tensors);
        if (!axis) {
          for (Tensor& part : parts) part = flatten(part);
        }
        return concat(parts, axis.value_or(0));
      },
      py::arg("tensors"), py::arg("axis") = 0,
      "One after the other along an axis; axis=None flattens them first.", Unlocked());
  module.def(
      "stack",
      [](const std::vector<TensorArg>& tensors, int64_t axis) {
        return stack(values_of(tensors), axis);
      },
      py::arg("tensors"), py::arg("axis") = 0, "Along a new axis.", Unlocked());
  module.def(
      "split",
      [](const TensorArg& x, const py::object& where, int64_t axis) {
        Integers places;
        if (!load_integers(where, places.values)) {
          throw py::type_error("split: expected a number of parts or a list of positions");
        }
        const bool is_count = integer_of(where).has_value();
        return unlocked([&] { return split_at(x.value, places, is_count, axis); });
      },
      py::arg("x"), py::arg("indices_or_sections"), py::arg("axis") = 0,
      "Equal parts (ShapeError when they do not come out even), or parts that end at positions.");
}

}  // namespace

void bind_movement(py::module_& module, TensorClass& tensor) {
  bind_methods(tensor);
  bind_shapes(module, tensor);
  module.def(
      "matmul", [](const TensorArg& a, const TensorArg& b) { return matmul(a.value, b.value); },
      py::arg("x1"), py::arg("x2"),
      "NumPy's matmul: vectors are rows on the left and columns on the right, leading axes "
      "broadcast.",
      Unlocked());
  module.def(
      "take",
      [](const TensorArg& x, const TensorArg& indices, int64_t axis) {
        return take(x.value, indices.value, axis);
      },
      py::arg("x"), py::arg("indices"), py::arg("axis") = 0,
      "x's entries along an axis: shape x[:axis] + indices + x[axis+1:]. Negative indices count "
      "from the end; one out of range raises IndexError when a result is read.",
      Unlocked());
}

}  // namespace reprise::python
