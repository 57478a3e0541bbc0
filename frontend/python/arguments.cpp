// Python objects as numbers, dtypes and lists of integers.
#include "frontend/python/arguments.h"

#include <array>
#include <complex>
#include <string>
#include <string_view>

namespace reprise::python {

namespace {

struct Name {
  DType dtype;
  const char* name;
};
constexpr std::array<Name, kNumDTypes> kNames = {
    {{DType::Bool, "bool"},   {DType::I8, "int8"},       {DType::I16, "int16"},
     {DType::I32, "int32"},   {DType::I64, "int64"},     {DType::U8, "uint8"},
     {DType::U16, "uint16"},  {DType::U32, "uint32"},    {DType::U64, "uint64"},
     {DType::F16, "float16"}, {DType::BF16, "bfloat16"}, {DType::F32, "float32"},
     {DType::F64, "float64"}, {DType::C64, "complex64"}, {DType::C128, "complex128"},
     {DType::CI8, "ci8"},     {DType::CI16, "ci16"},     {DType::CI32, "ci32"},
     {DType::CI64, "ci64"},   {DType::CU8, "cu8"},       {DType::CU16, "cu16"},
     {DType::CU32, "cu32"},   {DType::CU64, "cu64"}}};

std::optional<DType> dtype_named(std::string_view text) {
  for (const Name& row : kNames) {
    if (text == row.name) return row.dtype;
  }
  return parse_dtype(text);
}

/// numpy.generic, the class of NumPy's scalars.
const py::object& numpy_generic() {
  static const auto& generic = *new py::object(py::module_::import("numpy").attr("generic"));
  return generic;
}

Number number_of_int(const py::handle& object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0) return Number(static_cast<int64_t>(value));
  if (overflow > 0) {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(object.ptr());
    if (PyErr_Occurred() == nullptr) return Number(static_cast<uint64_t>(wide));
    PyErr_Clear();
  }
  throw DTypeError(str("the number ", std::string(py::str(object)), " does not fit 64 bits"));
}

}  // namespace

const char* numpy_name(DType dtype) {
  return kNames[static_cast<size_t>(dtype)].name;
}

std::optional<Number> number_of(const py::handle& object) {
  if (PyBool_Check(object.ptr())) return Number(object.ptr() == Py_True);
  if (PyFloat_Check(object.ptr())) return Number(PyFloat_AS_DOUBLE(object.ptr()));
  if (PyLong_Check(object.ptr())) return number_of_int(object);
  if (py::isinstance<Scalar>(object)) return Number(object.cast<const Scalar&>());
  if (PyComplex_Check(object.ptr())) {
    const Py_complex value = PyComplex_AsCComplex(object.ptr());
    return Number(std::complex<double>(value.real, value.imag));
  }
  // NumPy's scalars are numbers like Python's: their width says nothing.
  if (py::isinstance(object, numpy_generic())) return number_of(object.attr("item")());
  return std::nullopt;
}

std::optional<int64_t> integer_of(const py::handle& object) {
  if (PyBool_Check(object.ptr()) || PyIndex_Check(object.ptr()) == 0) return std::nullopt;
  if (py::isinstance<Tensor>(object) || is_array(object)) return std::nullopt;
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index) throw py::error_already_set();
  int past = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &past);
  if (past != 0) {
    throw IndexError(str("the integer ", std::string(py::str(index)), " does not fit 64 bits"));
  }
  return value;
}

bool load_integers(const py::handle& object, std::vector<int64_t>& into) {
  into.clear();
  if (const auto single = integer_of(object)) {
    into.push_back(*single);
    return true;
  }
  if (!PyTuple_Check(object.ptr()) && !PyList_Check(object.ptr())) return false;
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(object)) {
    const auto value = integer_of(item);
    if (!value) return false;
    into.push_back(*value);
  }
  return true;
}

std::vector<Tensor> tensors_of(const py::args& arguments) {
  std::vector<Tensor> values;
  for (const py::handle argument : arguments) {
    py::detail::make_caster<TensorArg> caster;
    if (!caster.load(argument, true)) {
      throw py::type_error("expected tensors, it was given " + std::string(py::repr(argument)));
    }
    values.push_back(py::detail::cast_op<TensorArg&>(caster).value);
  }
  return values;
}

LossReduction reduction_named(const std::string& name) {
  if (name == "mean") return LossReduction::Mean;
  if (name == "sum") return LossReduction::Sum;
  if (name == "none") return LossReduction::None;
  throw Error(str("reduction '", name, "': expected 'mean', 'sum' or 'none'"));
}

std::vector<Tensor> values_of(const std::vector<TensorArg>& arguments) {
  std::vector<Tensor> tensors;
  tensors.reserve(arguments.size());
  for (const TensorArg& argument : arguments) tensors.push_back(argument.value);
  return tensors;
}

