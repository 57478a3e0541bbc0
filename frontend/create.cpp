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

/// Draws of a random op: the key of the global stream and the counters it reserves. One counter
/// gives four 32-bit words.
Tensor random(Op op, const TensorType& type, int64_t words) {
  Runtime& runtime = Runtime::get();
  const Tensor key(runtime.random_key());
  const Tensor counter(runtime.random_counter(static_cast<uint64_t>(words + 3) / 4));
  return record(op, {key.id(), counter.id()}, {}, &type);
}

/// Throws unless the numbers from `first` to `last`, made by `what`, are values of `dtype` or,
/// being floats, round to some: a cast would wrap or saturate what is beyond.
void require_fit(const char* what, Number first, Number last, DType dtype) {
  if (is_float(dtype) || is_complex(dtype)) return;
  for (const Number& number : {first, last}) {
    bool fits = true;
    if (number.category() == DTypeCategory::Float) {
      const double whole = std::trunc(number.as_double());
      fits = whole >= static_cast<double>(min_integer(dtype)) &&
             whole < static_cast<double>(max_integer(dtype)) + 1;
    } else {
      fits = number.fits(dtype);
    }
    if (!fits) throw DTypeError(str(what, " of ", first, " to ", last, " does not fit ", dtype));
  }
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

Tensor from_storage(const TensorType& type, StoragePtr storage) {
  const Layout layout{type.shape, contiguous_byte_strides(type), 0};
  return Tensor(Runtime::get().from_storage(type.dtype, layout, std::move(storage)));
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
  const auto alignment = static_cast<uintptr_t>(is_complex(type.dtype) ? width / 2 : width);
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
  StoragePtr storage = cpu_device().allocator().allocate(bytes);
  std::memset(storage->data(), 0, bytes);
  return from_storage(type, std::move(storage));
}

Tensor arange(Number stop) {
  if (stop.category() == DTypeCategory::Float) return arange(0, stop);
  const auto last = static_cast<int64_t>(stop.bits(DType::I64));
  return iota(DType::I64, Shape{checked_count(last, 0, stop, 1)}, 0);
}

Tensor arange(Number start, Number stop, Number step, std::optional<DType> dtype) {
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

Tensor eye(int64_t rows, std::optional<int64_t> columns, DType dtype) {
  const int64_t width = columns.value_or(rows);
  if (rows < 0 || width < 0)
    throw ShapeError(str("eye of ", rows, " rows and ", width, " columns"));
  return cast(iota(DType::I64, Shape{rows, 1}, 0) == iota(DType::I64, Shape{1, width}, 1), dtype);
}

void set_seed(uint64_t seed) {
  Runtime::get().set_seed(seed);
}

namespace {

void require_float(const char* what, DType dtype) {
  if (!is_float(dtype)) throw DTypeError(str(what, " makes floats, it was asked for ", dtype));
}

}  // namespace

// An f64 takes two words.
Tensor rand(const Shape& shape, DType dtype) {
  require_float("rand", dtype);
  return random(Op::Uniform, {dtype, shape}, shape.numel() * (dtype == DType::F64 ? 2 : 1));
}

Tensor randn(const Shape& shape, DType dtype) {
  require_float("randn", dtype);
  return random(Op::Normal, {dtype, shape}, shape.numel() * (dtype == DType::F64 ? 2 : 1));
}

Tensor uniform(const Shape& shape, Number low, Number high, DType dtype) {
  require_float("uniform", dtype);
  const double span = high.as_double() - low.as_double();
  if (!(low.as_double() <= high.as_double())) {
    throw Error(str("uniform from ", low, " to ", high, ": expected low <= high"));
  }
  for (const double value : {low.as_double(), high.as_double(), span}) {
    if (!(std::abs(value) <= largest_finite(dtype))) {
      throw Error(str("uniform from ", low, " to ", high, ": ", value, " overflows ", dtype));
    }
  }
  return rand(shape, dtype) * parameter(span, dtype) + parameter(low, dtype);
}

Tensor randint(const Shape& shape, int64_t low, int64_t high, DType dtype) {
  if (low >= high) throw Error(str("randint from ", low, " to ", high, ": no integers there"));
  require_fit("randint", low, high - 1, dtype);
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
