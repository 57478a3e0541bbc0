// The compiled module reprise._core.
#include "frontend/python/binding.h"

PYBIND11_MODULE(_core, module) {
  using namespace reprise::python;  // NOLINT: the module's own
  module.doc() = "Reprise's compiled module; import reprise instead.";
  bind_errors(module);
  bind_dtypes(module);
  TensorClass tensor = bind_tensor(module);
  bind_scalar(module);  // an operand
  bind_tape(module);
  bind_numpy(module, tensor);
  bind_operators(tensor);
  bind_indexing(module, tensor);
  bind_elementwise(module, tensor);
  bind_reductions(module, tensor);
  bind_movement(module, tensor);
  bind_rearrange(module, tensor);
  bind_writing(module, tensor);
  bind_sorting(module, tensor);
  bind_contractions(module);
  bind_random(module);  // a generator is an argument of what follows
  bind_layers(module, tensor);
  bind_convolution(module, tensor);
  bind_pooling(module);
  bind_losses(module);
  bind_create(module);
  bind_runtime(module);
  bind_optim(module);
  bind_io(module);
  bind_refusals(module);
}
