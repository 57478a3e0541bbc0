// What every file of the bindings shares: pybind11, the library, and the rule for the GIL.
//
// The GIL is released around every call that may record or compute: recording may wait for a
// computation of another thread, and may launch one. The library never wants the GIL while it holds
// a lock: memory that Python owns is handed back through a list (release_queue.h).
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

// The module's own symbols are hidden; the library's inline ones are the library's.
#pragma GCC visibility push(default)
#include "frontend/reprise.h"
#pragma GCC visibility pop

#include "frontend/python/release_queue.h"

namespace reprise::python {

namespace py = pybind11;

/// The GIL is released while it lives. Afterwards gives back what the library let go of meanwhile.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    PyEval_RestoreThread(state_);
    ReleaseQueue::get().drain();
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};
/// The last argument of a binding whose function touches no Python object.
using Unlocked = py::call_guard<ReleaseGil>;

/// Calls `body` with the GIL released.
template <class Body>
auto unlocked(const Body& body) {
  const ReleaseGil released;
  return body();
}

/// The class Tensor, once it is bound.
using TensorClass = py::class_<Tensor>;

/// Throws Error while this thread records a function for `jit`: a value that Python sees then would
/// be the first call's for good.
void require_readable(const char* what);
/// Counts the functions that this thread is recording.
void enter_recording();
void leave_recording();

// One function per file of bindings.
void bind_errors(py::module_& module);
void bind_dtypes(py::module_& module);
[[nodiscard]] TensorClass bind_tensor(py::module_& module);
void bind_numpy(py::module_& module, TensorClass& tensor);
void bind_operators(TensorClass& tensor);
void bind_indexing(py::module_& module, TensorClass& tensor);
void bind_elementwise(py::module_& module, TensorClass& tensor);
void bind_reductions(py::module_& module, TensorClass& tensor);
void bind_movement(py::module_& module, TensorClass& tensor);
void bind_rearrange(py::module_& module, TensorClass& tensor);
void bind_writing(py::module_& module, TensorClass& tensor);
void bind_sorting(py::module_& module, TensorClass& tensor);
void bind_contractions(py::module_& module);
void bind_convolution(py::module_& module, TensorClass& tensor);
void bind_pooling(py::module_& module);
void bind_losses(py::module_& module);
void bind_layers(py::module_& module, TensorClass& tensor);
void bind_create(py::module_& module);
void bind_random(py::module_& module);
void bind_scalar(py::module_& module);
void bind_tape(py::module_& module);
void bind_runtime(py::module_& module);
void bind_optim(py::module_& module);
void bind_io(py::module_& module);
/// After all others.
void bind_refusals(py::module_& module);

/// A function of the module, with x as its first argument, that is a method of Tensor too.
template <class Function, class... Extra>
void def_both(py::module_& module, TensorClass& tensor, const char* name, const Function& function,
              const Extra&... extra) {
  module.def(name, function, py::arg("x"), extra...);
  tensor.def(name, function, extra...);
}

}  // namespace reprise::python
