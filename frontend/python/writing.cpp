// Reading and writing by indices and masks: what gives a copy with some elements changed.
#include "frontend/indexing.h"
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using Written = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, int64_t);

void def_written(py::module_& module, const char* name, Written function, int axis,
                 const char* doc) {
  module.def(
      name,
      [function](const TensorArg& x, const TensorArg& indices, const TensorArg& updates,
                 int64_t along) { return function(x.value, indices.value, updates.value, along); },
      py::arg("x"), py::arg("indices"), py::arg("updates"), py::arg("axis") = axis, doc,
      Unlocked());
}

ScatterReduce scatter_reduction(const std::string& name) {
  static constexpr std::pair<const char*, ScatterReduce> kNames[] = {{"sum", ScatterReduce::Sum},
                                                                     {"prod", ScatterReduce::Prod},
                                                                     {"mean", ScatterReduce::Mean},
                                                                     {"amax", ScatterReduce::Max},
                                                                     {"amin", ScatterReduce::Min}};
  for (const auto& [known, reduce] : kNames) {
    if (name == known) return reduce;
  }
  throw Error(str("scatter_reduce: no reduction \"", name,
                  "\"; there are \"sum\", \"prod\", \"mean\", \"amax\" and \"amin\""));
}

}  // namespace

void bind_writing(py::module_& module, TensorClass& tensor) {
  def_written(module, "index_add", index_add, 0,
              "x with updates added at the places that take(x, indices, axis) reads. Repeated "
              "indices add up in their order.");
  def_written(module, "index_put", index_put, 0,
              "x with updates at the places that take(x, indices, axis) reads. Of repeated indices "
              "the last one counts.");
  def_written(module, "scatter_add", scatter_add, -1,
              "x with updates[.., j, ..] added at x[.., indices[.., j, ..], ..].");
  def_written(module, "scatter", scatter, -1,
              "x with updates[.., j, ..] at x[.., indices[.., j, ..], ..]; the last one counts.");
  module.def(
      "scatter_reduce",
      [](const TensorArg& x, const TensorArg& indices, const TensorArg& updates,
         const std::string& reduce, int64_t axis, bool include_self) {
        const ScatterReduce how = scatter_reduction(reduce);
        return unlocked([&] {
          return scatter_reduce(x.value, indices.value, updates.value, how, axis, include_self);
        });
      },
      py::arg("x"), py::arg("indices"), py::arg("updates"), py::arg("reduce"), py::arg("axis") = -1,
      py::arg("include_self") = true,
      "x with updates folded in at x[.., indices[.., j, ..], ..]: \"sum\", \"prod\", \"mean\", "
      "\"amax\" or \"amin\".");
  module.def(
      "take_along_axis",
      [](const TensorArg& x, const TensorArg& indices, int64_t axis) {
        return take_along_axis(x.value, indices.value, axis);
      },
      py::arg("x"), py::arg("indices"), py::arg("axis") = -1,
      "x[.., indices[.., j, ..], ..]: one index for each element; other axes broadcast.",
      Unlocked());
  module.def(
      "index_select",
      [](const TensorArg& x, const TensorArg& indices, int64_t axis) {
        return index_select(x.value, indices.value, axis);
      },
      py::arg("x"), py::arg("indices"), py::arg("axis") = 0,
      "x's entries along an axis at indices of rank 1.", Unlocked());
  module.def(
      "embedding",
      [](const TensorArg& indices, const TensorArg& table) {
        return embedding(indices.value, table.value);
      },
      py::arg("indices"), py::arg("table"), "Rows of a table at indices of any shape.", Unlocked());
  def_both(
      module, tensor, "masked_fill",
      [](const TensorArg& x, const TensorArg& mask, Operand value) {
        return masked_fill(x.value, mask.value, value);
      },
      py::arg("mask"), py::arg("value"), "x with a value where the mask holds.", Unlocked());
  module.def(
      "searchsorted",
      [](const TensorArg& sorted, const TensorArg& values, const std::string& side,
         const std::optional<TensorArg>& sorter) {
        if (side != "left" && side != "right") {
          throw Error(str("searchsorted: side is \"left\" or \"right\", not \"", side, "\""));
        }
        return unlocked([&] {
          return searchsorted(sorter ? take(sorted.value, sorter->value, 0) : sorted.value,
                              values.value, side == "left" ? InsertAt::Left : InsertAt::Right);
        });
      },
      py::arg("x1"), py::arg("x2"), py::arg("side") = "left", py::arg("sorter") = py::none(),
      "Where values would be inserted into an ascending x1: before its equals or behind them. "
      "sorter: the indices that sort x1.");
  module.def(
      "bucketize",
      [](const TensorArg& x, const TensorArg& boundaries, bool right) {
        return bucketize(x.value, boundaries.value, right ? ClosedAt::Low : ClosedAt::High);
      },
      py::arg("x"), py::arg("boundaries"), py::arg("right") = false,
      "The number of the bucket that each value lies in; right: a boundary belongs to the bucket "
      "above it.",
      Unlocked());
}

}  // namespace reprise::python
