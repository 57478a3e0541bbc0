// NumPy arrays and DLPack tensors in, NumPy views and DLPack copies out.
#include <pybind11/numpy.h>

#include <array>
#include <bit>

#include "frontend/python/arguments.h"
#include "frontend/python/dlpack.h"

namespace reprise::python {

namespace {

/// NumPy's dtype object; bf16 has none.
const py::dtype& numpy_dtype(DType dtype) {
  static auto& made = *new std::array<py::object, kNumDTypes>;
  py::object& entry = made[static_cast<size_t>(dtype)];
  if (!entry) {
    if (dtype == DType::BF16) {
      throw DTypeError(
          "NumPy has no bfloat16: cast the tensor to float32, or look at its bits with "
          "view(reprise.uint16)");
    }
    if (is_complex_integer(dtype)) {
      const py::dtype part = numpy_dtype(part_of(dtype));
      py::list fields;
      fields.append(py::make_tuple("real", part));
      fields.append(py::make_tuple("imag", part));
      entry = py::dtype::from_args(fields);
    } else {
      entry = py::dtype(numpy_name(dtype));
    }
  }
  return static_cast<const py::dtype&>(entry);
}

std::optional<DType> dtype_of_numpy(const py::dtype& dtype);

/// Of records of two integers of one dtype, one after the other.
std::optional<DType> dtype_of_record(const py::dtype& dtype) {
  const py::object names = dtype.attr("names");
  if (names.is_none() || py::len(names) != 2) return std::nullopt;
  const py::object fields = dtype.attr("fields");
  std::optional<DType> part;
  for (size_t i = 0; i < 2; ++i) {
    const py::tuple field = fields[names[py::int_(i)]];
    const auto own = dtype_of_numpy(field[0].cast<py::dtype>());
    if (!own || !is_integer(*own) || (part && *part != *own)) return std::nullopt;
    if (field[1].cast<size_t>() != i * size_of(*own)) return std::nullopt;
    part = own;
  }
  if (static_cast<size_t>(dtype.itemsize()) != 2 * size_of(*part)) return std::nullopt;
  return pair_of(*part);
}

std::optional<DType> dtype_of_numpy(const py::dtype& dtype) {
  const auto sized = [&](std::initializer_list<DType> of) -> std::optional<DType> {
    for (const DType d : of) {
      if (static_cast<py::ssize_t>(size_of(d)) == dtype.itemsize()) return d;
    }
    return std::nullopt;
  };
  switch (dtype.kind()) {
    case 'b':
      return DType::Bool;
    case 'i':
      return sized({DType::I8, DType::I16, DType::I32, DType::I64});
    case 'u':
      return sized({DType::U8, DType::U16, DType::U32, DType::U64});
    case 'f':
      return sized({DType::F16, DType::F32, DType::F64});
    case 'c':
      return sized({DType::C64, DType::C128});
    case 'V':
      return dtype_of_record(dtype);
    default:
      return std::nullopt;
  }
}

TensorType type_of_array(const py::array& array) {
  const auto dtype = dtype_of_numpy(array.dtype());
  if (!dtype) {
    throw DTypeError(str("an array of NumPy's dtype ", std::string(py::str(array.dtype())),
                         " cannot be a tensor"));
  }
  std::vector<int64_t> extents(array.shape(), array.shape() + array.ndim());
  return {*dtype, Shape(std::span<const int64_t>(extents))};
}

/// Whether kernels may read the elements where they are: of this machine's byte order, each at a
/// multiple of its size.
bool can_adopt(const py::array& array) {
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  if (array.dtype().byteorder() == kForeign) return false;
  if (array.size() == 0) return true;
  const auto width = array.itemsize();
  const bool pairs = array.dtype().kind() == 'c' || array.dtype().kind() == 'V';
  const auto alignment = static_cast<uintptr_t>(pairs ? width / 2 : width);
  if (reinterpret_cast<uintptr_t>(array.data()) % alignment != 0) return false;
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
    if (array.shape(axis) > 1 && array.strides(axis) % width != 0) return false;
  }
  return true;
}

/// Releases one reference of a Python object when the memory is no longer needed.
std::function<void()> owner(py::object object) {
  return [held = object.release().ptr()] { ReleaseQueue::get().release(held); };
}

/// An array on memory that `base` keeps.
py::array array_on(const TensorType& type, const std::array<int64_t, kMaxDims>& strides,
                   const void* data, const py::object& base) {
  const auto rank = static_cast<size_t>(type.shape.rank());
  std::vector<py::ssize_t> extents(type.shape.begin(), type.shape.end());
  std::vector<py::ssize_t> steps(strides.begin(), strides.begin() + rank);
  return {numpy_dtype(type.dtype), std::move(extents), std::move(steps), data, base};
}

py::capsule keeper(const StoragePtr& storage) {
  return {new StoragePtr(storage), [](void* kept) { delete static_cast<StoragePtr*>(kept); }};
}

std::array<int64_t, kMaxDims> dense_strides(const TensorType& type) {
  auto strides = type.shape.contiguous_strides();
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(size_of(type.dtype));
  return strides;
}

Tensor copied(const py::array& array, const TensorType& type) {
  const StoragePtr storage = cpu_device().allocator().allocate(
      static_cast<size_t>(type.shape.numel()) * size_of(type.dtype));
  const py::array target = array_on(type, dense_strides(type), storage->data(), keeper(storage));
  py::module_::import("numpy").attr("copyto")(target, array);
  return from_storage(type, storage);
}

Tensor from_array(const py::array& array, std::optional<bool> copy) {
  const TensorType type = type_of_array(array);
  if (copy.value_or(false)) return copied(array, type);
  if (!can_adopt(array)) {
    if (copy.has_value()) {
      throw Error(str("asarray with copy=False of ", type, ": an array of NumPy's dtype ",
                      std::string(py::str(array.dtype())),
                      " that is not aligned or not of this machine's byte order must be copied"));
    }
    return copied(array, type);
  }
  std::vector<int64_t> strides(array.strides(), array.strides() + array.ndim());
  const Tensor adopted = from_memory(type, array.data(), strides, owner(array));
  Device& wanted = default_device();
  if (&wanted == &cpu_device()) return adopted;
  if (copy.has_value()) {
    throw DeviceError(str("asarray with copy=False of ", type, ": the default device is ",
                          wanted.name(), ", so it must be copied there"));
  }
  return unlocked([&] { return adopted.to(wanted); });
}

/// A copy, from whatever device: for showing it.
py::array shown(const Tensor& tensor) {
  const TensorType type = tensor.type();
  static_cast<void>(numpy_dtype(type.dtype));
  const size_t bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  const StoragePtr storage = unlocked([&] {
    StoragePtr copy = cpu_device().allocator().allocate(bytes);
    Runtime::get().read(tensor.id(), copy->data(), bytes);
    return copy;
  });
  return array_on(type, dense_strides(type), storage->data(), keeper(storage));
}

py::array view_of(const Tensor& tensor) {
  require_readable("numpy");
  static_cast<void>(numpy_dtype(tensor.dtype()));  // nothing is computed for an error
  const auto [storage, layout] = unlocked([&] { return Runtime::get().host_storage(tensor.id()); });
  py::array view =
      array_on({tensor.dtype(), layout.shape}, layout.strides,
               static_cast<const std::byte*>(storage->data()) + layout.offset, keeper(storage));
  // Values are immutable; and whoever asks NumPy to allow writing is refused, for the base is no
  // array.
  py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

// --- DLPack --------------------------------------------------------------------------------------

DlDataType dl_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * size_of(dtype));
  switch (category(dtype)) {
    case DTypeCategory::Bool:
      return {kDlBool, 8, 1};
    case DTypeCategory::Integer:
      return {is_signed_integer(dtype) ? kDlInt : kDlUInt, bits, 1};
    case DTypeCategory::Float:
      return {dtype == DType::BF16 ? kDlBfloat : kDlFloat, bits, 1};
    case DTypeCategory::Complex:
      return {kDlComplex, bits, 1};
    case DTypeCategory::ComplexInteger:
      throw DTypeError(str("DLPack has no ", dtype, ": give it the parts, by real and imag"));
  }
  REPRISE_ASSERT(false && "dtype category");
  return {};
}

