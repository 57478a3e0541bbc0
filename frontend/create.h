// Tensors from nothing: filled, counted and random ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "frontend/tensor.h"
#include "runtime/storage.h"

namespace reprise {

/// Every element the number, in its own dtype (i64, f32, bool) unless told.
[[nodiscard]] Tensor full(const Shape& shape, Number value);
[[nodiscard]] Tensor full(const Shape& shape, Number value, DType dtype);
[[nodiscard]] Tensor zeros(const Shape& shape, DType dtype = DType::F32);
[[nodiscard]] Tensor ones(const Shape& shape, DType dtype = DType::F32);
[[nodiscard]] Tensor full_like(const Tensor& x, Number value);
[[nodiscard]] Tensor zeros_like(const Tensor& x);
[[nodiscard]] Tensor ones_like(const Tensor& x);
/// Adopts row-major elements without copying them.
[[nodiscard]] Tensor from_storage(const TensorType& type, StoragePtr storage);
/// Adopts memory that somebody else owns, without copying: element 0 lies at `data`, the others
/// `strides` bytes apart along each axis, outermost first, as in NumPy: they may be negative or 0.
/// The memory is never written, and shows what its owner writes to it: a value that is computed
/// from it later sees the change. `release` is called once, on any thread, without a lock of the
/// library's, when nothing refers to the memory any more; at once when this call throws. It must not
/// throw: nobody is there to catch it, so that would end the process. Throws ShapeError unless there
/// is a stride for every axis, Error for an address or a stride that is not a multiple of the
/// element's size.
[[nodiscard]] Tensor from_memory(const TensorType& type, const void* data,
                                 std::span<const int64_t> strides, std::function<void()> release);
/// The same for row-major elements.
[[nodiscard]] Tensor from_memory(const TensorType& type, const void* data,
                                 std::function<void()> release);
/// Zeros that are stored at once, without a launch: the state of an optimizer.
[[nodiscard]] Tensor stored_zeros(const TensorType& type);
/// start, start + step, .. short of stop; i64 when all are integers, else f32. Throws Error for a
/// step of 0, DTypeError when a value does not fit an integer dtype.
[[nodiscard]] Tensor arange(Number stop);
[[nodiscard]] Tensor arange(Number start, Number stop, Number step = 1,
                            std::optional<DType> dtype = {});
/// Ones on the diagonal of rows x columns, a square unless told.
[[nodiscard]] Tensor eye(int64_t rows, std::optional<int64_t> columns = {},
                         DType dtype = DType::F32);

// Random numbers: Philox 4x32-10 under one seed. Counters are reserved when the op is recorded, so
// the same seed gives the same numbers on every device and with any number of threads.
void set_seed(uint64_t seed);
/// Uniform in [0, 1).
[[nodiscard]] Tensor rand(const Shape& shape, DType dtype = DType::F32);
/// Standard normal.
[[nodiscard]] Tensor randn(const Shape& shape, DType dtype = DType::F32);
/// Uniform between low and high. Throws Error unless low <= high and the dtype holds both and their
/// distance.
[[nodiscard]] Tensor uniform(const Shape& shape, Number low, Number high, DType dtype = DType::F32);
/// Integers in [low, high). Throws Error when there are none, DTypeError when the dtype does not
/// hold them.
[[nodiscard]] Tensor randint(const Shape& shape, int64_t low, int64_t high,
                             DType dtype = DType::I64);

}  // namespace reprise
