// Filled, counted and random tensors.
#include "frontend/create.h"

#include <cmath>
#include <cstring>

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

/// Draws of a random op: the key of the global stream and the counters it reserves. One counter
/// gives four 32-bit words.
Tensor random(Op op, const TensorType& type, int64_t words) {
  Runtime& runtime = Runtime::get();
  const Tensor key(runtime.random_key());
  const Tensor counter(runtime.random_counter(static_cast<uint64_t>(words + 3) / 4));
  return record(op, {key.id(), counter.id()}, {}, &type);
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

Tensor from_storage(const TensorType& type, StoragePtr storage) {
  Layout layout{type.shape, type.shape.contiguous_strides(), 0};
  for (int64_t& stride : layout.strides) stride *= static_cast<int64_t>(size_of(type.dtype));
  return Tensor(Runtime::get().from_storage(type.dtype, layout, std::move(storage)));
}

Tensor stored_zeros(const TensorType& type) {
  const size_t bytes = static_cast<size_t>(type.shape.numel()) * size_of(type.dtype);
  StoragePtr storage = cpu_device().allocator().allocate(bytes);
  std::memset(storage->data(), 0, bytes);
  return from_storage(type, std::move(storage));
}

Tensor arange(Number stop) {
  if (stop.category() == DTypeCategory::Float) return arange(0, stop);
  const auto count = static_cast<int64_t>(stop.bits(DType::I64));
  return iota(DType::I64, Shape{std::max<int64_t>(count, 0)}, 0);
}

Tensor arange(Number start, Number stop, Number step, std::optional<DType> dtype) {
  if (step.as_double() == 0) throw Error("arange with a step of 0");
  const bool integers = start.category() != DTypeCategory::Float &&
                        stop.category() != DTypeCategory::Float &&
                        step.category() != DTypeCategory::Float;
  // Counted and computed in the widest type of the category; the result rounds once.
  const DType wide = integers ? DType::I64 : DType::F64;
  int64_t count = 0;
  if (integers) {
    const auto first = static_cast<int64_t>(start.bits(wide));
    const auto last = static_cast<int64_t>(stop.bits(wide));
    const auto by = static_cast<int64_t>(step.bits(wide));
    const __int128 distance =
        by > 0 ? static_cast<__int128>(last) - first : static_cast<__int128>(first) - last;
    const __int128 stride = by > 0 ? static_cast<__int128>(by) : -static_cast<__int128>(by);
    if (distance > 0) count = static_cast<int64_t>((distance + stride - 1) / stride);
  } else {
    const double steps = std::ceil((stop.as_double() - start.as_double()) / step.as_double());
    if (!(steps < 0x1p62)) {
      throw ShapeError(str("arange from ", start, " to ", stop, " by ", step, " does not end"));
    }
    count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  }
  const Tensor values =
      iota(wide, Shape{count}, 0) * parameter(step, wide) + parameter(start, wide);
  return cast(values, dtype.value_or(integers ? DType::I64 : DType::F32));
}

Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  if (columns < 0) columns = rows;
  return cast(iota(DType::I64, Shape{rows, 1}, 0) == iota(DType::I64, Shape{1, columns}, 1), dtype);
}

void set_seed(uint64_t seed) {
  Runtime::get().set_seed(seed);
}

// An f64 takes two words.
Tensor rand(const Shape& shape, DType dtype) {
  return random(Op::Uniform, {dtype, shape}, shape.numel() * (dtype == DType::F64 ? 2 : 1));
}

Tensor randn(const Shape& shape, DType dtype) {
  return random(Op::Normal, {dtype, shape}, shape.numel() * (dtype == DType::F64 ? 2 : 1));
}

Tensor uniform(const Shape& shape, Number low, Number high, DType dtype) {
  const double span = high.as_double() - low.as_double();
  return rand(shape, dtype) * parameter(span, dtype) + parameter(low, dtype);
}

Tensor randint(const Shape& shape, int64_t low, int64_t high, DType dtype) {
  if (low >= high) throw Error(str("randint from ", low, " to ", high, ": no integers there"));
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const int64_t numel = shape.numel();
  Tensor offset;
  if (span <= uint64_t{1} << 24) {
    // The high word of word * span: off a uniform draw by less than span / 2^32.
    const Tensor word = cast(random(Op::RandomBits, {DType::U32, shape}, numel), DType::U64);
    offset = (word * span) >> 32;
  } else {
    const Tensor words = random(Op::RandomBits, {DType::U32, Shape{2, numel}}, 2 * numel);
    const Tensor wide = (cast(words[0], DType::U64) << 32) | cast(words[1], DType::U64);
    offset = reshape(wide % span, shape);
  }
  return cast(cast(offset, DType::I64) + low, dtype);
}

}  // namespace reprise
