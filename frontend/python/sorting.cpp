// Scans, order, and what finds elements: cumulative sums, sort, unique, nonzero.
#include "frontend/indexing.h"
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using Accumulated = Tensor (*)(const Tensor&, int64_t, std::optional<DType>);

/// Without an axis: of all elements in their row-major order, as in NumPy.
Tensor accumulated(Accumulated function, const Tensor& x, std::optional<int64_t> axis,
                   const std::optional<DTypeArg>& dtype) {
  const std::optional<DType> wanted = dtype ? std::optional(dtype->value) : std::nullopt;
  return axis ? function(x, *axis, wanted) : function(flatten(x), 0, wanted);
}

/// The array API's: the axis may be left out of vectors alone; may start with the neutral element.
Tensor cumulative(Accumulated function, int neutral, const Tensor& x, std::optional<int64_t> axis,
                  const std::optional<DTypeArg>& dtype, bool include_initial) {
  if (!axis && x.rank() != 1) throw ShapeError(str("cumulative: which axis of ", x.type(), "?"));
  const int along = normalize_axis(axis.value_or(0), x.rank());
  const Tensor result = accumulated(function, x, along, dtype);
  if (!include_initial) return result;
  const TensorType type = result.type();
  std::vector<int64_t> extents(type.shape.begin(), type.shape.end());
  extents[static_cast<size_t>(along)] = 1;
  return concat({full(Shape(extents), neutral, type.dtype), result}, along);
}

Order order_of(bool descending) {
  return descending ? Order::Descending : Order::Ascending;
}

/// What is not a tensor of x's rank is one position of the axis, as in NumPy; numbers are weak.
Tensor differences(const Tensor& x, int64_t order, int64_t axis,
                   const std::optional<Operand>& before, const std::optional<Operand>& after) {
  const TensorType type = x.type();
  const int along = normalize_axis(axis, type.shape.rank());
  std::vector<int64_t> single(type.shape.begin(), type.shape.end());
  single[static_cast<size_t>(along)] = 1;
  const auto beside = [&](const Operand& part) {
    if (part.tensor() == nullptr) {
      return full(Shape(single), part.number(), part.number().join(type.dtype));
    }
    return part.tensor()->rank() == 0 ? broadcast_to(*part.tensor(), Shape(single))
                                      : part.tensor()->value();
  };
  std::vector<Tensor> parts;
  if (before) parts.push_back(beside(*before));
  parts.push_back(x);
  if (after) parts.push_back(beside(*after));
  return diff(parts.size() == 1 ? x : concat(parts, along), along, order);
}

void bind_scans(py::module_& module, TensorClass& tensor) {
  const auto bind = [&](const char* name, const char* api_name, Accumulated function, int neutral,
                        const char* doc) {
    def_both(
        module, tensor, name,
        [function](const TensorArg& x, std::optional<int64_t> axis,
                   const std::optional<DTypeArg>& dtype) {
          return accumulated(function, x.value, axis, dtype);
        },
        py::arg("axis") = py::none(), py::arg("dtype") = py::none(), doc, Unlocked());
    module.def(
        api_name,
        [function, neutral](const TensorArg& x, std::optional<int64_t> axis,
                            const std::optional<DTypeArg>& dtype, bool include_initial) {
          return cumulative(function, neutral, x.value, axis, dtype, include_initial);
        },
        py::arg("x"), py::arg("axis") = py::none(), py::kw_only(), py::arg("dtype") = py::none(),
        py::arg("include_initial") = false, doc, Unlocked());
  };
  bind("cumsum", "cumulative_sum", cumsum, 0,
       "Running sums along an axis; bools and integers are summed in 64 bits.");
  bind("cumprod", "cumulative_prod", cumprod, 1,
       "Running products along an axis; bools and integers are multiplied in 64 bits.");
  def_both(
      module, tensor, "logcumsumexp",
      [](const TensorArg& x, int64_t axis) { return logcumsumexp(x.value, axis); }, py::arg("axis"),
      "log(exp(x[0]) + .. + exp(x[i])) along an axis, without overflow.", Unlocked());
  module.def(
      "diff",
      [](const TensorArg& x, int64_t n, int64_t axis, const std::optional<Operand>& prepend,
         const std::optional<Operand>& append) {
        return differences(x.value, n, axis, prepend, append);
      },
      py::arg("x"), py::arg("n") = 1, py::arg("axis") = -1, py::arg("prepend") = py::none(),
      py::arg("append") = py::none(),
      "x[i + 1] - x[i] along an axis, n times over, of what is prepended and appended too; of "
      "bools "
      "whether the two differ.",
      Unlocked());
  const auto bind_extremum = [&](const char* name, Found (*function)(const Tensor&, int64_t),
                                 const char* doc) {
    def_both(
        module, tensor, name,
        [function](const TensorArg& x, int64_t axis) {
          Found found = function(x.value, axis);
          return std::pair(std::move(found.values), std::move(found.indices));
        },
        py::arg("axis"), doc, Unlocked());
  };
  bind_extremum("cummax", cummax, "Running maxima, and where the last of each stands.");
  bind_extremum("cummin", cummin, "Running minima, and where the last of each stands.");
  module.def(
      "linear_recurrence",
      [](const TensorArg& a, const TensorArg& b, int64_t axis) {
        return linear_recurrence(a.value, b.value, axis);
      },
      py::arg("a"), py::arg("b"), py::arg("axis") = -1,
      "y[i] = a[i] * y[i-1] + b[i] along an axis, y[0] = b[0].", Unlocked());
}