std::optional<DType> dtype_of_object(const py::handle& object) {
  if (py::isinstance<DType>(object)) return object.cast<DType>();
  if (object.is_none()) return std::nullopt;
  if (py::isinstance<py::str>(object)) {
    const auto text = object.cast<std::string>();
    if (const auto dtype = dtype_named(text)) return dtype;
  }
  const py::object numpy_dtype = py::module_::import("numpy").attr("dtype");
  py::object converted;
  try {
    converted = numpy_dtype(object);
  } catch (const py::error_already_set&) {
    return std::nullopt;
  }
  const auto text = converted.attr("name").cast<std::string>();
  if (const auto dtype = dtype_named(text)) return dtype;
  throw DTypeError(str("NumPy's dtype ", text, " has no counterpart"));
}

void bind_dtypes(py::module_& module) {
  // Found now: a thread that waits for a static to be made would wait with the GIL in hand.
  static_cast<void>(numpy_generic());
  py::class_<DType> dtype(module, "DType",
                          "The type of a tensor's elements: reprise.float32 and so on.");
  dtype
      .def(py::init([](const DTypeArg& like) { return like.value; }), py::arg("like"),
           "From a name, NumPy's dtype, or Python's bool, int and float.")
      .def_property_readonly(
          "name", [](DType d) { return numpy_name(d); }, "NumPy's name.")
      .def_property_readonly(
          "itemsize", [](DType d) { return size_of(d); }, "Bytes.")
      .def_property_readonly(
          "kind",
          [](DType d) {
            switch (category(d)) {
              case DTypeCategory::Bool:
                return "bool";
              case DTypeCategory::Integer:
                return is_signed_integer(d) ? "signed integer" : "unsigned integer";
              case DTypeCategory::Float:
                return "real floating";
              case DTypeCategory::Complex:
                return "complex floating";
              case DTypeCategory::ComplexInteger:
                return "complex integer";
            }
            return "";
          },
          "The array API standard's name of the kind.")
      .def("__repr__", [](DType d) { return std::string("reprise.") + numpy_name(d); })
      .def("__str__", [](DType d) { return numpy_name(d); })
      .def("__hash__", [](DType d) { return static_cast<int>(d); })
      .def(
          "__eq__", [](DType d, const DTypeArg& other) { return d == other.value; },
          py::is_operator())
      .def(
          "__ne__", [](DType d, const DTypeArg& other) { return d != other.value; },
          py::is_operator())
      .def("__reduce__", [](DType d) {
        return py::make_tuple(py::type::of<DType>(), py::make_tuple(numpy_name(d)));
      });
  for (const Name& row : kNames) {
    // "bool" alone would hide Python's own.
    module.attr(row.dtype == DType::Bool ? "bool_" : row.name) = py::cast(row.dtype);
  }
  module.def(
      "promote_types",
      [](const DTypeArg& a, const DTypeArg& b) { return promote(a.value, b.value); }, py::arg("a"),
      py::arg("b"), "The dtype in which tensors of these dtypes are computed together.");
}

}  // namespace reprise::python

namespace pybind11::detail {

bool type_caster<reprise::Operand>::load(handle source, bool convert) {
  namespace rpp = reprise::python;
  type_caster_base<reprise::Tensor> tensor;
  if (tensor.load(source, false)) {
    operand_ = reprise::Operand(static_cast<reprise::Tensor&>(tensor));
    return true;
  }
  if (const auto number = rpp::number_of(source)) {
    operand_ = reprise::Operand(*number);
    return true;
  }
  if (convert && rpp::is_array(source)) {
    adopted_ = rpp::adopt_array(source);
    operand_ = reprise::Operand(adopted_);
    return true;
  }
  return false;
}

bool type_caster<reprise::python::Fixed>::load(handle source, bool) {
  const auto number = reprise::python::number_of(source);
  if (!number) return false;
  if (number->cell() != nullptr) {
    throw reprise::Error(
        "a Scalar may change between replays, and this argument is part of what is compiled: name "
        "the argument of a jitted function in static_argnums or static_argnames");
  }
  value.value = number->as_double();
  return true;
}

bool type_caster<reprise::python::TensorArg>::load(handle source, bool convert) {
  namespace rpp = reprise::python;
  type_caster_base<reprise::Tensor> tensor;
  if (tensor.load(source, false)) {
    value.value = static_cast<reprise::Tensor&>(tensor);
    return true;
  }
  if (!convert) return false;
  if (rpp::is_array(source)) {
    value.value = rpp::adopt_array(source);
    return true;
  }
  if (const auto number = rpp::number_of(source)) {
    value.value = reprise::Tensor::scalar(*number);
    return true;
  }
  return false;
}

}  // namespace pybind11::detail
