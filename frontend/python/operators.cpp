// Python's operators on tensors; numbers are weak.
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

using Binary = Tensor (*)(Operand, Operand);

// A type that fits neither makes Python try the other operand's operator.
void bind_binary(TensorClass& tensor, const char* name, const char* reflected, Binary function) {
  tensor.def(
      name, [function](const Tensor& a, Operand b) { return function(a, b); }, py::is_operator(),
      Unlocked());
  if (reflected == nullptr) return;
  tensor.def(
      reflected, [function](const Tensor& a, Operand b) { return function(b, a); },
      py::is_operator(), Unlocked());
}

}  // namespace

void bind_operators(TensorClass& tensor) {
  bind_binary(tensor, "__add__", "__radd__", &add);
  bind_binary(tensor, "__sub__", "__rsub__", &subtract);
  bind_binary(tensor, "__mul__", "__rmul__", &multiply);
  bind_binary(tensor, "__truediv__", "__rtruediv__", &divide);
  bind_binary(tensor, "__floordiv__", "__rfloordiv__", &floor_divide);
  bind_binary(tensor, "__mod__", "__rmod__", &remainder);
  bind_binary(tensor, "__pow__", "__rpow__", &pow);
  bind_binary(tensor, "__and__", "__rand__", &bitwise_and);
  bind_binary(tensor, "__or__", "__ror__", &bitwise_or);
  bind_binary(tensor, "__xor__", "__rxor__", &bitwise_xor);
  bind_binary(tensor, "__lshift__", "__rlshift__", &left_shift);
  bind_binary(tensor, "__rshift__", "__rrshift__", &right_shift);
  // Python reflects comparisons by itself.
  bind_binary(tensor, "__eq__", nullptr, &equal);
  bind_binary(tensor, "__ne__", nullptr, &not_equal);
  bind_binary(tensor, "__lt__", nullptr, &less);
  bind_binary(tensor, "__le__", nullptr, &less_equal);
  bind_binary(tensor, "__gt__", nullptr, &greater);
  bind_binary(tensor, "__ge__", nullptr, &greater_equal);
  tensor
      .def(
          "__matmul__", [](const Tensor& a, const TensorArg& b) { return matmul(a, b.value); },
          py::is_operator(), Unlocked())
      .def(
          "__rmatmul__", [](const Tensor& a, const TensorArg& b) { return matmul(b.value, a); },
          py::is_operator(), Unlocked())
      .def(
          "__neg__", [](const Tensor& x) { return negative(x); }, Unlocked())
      .def(
          "__pos__", [](const Tensor& x) { return x.value(); }, Unlocked())
      .def(
          "__abs__", [](const Tensor& x) { return abs(x); }, Unlocked())
      .def(
          "__invert__", [](const Tensor& x) { return bitwise_invert(x); }, Unlocked());
}

}  // namespace reprise::python
