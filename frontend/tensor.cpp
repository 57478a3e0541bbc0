// The parts of Tensor that are not a single call of the runtime.
#include "frontend/tensor.h"

#include <cstring>

#include "frontend/ops.h"
#include "frontend/record.h"
#include "ir/float16.h"
#include "ir/visit_dtype.h"
#include "runtime/device.h"

namespace reprise {

namespace {

/// Whether every value of `from` is a value of `to`: what may be read without losing anything.
bool holds(DType to, DType from) {
  if (to == from) return true;
  if (is_complex(to)) return holds(part_of(to), part_of(from));
  if (is_pair(from)) return false;
  if (is_float(to)) {
    if (is_float(from)) return size_of(to) > size_of(from);
    return size_of(from) < size_of(to) || (from == DType::Bool);
  }
  if (from == DType::Bool) return is_integer(to);
  return is_integer(to) && is_integer(from) && min_integer(to) <= min_integer(from) &&
         max_integer(to) >= max_integer(from);
}

template <class From, class To>
void convert(const std::byte* from, To* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value);
  }
}

template <class To>
void convert_from(DType dtype, const std::byte* from, To* to, size_t count) {
  if (dtype == DType::Bool) return convert<uint8_t>(from, to, count);
  if (dtype == DType::F16 || dtype == DType::BF16) {
    for (size_t i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, from + 2 * i, 2);
      to[i] = static_cast<To>(dtype == DType::F16 ? float_from_f16(bits) : float_from_bf16(bits));
    }
    return;
  }
  const bool known = visit_number(
      dtype, [&]<class From>(std::type_identity<From>) { convert<From>(from, to, count); });
  REPRISE_ASSERT(known && "pairs are read by their parts");
}

}  // namespace

void Tensor::fail_empty() {
  throw Error("the tensor is empty: it was default-constructed or moved from");
}

void Tensor::fail_memory(size_t width) const {
  throw OutOfMemoryError(str("out of memory: a vector for ", type(), " needs ",
                             static_cast<size_t>(numel()) * width, " bytes"));
}

Tensor Tensor::from_host(const TensorType& type, const void* data, size_t count) {
  if (static_cast<int64_t>(count) != type.shape.numel()) {
    throw ShapeError(str(count, " elements for ", type, ", which has ", type.shape.numel()));
  }
  return Tensor(Runtime::get().from_host(type, data));
}

Tensor Tensor::scalar(Number value) {
  return scalar(value, value.default_dtype());
}

Tensor Tensor::scalar(Number value, DType dtype) {
  return parameter(value, dtype);
}

Device& Tensor::device() const {
  const DeviceSet devices = Runtime::get().devices(id());
  return devices.is_all() ? default_device() : devices.first();
}

int64_t Tensor::size(int64_t axis) const {
  const Shape shape = this->shape();
  return shape[normalize_axis(axis, shape.rank())];
}

void Tensor::read_as(DType wanted, void* destination, int64_t count) const {
  const TensorType have = type();
  const int64_t numel = have.shape.numel();
  if (count != kAnyCount && numel != count) {
    throw ShapeError(str("item of ", have, ", which has ", numel, " elements, not 1"));
  }
  if (!holds(wanted, have.dtype)) {
    throw DTypeError(str("reading ", have, " as ", wanted, " could lose values; cast it first"));
  }
  const size_t bytes = static_cast<size_t>(numel) * size_of(have.dtype);
  if (wanted == have.dtype) return Runtime::get().read(id(), destination, bytes);
  const StoragePtr elements = cpu_device().allocator().allocate(bytes);
  const auto* from = static_cast<const std::byte*>(elements->data());
  Runtime::get().read(id(), elements->data(), bytes);
  const auto elements_at = [&]<class T>(std::type_identity<T>) {
    convert_from(have.dtype, from, static_cast<T*>(destination), static_cast<size_t>(numel));
  };
  const auto pairs_at = [&]<class T>(std::type_identity<T>) {
    auto* parts = static_cast<T*>(destination);
    const auto elements = static_cast<size_t>(numel);
    if (is_pair(have.dtype)) return convert_from(part_of(have.dtype), from, parts, 2 * elements);
    convert_from(have.dtype, from, parts, elements);
    for (size_t i = elements; i-- > 0;) {  // from the end: each moves up
      parts[2 * i] = parts[i];
      parts[2 * i + 1] = 0;
    }
  };
  const bool known = is_complex(wanted) ? visit_number(part_of(wanted), pairs_at)
                                        : visit_number(wanted, elements_at);
  REPRISE_ASSERT(known && "no such element type");
}

const Tensor& Tensor::realize() const {
  const TensorId ids[] = {id()};
  Runtime::get().realize(ids);
  return *this;
}

Tensor Tensor::cast(DType dtype) const {
  return reprise::cast(*this, dtype);
}
Tensor Tensor::reshape(std::initializer_list<int64_t> extents) const {
  return reprise::reshape(*this, extents);
}
Tensor Tensor::reshape(const Shape& shape) const {
  return reprise::reshape(*this, shape);
}
Tensor Tensor::permute(std::span<const int64_t> order) const {
  return reprise::permute(*this, order);
}
Tensor Tensor::permute(std::initializer_list<int64_t> order) const {
  return reprise::permute(*this, order);
}
Tensor Tensor::transpose(int64_t a, int64_t b) const {
  return reprise::transpose(*this, a, b);
}
Tensor Tensor::at(std::initializer_list<Index> indices) const {
  return reprise::at(*this, std::span(indices.begin(), indices.size()));
}

}  // namespace reprise
