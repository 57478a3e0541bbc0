// Exceptions: each is a reprise.Error and what Python programs catch for that kind of mistake.
#include <string>

#include "frontend/python/binding.h"

namespace reprise::python {

namespace {

/// Lives as long as the process: translators may run until the end.
PyObject* make_class(py::module_& module, const char* name, const py::object& bases,
                     const char* doc) {
  const std::string full = std::string("reprise.") + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) throw py::error_already_set();
  module.attr(name) = py::handle(made);
  return made;
}

struct Classes {
  PyObject *error, *shape, *dtype, *index, *device, *io, *parse, *memory, *unsupported, *internal;
};
Classes classes;

template <class Kind>
bool raise_as(const std::exception_ptr& thrown, PyObject* type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Kind& error) {
    PyErr_SetString(type, error.what());
    return true;
  } catch (...) {
    return false;
  }
}

void translate(std::exception_ptr thrown) {  // NOLINT: the type that pybind11 asks for
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const Error&) {
    // The most derived kind that it is; plain Errors last.
    static_cast<void>(raise_as<ShapeError>(thrown, classes.shape) ||
                      raise_as<DTypeError>(thrown, classes.dtype) ||
                      raise_as<IndexError>(thrown, classes.index) ||
                      raise_as<DeviceError>(thrown, classes.device) ||
                      raise_as<IoError>(thrown, classes.io) ||
                      raise_as<ParseError>(thrown, classes.parse) ||
                      raise_as<OutOfMemoryError>(thrown, classes.memory) ||
                      raise_as<UnsupportedError>(thrown, classes.unsupported) ||
                      raise_as<Error>(thrown, classes.error));
  } catch (const InternalError& error) {
    PyErr_SetString(classes.internal, error.what());
  } catch (const py::cast_error&) {  // its own text speaks of C++
    PyErr_SetString(PyExc_TypeError, "an argument holds a value of a type that does not fit");
  }
}

}  // namespace

void bind_errors(py::module_& module) {
  const py::handle exception = PyExc_Exception;
  classes.error = make_class(module, "Error", py::reinterpret_borrow<py::object>(exception),
                             "What Reprise raises when a call cannot do what it was asked; the "
                             "library stays usable and every tensor is as it was.");
  const auto kind = [&](const char* name, PyObject* builtin, const char* doc) {
    return make_class(module, name, py::make_tuple(py::handle(classes.error), py::handle(builtin)),
                      doc);
  };
  classes.shape = kind("ShapeError", PyExc_ValueError, "Extents, ranks or counts do not fit.");
  classes.dtype = kind("DTypeError", PyExc_TypeError, "A dtype or a number does not fit.");
  classes.index = kind("IndexError", PyExc_IndexError, "An axis or an index is out of range.");
  classes.device = kind("DeviceError", PyExc_RuntimeError, "A device failed or cannot do it.");
  classes.io = kind("IoError", PyExc_OSError, "A file is missing, damaged or cannot be written.");
  classes.parse = kind("ParseError", PyExc_ValueError, "A text is not what it should be.");
  classes.memory = kind("OutOfMemoryError", PyExc_MemoryError, "There is not enough memory.");
  classes.unsupported =
      kind("UnsupportedError", PyExc_NotImplementedError, "Not supported, or not yet.");
  classes.internal =
      make_class(module, "InternalError", py::reinterpret_borrow<py::object>(PyExc_RuntimeError),
                 "A bug of Reprise's own: please report it.");
  py::register_exception_translator(translate);
}

}  // namespace reprise::python