void bind_unique(py::module_& module) {
  const auto found = [](const TensorArg& x) {
    require_readable("unique");
    return unlocked([&] { return unique(x.value); });
  };
  module.def(
      "unique",
      [](const TensorArg& x, bool index, bool inverse, bool counts,
         std::optional<int64_t> axis) -> py::object {
        require_readable("unique");
        const Unique all =
            unlocked([&] { return axis ? unique(x.value, *axis) : unique(x.value); });
        if (!index && !inverse && !counts) return py::cast(all.values);
        py::list results;
        results.append(all.values);
        if (index) results.append(all.indices);
        if (inverse) results.append(all.inverse);
        if (counts) results.append(all.counts);
        return py::tuple(results);
      },
      py::arg("x"), py::arg("return_index") = false, py::arg("return_inverse") = false,
      py::arg("return_counts") = false, py::arg("axis") = py::none(),
      "The different elements in ascending order, or the different slices along an axis; and where "
      "asked for their first indices, the inverse, the counts, as NumPy's.");
  module.def(
      "unique_values", [found](const TensorArg& x) { return found(x).values; }, py::arg("x"),
      "The different elements in ascending order; each NaN is one of its own.");
  module.def(
      "unique_counts",
      [found](const TensorArg& x) {
        const Unique all = found(x);
        return std::pair(all.values, all.counts);
      },
      py::arg("x"), "The different elements, and how often each one occurs.");
  module.def(
      "unique_inverse",
      [found](const TensorArg& x) {
        const Unique all = found(x);
        return std::pair(all.values, all.inverse);
      },
      py::arg("x"), "The different elements, and which of them each element of x is.");
  module.def(
      "unique_all",
      [found](const TensorArg& x) {
        const Unique all = found(x);
        return std::tuple(all.values, all.indices, all.inverse, all.counts);
      },
      py::arg("x"), "The different elements, their first indices, the inverse, the counts.");
}

}  // namespace

void bind_sorting(py::module_& module, TensorClass& tensor) {
  bind_scans(module, tensor);
  def_both(
      module, tensor, "sort",
      [](const TensorArg& x, int64_t axis, bool descending, bool) {
        return sort(x.value, axis, order_of(descending));
      },
      py::arg("axis") = -1, py::arg("descending") = false, py::arg("stable") = true,
      "The elements of an axis in order; NaN is above all numbers. Equal ones stay in order, asked "
      "for or not.",
      Unlocked());
  def_both(
      module, tensor, "argsort",
      [](const TensorArg& x, int64_t axis, bool descending, bool) {
        return argsort(x.value, axis, order_of(descending));
      },
      py::arg("axis") = -1, py::arg("descending") = false, py::arg("stable") = true,
      "The indices that sort an axis.", Unlocked());
  def_both(
      module, tensor, "topk",
      [](const TensorArg& x, int64_t k, int64_t axis, bool largest) {
        Found found = topk(x.value, k, axis, order_of(largest));
        return std::pair(std::move(found.values), std::move(found.indices));
      },
      py::arg("k"), py::arg("axis") = -1, py::arg("largest") = true,
      "The k largest or smallest elements of an axis in order, and their indices.", Unlocked());
  bind_unique(module);
  def_both(
      module, tensor, "masked_select",
      [](const TensorArg& x, const TensorArg& mask) {
        require_readable("masked_select");
        return unlocked([&] { return masked_select(x.value, mask.value); });
      },
      py::arg("mask"), "The elements where a mask holds, row-major.");
}

}  // namespace reprise::python
