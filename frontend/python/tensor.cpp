// The class Tensor: what it is and what is read from it.
#include "frontend/tensor.h"

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

thread_local int functions_recorded = 0;

/// The single element as Python's number.
py::object item(const Tensor& x) {
  require_readable("item");
  const auto read = [&]<class T>(T) { return unlocked([&] { return x.item<T>(); }); };
  switch (category(x.dtype())) {
    case DTypeCategory::Bool:
      return py::bool_(read(bool{}));
    case DTypeCategory::Integer:
      return is_signed_integer(x.dtype()) ? py::int_(read(int64_t{})) : py::int_(read(uint64_t{}));
    case DTypeCategory::Float:
      return py::float_(read(double{}));
    case DTypeCategory::Complex:
    case DTypeCategory::ComplexInteger:
      break;
  }
  if (x.numel() != 1) throw ShapeError(str("item of ", x.type(), ", which has not 1 element"));
  return py::cast(x).attr("numpy")().attr("item")();
}

int64_t length(const Tensor& x) {
  const Shape shape = x.shape();
  if (shape.rank() == 0) throw py::type_error("len() of a tensor of rank 0");
  return shape[0];
}

py::object truth(const Tensor& x) {
  if (x.numel() != 1) {
    throw ShapeError(str("the truth of ", x.type(), " with ", x.numel(),
                         " elements is ambiguous: use any() or all()"));
  }
  return item(x);
}

}  // namespace

void require_readable(const char* what) {
  if (functions_recorded == 0) return;
  throw Error(str(what,
                  ": a function is being recorded for jit, and a value read now would be the first "
                  "call's for good; compute with tensors (where, maximum), or read outside"));
}
void enter_recording() {
  ++functions_recorded;
}
void leave_recording() {
  --functions_recorded;
}

TensorClass bind_tensor(py::module_& module) {
  TensorClass tensor(module, "Tensor",
                     "An immutable value, recorded or stored. Made by asarray, zeros and the like, "
                     "and by operations on tensors; computed when it is read.");
  tensor.def_property_readonly("shape", &Tensor::shape, "Extents, the first axis outermost.")
      .def_property_readonly("ndim", &Tensor::rank, "Number of axes.")
      .def_property_readonly("size", &Tensor::numel, "Number of elements.")
      .def_property_readonly("dtype", &Tensor::dtype)
      .def_property_readonly(
          "itemsize", [](const Tensor& x) { return size_of(x.dtype()); }, "Bytes of an element.")
      .def_property_readonly(
          "nbytes",
          [](const Tensor& x) { return x.numel() * static_cast<int64_t>(size_of(x.dtype())); },
          "Bytes of all elements.")
      .def_property_readonly(
          "device", [](const Tensor& x) { return x.device().name(); },
          "Name of the device it is or will be computed on. What depends on no data belongs to "
          "none: of such a value the default device.")
      .def_property_readonly(
          "is_realized", [](const Tensor& x) { return Runtime::get().is_realized(x.id()); },
          "Whether the value is stored already.")
      .def("__len__", &length)
      .def(
          "__hash__", [](const py::object& x) { return reinterpret_cast<intptr_t>(x.ptr()) >> 4; },
          "By identity: comparing tensors gives a tensor.")
      .def("item", &item, "The single element as Python's number; ShapeError if there are others.")
      .def("__bool__", [](const Tensor& x) { return py::bool_(truth(x)); })
      .def("__int__",
           [](const Tensor& x) {
             PyObject* number =
                 PyNumber_Long(item(x).ptr());  // a bool is an int, but not for int()
             if (number == nullptr) throw py::error_already_set();
             return py::reinterpret_steal<py::int_>(number);
           })
      .def("__float__", [](const Tensor& x) { return py::float_(item(x)); })
      .def("__complex__",
           [](const Tensor& x) { return py::module_::import("builtins").attr("complex")(item(x)); })
      .def("__index__",
           [](const Tensor& x) {
             if (!is_integer(x.dtype())) {
               throw DTypeError(str("only integer tensors can be an index, this is ", x.type()));
             }
             return item(x);
           })
      .def(
          "value", [](const Tensor& x) { return x.value(); },
          "A tensor of its own on the present value: later assigns to this one do not reach it.")
      .def(
          "assign_",
          [](const py::object& self, const TensorArg& other) {
            self.cast<const Tensor&>().assign_(other.value);
            return self;
          },
          py::arg("other"),
          "Rebinds this tensor, and all that share it, to the value of `other`, of the same dtype "
          "and shape (else DTypeError, ShapeError). What was recorded before keeps the old value.")
      .def(
          "realize",
          [](const py::object& self) {
            const auto& x = self.cast<const Tensor&>();
            unlocked([&] { x.realize(); });
            return self;
          },
          "Computes this tensor now.");
  module.def("_is_recording", [] { return functions_recorded > 0; });
  module.def("_enter_recording", &enter_recording);
  module.def("_leave_recording", &leave_recording);
  module.def(
      "_types",
      [](const std::vector<TensorArg>& tensors) {
        std::vector<int64_t> words;
        for (const TensorArg& x : tensors) {
          const TensorType type = x.value.type();
          const int64_t devices = Runtime::get().devices(x.value.id()).bits();
          words.push_back(devices << 32 | static_cast<int64_t>(type.dtype) << 8 |
                          type.shape.rank());
          words.insert(words.end(), type.shape.begin(), type.shape.end());
        }
        return py::bytes(reinterpret_cast<const char*>(words.data()), 8 * words.size());
      },
      "The tensors' devices, dtypes and shapes as a key.");
  return tensor;
}

}  // namespace reprise::python
