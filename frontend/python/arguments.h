// How Python objects become the library's arguments: numbers stay weak, arrays are adopted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/python/binding.h"

namespace reprise::python {

/// A tensor on a NumPy array's memory, or on a copy where the memory does not allow that.
/// Throws DTypeError for elements that have no dtype here.
[[nodiscard]] Tensor adopt_array(const py::handle& array);
[[nodiscard]] bool is_array(const py::handle& object);

/// A Python or NumPy number, or a Scalar. Empty for any other object. Throws DTypeError for an
/// integer past 64 bits.
[[nodiscard]] std::optional<Number> number_of(const py::handle& object);
/// An integer by __index__, not a bool. Empty for any other object.
[[nodiscard]] std::optional<int64_t> integer_of(const py::handle& object);
/// One integer, or a sequence of them.
[[nodiscard]] bool load_integers(const py::handle& object, std::vector<int64_t>& into);

/// A DType, its name here or in NumPy, or whatever numpy.dtype() takes.
struct DTypeArg {
  DType value = DType::F32;
};
/// Extents of which one may be -1, and other lists of integers: an int or a sequence of ints.
struct Integers {
  std::vector<int64_t> values;
};
/// A number that is part of what is compiled. A Scalar is an Error that names static_argnums.
struct Fixed {
  double value = 0;
};
/// A tensor, or an array to be adopted.
struct TensorArg {
  Tensor value;
};
[[nodiscard]] inline Tensor or_empty(const std::optional<TensorArg>& tensor) {
  return tensor ? tensor->value : Tensor();
}
/// "mean", "sum" or "none"; throws Error for any other.
[[nodiscard]] LossReduction reduction_named(const std::string& name);
[[nodiscard]] std::vector<Tensor> values_of(const std::vector<TensorArg>& arguments);
/// The tensors of a call's positional arguments. Throws TypeError for one that is none.
[[nodiscard]] std::vector<Tensor> tensors_of(const py::args& arguments);
/// The name in NumPy: "float32".
[[nodiscard]] const char* numpy_name(DType dtype);
/// Empty for an object that names no dtype; throws DTypeError for one of NumPy's that is none here.
[[nodiscard]] std::optional<DType> dtype_of_object(const py::handle& object);

}  // namespace reprise::python

namespace pybind11::detail {

template <>
struct type_caster<reprise::Operand> {
  static constexpr auto name = const_name("Tensor | number");
  template <class>
  using cast_op_type = reprise::Operand;
  bool load(handle source, bool convert);
  operator reprise::Operand() { return *operand_; }  // NOLINT: pybind11's protocol

 private:
  std::optional<reprise::Operand> operand_;
  reprise::Tensor adopted_;
};

/// pybind11's own would end the caster inside, and with it the array that the operand points to.
template <>
struct type_caster<std::optional<reprise::Operand>> {
  static constexpr auto name =
      const_name("Optional[") + type_caster<reprise::Operand>::name + const_name("]");
  template <class>
  using cast_op_type = std::optional<reprise::Operand>;
  bool load(handle source, bool convert) {
    given_ = source && !source.is_none();
    return source && (!given_ || operand_.load(source, convert));
  }
  operator std::optional<reprise::Operand>() {  // NOLINT: pybind11's protocol
    return given_ ? std::optional<reprise::Operand>(operand_) : std::nullopt;
  }

 private:
  bool given_ = false;
  type_caster<reprise::Operand> operand_;
};

template <>
struct type_caster<reprise::Number> {
  static constexpr auto name = const_name("number");
  template <class>
  using cast_op_type = reprise::Number;
  bool load(handle source, bool) {
    number_ = reprise::python::number_of(source);
    return number_.has_value();
  }
  operator reprise::Number() { return *number_; }  // NOLINT: pybind11's protocol

 private:
  std::optional<reprise::Number> number_;
};

template <>
struct type_caster<reprise::python::Fixed> {
  PYBIND11_TYPE_CASTER(reprise::python::Fixed, const_name("float"));
  bool load(handle source, bool);
  static handle cast(const reprise::python::Fixed& number, return_value_policy, handle) {
    return float_(number.value).release();
  }
};

template <>
struct type_caster<reprise::python::TensorArg> {
  PYBIND11_TYPE_CASTER(reprise::python::TensorArg, const_name("Tensor"));
  bool load(handle source, bool convert);
};

template <>
struct type_caster<reprise::python::DTypeArg> {
  PYBIND11_TYPE_CASTER(reprise::python::DTypeArg, const_name("DType"));
  bool load(handle source, bool) {
    const auto dtype = reprise::python::dtype_of_object(source);
    if (dtype) value.value = *dtype;
    return dtype.has_value();
  }
};

template <>
struct type_caster<reprise::python::Integers> {
  PYBIND11_TYPE_CASTER(reprise::python::Integers, const_name("int | tuple[int, ...]"));
  bool load(handle source, bool) { return reprise::python::load_integers(source, value.values); }
};

template <>
struct type_caster<reprise::Shape> {
  PYBIND11_TYPE_CASTER(reprise::Shape, const_name("int | tuple[int, ...]"));
  bool load(handle source, bool) {
    std::vector<int64_t> extents;
    if (!reprise::python::load_integers(source, extents)) return false;
    value = reprise::Shape(std::span<const int64_t>(extents));
    return true;
  }
  static handle cast(const reprise::Shape& shape, return_value_policy, handle) {
    tuple extents(static_cast<size_t>(shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) extents[static_cast<size_t>(i)] = int_(shape[i]);
    return extents.release();
  }
};

template <>
struct type_caster<reprise::AxisList> {
  PYBIND11_TYPE_CASTER(reprise::AxisList, const_name("int | tuple[int, ...] | None"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;  // all of them
    std::vector<int64_t> axes;
    if (!reprise::python::load_integers(source, axes)) return false;
    value = reprise::AxisList(axes);
    return true;
  }
};

}  // namespace pybind11::detail