DType dtype_of_dl(DlDataType type) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (is_complex_integer(static_cast<DType>(i))) continue;
    const DlDataType known = dl_type(static_cast<DType>(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) {
      return static_cast<DType>(i);
    }
  }
  throw DTypeError(str("from_dlpack: elements of DLPack's type code ", int{type.code}, ", ",
                       int{type.bits}, " bits, ", type.lanes, " lanes have no dtype"));
}

/// A copy: whoever takes a DLPack tensor may write to it.
struct DlCopy {
  DlManagedTensor managed{};
  StoragePtr storage;
  TensorType type;
  std::array<int64_t, kMaxDims> strides{};
};

py::capsule to_dlpack(const Tensor& tensor) {
  require_readable("__dlpack__");
  auto copy = std::make_unique<DlCopy>();
  copy->type = tensor.type();
  copy->strides = copy->type.shape.contiguous_strides();
  const size_t bytes = static_cast<size_t>(copy->type.shape.numel()) * size_of(copy->type.dtype);
  unlocked([&] {
    copy->storage = cpu_device().allocator().allocate(bytes);
    Runtime::get().read(tensor.id(), copy->storage->data(), bytes);
  });
  copy->managed.tensor = {.data = copy->storage->data(),
                          .device = {kDlCpu, 0},
                          .rank = copy->type.shape.rank(),
                          .type = dl_type(copy->type.dtype),
                          .extents = const_cast<int64_t*>(copy->type.shape.begin()),
                          .strides = copy->strides.data(),
                          .byte_offset = 0};
  copy->managed.context = copy.get();
  copy->managed.deleter = [](DlManagedTensor* managed) {
    delete static_cast<DlCopy*>(managed->context);
  };
  DlManagedTensor* managed = &copy.release()->managed;
  // Whoever takes it renames the capsule; one that nobody took frees it.
  return py::capsule(managed, "dltensor", [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
    auto* held = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    held->deleter(held);
  });
}

