// Reductions over axes: axis is an int, a tuple of ints, or None for all.
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using Reduction = Tensor (*)(const Tensor&, const AxisList&, KeepDims);
using Spread = Tensor (*)(const Tensor&, const AxisList&, KeepDims, double);

KeepDims keep(bool keepdims) {
  return keepdims ? KeepDims::Yes : KeepDims::No;
}

struct Row {
  const char* name;
  Reduction function;
  const char* doc;
};

using Total = Tensor (*)(const Tensor&, const AxisList&, KeepDims, std::optional<DType>);
struct TotalRow {
  const char* name;
  Total function;
  const char* doc;
};

const Row kReductions[] = {
    {"max", &max, "Largest; NaN if any is. ShapeError for an empty axis of a result that is not."},
    {"min", &min, "Smallest; NaN if any is. ShapeError for an empty axis of a result that is not."},
    {"any", &any, "Whether any is not 0."},
    {"all", &all, "Whether all are not 0."},
    {"argmax", &argmax,
     "Position, int64, of the first NaN, else of the first largest; over several "
     "axes in their row-major order."},
    {"argmin", &argmin, "Position, int64, of the first NaN, else of the first smallest."},
    {"logsumexp", &logsumexp, "log(sum(exp(x))) without overflow; of rows of -inf: -inf."},
};

const TotalRow kTotals[] = {
    {"mean", &mean, "Arithmetic mean; of nothing NaN."},
    {"sum", &sum, "Bools and integers are summed in 64 bits, float16 and bfloat16 in float32."},
    {"prod", &prod, "Bools and integers are multiplied in 64 bits."},
};

}  // namespace

void bind_reductions(py::module_& module, TensorClass& tensor) {
  for (const Row& row : kReductions) {
    const Reduction function = row.function;
    const auto call = [function](const TensorArg& x, const AxisList& axis, bool keepdims) {
      return function(x.value, axis, keep(keepdims));
    };
    def_both(module, tensor, row.name, call, py::arg("axis") = py::none(),
             py::arg("keepdims") = false, row.doc, Unlocked());
  }
  for (const TotalRow& row : kTotals) {
    const Total function = row.function;
    const auto call = [function](const TensorArg& x, const AxisList& axis, bool keepdims,
                                 const std::optional<DTypeArg>& dtype) {
      return function(x.value, axis, keep(keepdims),
                      dtype ? std::optional(dtype->value) : std::nullopt);
    };
    def_both(module, tensor, row.name, call, py::arg("axis") = py::none(),
             py::arg("keepdims") = false, py::arg("dtype") = py::none(), row.doc, Unlocked());
  }
  const auto spread = [&](const char* name, Spread function, const char* doc) {
    const auto call = [function](const TensorArg& x, const AxisList& axis, Fixed correction,
                                 bool keepdims) {
      return function(x.value, axis, keep(keepdims), correction.value);
    };
    def_both(module, tensor, name, call, py::arg("axis") = py::none(), py::arg("correction") = 0,
             py::arg("keepdims") = false, doc, Unlocked());
  };
  spread("var", &var, "sum((x - mean)^2) / (n - correction).");
  spread("std", &std, "The root of var; its gradient at 0 is 0.");
}

}  // namespace reprise::python
