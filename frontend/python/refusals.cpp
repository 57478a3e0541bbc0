// What a call says whose arguments fit no function: pybind11 lists them by their repr, and a
// tensor's would compute it and print its elements.
#include "frontend/python/binding.h"

namespace reprise::python {

namespace {

/// Bound functions that this thread is inside of.
thread_local int calls = 0;
/// pybind11's, the same for all of its functions.
PyCFunctionWithKeywords dispatch = nullptr;

PyObject* counted(PyObject* self, PyObject* arguments, PyObject* keywords) {
  ++calls;
  PyObject* const result = dispatch(self, arguments, keywords);
  --calls;
  return result;
}

void count_calls_of(PyObject* object) {
  if (PyInstanceMethod_Check(object)) object = PyInstanceMethod_GET_FUNCTION(object);
  if (!PyCFunction_Check(object)) return;
  PyMethodDef& method = *reinterpret_cast<PyCFunctionObject*>(object)->m_ml;
  if (method.ml_flags != (METH_VARARGS | METH_KEYWORDS)) return;
  const auto function =
      reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(method.ml_meth));
  if (dispatch == nullptr) dispatch = function;
  if (function == dispatch) {
    method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&counted));
  }
}

}  // namespace

void bind_refusals(py::module_& module) {
  const auto count_all = [](const py::object& names) {
    for (const auto& entry : py::reinterpret_borrow<py::dict>(names)) {
      count_calls_of(entry.second.ptr());
    }
  };
  count_all(module.attr("__dict__"));
  // A class's names are behind a proxy.
  const py::object dict = py::module_::import("builtins").attr("dict");
  for (const auto& entry : py::dict(module.attr("__dict__"))) {
    if (PyType_Check(entry.second.ptr())) count_all(dict(entry.second.attr("__dict__")));
  }
  module.def(
      "_in_call", [] { return calls > 0; },
      "Whether Python is asked something by a function of this module.");
}

}  // namespace reprise::python