Tensor from_dlpack(const py::object& source) {
  const auto device = source.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  if (device.first != kDlCpu) {
    throw DeviceError(str("from_dlpack: the tensor is on DLPack's device ", device.first,
                          ", only the CPU's memory (", int{kDlCpu}, ") can be adopted"));
  }
  // The capsule stays unused, so its own end frees the tensor: by Python, with the GIL.
  const py::object capsule = source.attr("__dlpack__")();
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  const DlTensor& tensor = managed->tensor;
  const Shape shape(std::span<const int64_t>(tensor.extents, static_cast<size_t>(tensor.rank)));
  const TensorType type{dtype_of_dl(tensor.type), shape};
  auto strides = dense_strides(type);
  if (tensor.strides != nullptr) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      strides[axis] = tensor.strides[axis] * static_cast<int64_t>(size_of(type.dtype));
    }
  }
  const auto rank = static_cast<size_t>(shape.rank());
  return from_memory(type, static_cast<const std::byte*>(tensor.data) + tensor.byte_offset,
                     std::span<const int64_t>(strides.data(), rank), owner(capsule));
}

}  // namespace

bool is_array(const py::handle& object) {
  return py::isinstance<py::array>(object);
}

Tensor adopt_array(const py::handle& array) {
  return from_array(py::reinterpret_borrow<py::array>(array), std::nullopt);
}

void bind_numpy(py::module_& module, TensorClass& tensor) {
  module.def(
      "from_numpy", &from_array, py::arg("array"), py::arg("copy") = py::none(),
      "A tensor on the array's memory: without a copy where elements are aligned and of "
      "this machine's byte order, or always (copy=False: else Error), or never (copy=True).");
  module.def("from_dlpack", &from_dlpack, py::arg("source"),
             "A tensor on the memory of whatever has __dlpack__ on the CPU, without a copy.");
  module.def("_shown", &shown);
  tensor
      .def("numpy", &view_of,
           "The elements as a read-only NumPy array, without a copy. Realizes. DTypeError for "
           "bfloat16, which NumPy does not have.")
      .def(
          "__array__",
          [](const Tensor& x, const py::object& dtype, const py::object& copy) -> py::object {
            py::object view = view_of(x);
            if (!dtype.is_none()) view = view.attr("astype")(dtype, py::arg("copy") = false);
            const bool wants_copy = !copy.is_none() && copy.cast<bool>();
            return wants_copy ? view.attr("copy")() : view;
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def(
          "__dlpack__", [](const Tensor& x, const py::object&) { return to_dlpack(x); },
          py::arg("stream") = py::none(), "A copy: whoever takes it may write to it.")
      .def("__dlpack_device__",
           [](const Tensor&) { return py::make_tuple(static_cast<int>(kDlCpu), 0); })
      .def(
          "to", [](const Tensor& x, const std::string& device) { return x.to(device); },
          py::arg("device"), Unlocked(),
          "The value on a device, by its name: this tensor where it is there, else a copy. "
          "Recorded inside a tape, where gradients pass back; else it realizes.")
      .def(
          "to_device", [](const Tensor& x, const std::string& device) { return x.to(device); },
          py::arg("device"), Unlocked(), "The array API's name of to().")
      .def(
          "view",
          [](const Tensor& x, const DTypeArg& dtype) {
            require_readable("view");
            const TensorType type = x.type();
            if (size_of(type.dtype) != size_of(dtype.value)) {
              throw DTypeError(str("view of ", type, " as ", dtype.value, ": the elements have ",
                                   size_of(type.dtype), " and ", size_of(dtype.value), " bytes"));
            }
            return unlocked([&] {
              const auto [storage, layout] = Runtime::get().storage(x.id());
              return Tensor(Runtime::get().from_storage(dtype.value, layout, storage));
            });
          },
          py::arg("dtype"),
          "The same bits as another dtype of the same width, without a copy or a gradient. "
          "Realizes.");
  // NumPy's operators leave `array + tensor` to the tensor.
  tensor.attr("__array_ufunc__") = py::none();
}

}  // namespace reprise::python
