// Tensors from nothing: filled and counted ones.
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
/// Adopts row-major elements: without copying them where they are on the default device, else as a
/// copy there.
[[nodiscard]] Tensor from_storage(const TensorType& type, const StoragePtr& storage);
/// Adopts memory that somebody else owns, without copying, as a tensor on the CPU: element 0 lies
/// at `data`, the others `strides` bytes apart along each axis, outermost first, as in NumPy: they
/// may be negative or 0. The memory is never written, and shows what its owner writes to it: a
/// value that is computed from it later sees the change. `release` is called once, on any thread,
/// without a lock of the library's, when nothing refers to the memory any more; at once when this
/// call throws. It must not throw: nobody is there to catch it, so that would end the process.
/// Throws ShapeError unless there is a stride for every axis, Error for an address or a stride that
/// is not a multiple of the element's size.
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
/// `count` values at equal distances from start to stop, both included unless told; of one value
/// start. Computed in f64 and rounded once; throws Error for a negative count.
enum class Endpoint : uint8_t { Included, Excluded };
[[nodiscard]] Tensor linspace(double start, double stop, int64_t count, DType dtype = DType::F32,
                              Endpoint endpoint = Endpoint::Included);
/// base to the power of linspace's values.
[[nodiscard]] Tensor logspace(double start, double stop, int64_t count, double base = 10,
                              DType dtype = DType::F32, Endpoint endpoint = Endpoint::Included);
/// Ones at and below diagonal k of rows x columns, a square unless told.
[[nodiscard]] Tensor tri(int64_t rows, std::optional<int64_t> columns = {}, int64_t k = 0,
                         DType dtype = DType::F32);
/// Ones on diagonal k of rows x columns, a square unless told.
[[nodiscard]] Tensor eye(int64_t rows, std::optional<int64_t> columns = {},
                         DType dtype = DType::F32, int64_t k = 0);

}  // namespace reprise
