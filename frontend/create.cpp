// Filled, counted and random tensors.
#include "frontend/create.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/ops.h"
#include "frontend/record.h"
#include "runtime/device.h"

namespace reprise {

namespace {

Tensor filled(const Tensor& value, const Shape& shape) {
  return broadcast_to(value, shape);
}

Tensor iota(DType dtype, const Shape& shape, int axis) {
  const TensorType type{dtype, shape};
  return record(Op::Iota, std::span<const TensorId>(), Attrs().add_int(axis), &type);
}

/// A count of elements, or ShapeError: `from`, `to` and `by` as they were given.
template <class Count>
int64_t checked_count(Count count, Number from, Number to, Number by) {
  constexpr int64_t kLimit = int64_t{1} << 58;
  if (!(count < static_cast<Count>(kLimit))) {
    throw ShapeError(
        str("arange from ", from, " to ", to, " by ", by, " has 2^58 elements or more"));
  }
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

}  // namespace

Tensor full(const Shape& shape, Number value) {
  return full(shape, value, value.default_dtype());
}
Tensor full(const Shape& shape, Number value, DType dtype) {
  return filled(parameter(value, dtype), shape);
}
Tensor zeros(const Shape& shape, DType dtype) {
  return filled(constant(0, dtype), shape);
}
Tensor ones(const Shape& shape, DType dtype) {
  return filled(constant(1, dtype), shape);
}
Tensor full_like(const Tensor& x, Number value) {
  const TensorType type = x.type();
  return full(type.shape, value, type.dtype);
}
Tensor zeros_like(const Tensor& x) {
  const TensorType type = x.type();
  return zeros(type.shape, type.dtype);
}
Tensor ones_like(const Tensor& x) {
  const TensorType type = x.type();
  return ones(type.shape, type.dtype);
}

Tensor from_storage(const TensorType& type, const StoragePtr& storage) {
  const Layout layout{type.shape, contiguous_byte_strides(type), 0};
  return Tensor(
      Runtime::get().from_storage(type.dtype, layout, copy_to(default_device(), storage)));
}

Tensor from_memory(const TensorType& type, const void* data, std::span<const int64_t> strides,
                   std::function<void()> release) {
  // The block that the elements span: a negative stride reaches below `data`.
  const Shape& shape = type.shape;
  const auto width = static_cast<int64_t>(size_of(type.dtype));
  int64_t low = 0, high = 0;
  for (int axis = 0; axis < std::min(shape.rank(), static_cast<int>(strides.size())); ++axis) {
    (strides[axis] < 0 ? low : high) += strides[axis] * std::max<int64_t>(shape[axis] - 1, 0);
  }
  const bool empty = shape.numel() == 0;
  // Borrowed memory is never written, so taking away the const gives nothing away.
  auto* start = static_cast<std::byte*>(const_cast<void*>(data)) + (empty ? 0 : low);
  const StoragePtr storage(
      new Storage(start, empty ? 0 : static_cast<size_t>(high - low + width), &cpu_device(),
                  /*borrowed=*/true, [release = std::move(release)](void*, size_t) { release(); }));

  if (static_cast<int>(strides.size()) != shape.rank()) {
    throw ShapeError(str("from_memory: ", strides.size(), " strides for ", type));
  }
  Layout layout{shape, {}, empty ? 0 : -low};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    // What is never stepped over may be anything.
    if (shape[axis] > 1 && !empty && strides[axis] % width != 0) {
      throw Error(str("from_memory: stride ", strides[axis], " of axis ", axis, " of ", type,
                      " is not a multiple of the element's ", width, " bytes"));
    }
    layout.strides[axis] = shape[axis] > 1 && !empty ? strides[axis] : width;
  }
  const auto alignment = static_cast<uintptr_t>(is_pair(type.dtype) ? width / 2 : width);
  if (!empty && reinterpret_cast<uintptr_t>(data) % alignment != 0) {
    throw Error(
        str("from_memory: the address ", data, " of ", type, " is not a multiple of ", alignment));
  }
  return Tensor(Runtime::get().from_storage(type.dtype, layout, storage));
}

Tensor from_memory(const TensorType& type, const void* data, std::function<void()> release) {
  const auto strides = contiguous_byte_strides(type);
  const std::span<const int64_t> bytes(strides.data(), static_cast<size_t>(type.shape.rank()));
  return from_memory(type, data, bytes, std::move(release));
}

Tensor stored_zeros(const TensorType& type) {
  const size_t bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  const StoragePtr storage = cpu_device().allocator().allocate(bytes);
  std::memset(storage->data(), 0, bytes);
  return from_storage(type, storage);
}

namespace {

/// How many values there are is part of what is compiled, so the ends are.
void require_fixed(std::initializer_list<Number> numbers) {
  for (const Number& number : numbers) {
    if (number.cell() == nullptr) continue;
    throw Error(str("arange with a Scalar, now ", number,
                    ": it may change between replays, and the number of values cannot; pass its "
                    "value, or name the argument of a jitted function in static_argnums"));
  }
}

}  // namespace

Tensor arange(Number stop) {
  require_fixed({stop});
  if (stop.category() == DTypeCategory::Float) return arange(0, stop);
  const auto last = static_cast<int64_t>(stop.bits(DType::I64));
  return iota(DType::I64, Shape{checked_count(last, 0, stop, 1)}, 0);
}

Tensor arange(Number start, Number stop, Number step, std::optional<DType> dtype) {
  require_fixed({start, stop, step});
  const bool integers = start.category() != DTypeCategory::Float &&
                        stop.category() != DTypeCategory::Float &&
                        step.category() != DTypeCategory::Float;
  // Counted and computed in the widest type of the category; the result rounds once.
  const DType wide = integers ? DType::I64 : DType::F64;
  const DType result = dtype.value_or(integers ? DType::I64 : DType::F32);
  // Both ends are values or lie between values: what is between them fits when they do.
  int64_t count = 0;
  if (integers) {
    const auto first = static_cast<int64_t>(start.bits(wide));
    const auto last = static_cast<int64_t>(stop.bits(wide));
    const auto by = static_cast<int64_t>(step.bits(wide));
    if (by == 0) throw Error("arange with a step of 0");
    const __int128 distance =
        by > 0 ? static_cast<__int128>(last) - first : static_cast<__int128>(first) - last;
    const __int128 stride = by > 0 ? static_cast<__int128>(by) : -static_cast<__int128>(by);
    count = checked_count((distance + stride - 1) / stride, start, stop, step);
    if (count > 0) require_fit("arange", first, first + (count - 1) * by, result);
  } else {
    const double first = start.as_double();
    const double by = step.as_double();
    if (by == 0) throw Error("arange with a step of 0");
    if (!std::isfinite(first) || !std::isfinite(stop.as_double()) || !std::isfinite(by)) {
      throw ShapeError(str("arange from ", start, " to ", stop, " by ", step, ": not finite"));
    }
    count = checked_count(std::ceil((stop.as_double() - first) / by), start, stop, step);
    if (count > 0) {
      require_fit("arange", first, first + static_cast<double>(count - 1) * by, result);
    }
  }
  const Tensor values =
      iota(wide, Shape{count}, 0) * parameter(step, wide) + parameter(start, wide);
  return cast(values, result);
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, DType dtype, int64_t k) {
  const int64_t width = columns.value_or(rows);
  if (rows < 0 || width < 0)
    throw ShapeError(str("eye of ", rows, " rows and ", width, " columns"));
  const Tensor diagonal = iota(DType::I64, Shape{rows, 1}, 0) + k;
  return cast(diagonal == iota(DType::I64, Shape{1, width}, 1), dtype);
}

Tensor tri(int64_t rows, std::optional<int64_t> columns, int64_t k, DType dtype) {
  const int64_t width = columns.value_or(rows);
  if (rows < 0 || width < 0) {
    throw ShapeError(str("tri of ", rows, " rows and ", width, " columns"));
  }
  const Tensor diagonal = iota(DType::I64, Shape{rows, 1}, 0) + k;
  return cast(iota(DType::I64, Shape{1, width}, 1) <= diagonal, dtype);
}

namespace {

/// In f64, which is rounded or, to integers, floored once.
Tensor spaced(double start, double stop, int64_t count, Endpoint endpoint) {
  if (count < 0) throw ShapeError(str("linspace of ", count, " values"));
  const int64_t steps = endpoint == Endpoint::Included ? count - 1 : count;
  const Tensor i = iota(DType::I64, Shape{count}, 0);
  const double step = steps > 0 ? (stop - start) / static_cast<double>(steps) : 0;
  const Tensor inside =
      cast(i, DType::F64) * parameter(step, DType::F64) + parameter(start, DType::F64);
  if (endpoint == Endpoint::Excluded || count < 2) return inside;
  return where(i == count - 1, parameter(stop, DType::F64), inside);
}

Tensor rounded(const Tensor& x, DType dtype) {
  return cast(is_differentiable(dtype) ? x : floor(x), dtype);
}

}  // namespace

Tensor linspace(double start, double stop, int64_t count, DType dtype, Endpoint endpoint) {
  return rounded(spaced(start, stop, count, endpoint), dtype);
}

Tensor logspace(double start, double stop, int64_t count, double base, DType dtype,
                Endpoint endpoint) {
  return rounded(pow(parameter(base, DType::F64), spaced(start, stop, count, endpoint)), dtype);
}

}  // namespace reprise
