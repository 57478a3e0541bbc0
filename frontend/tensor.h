// Tensor: a handle of four bytes on a value that may not have been computed yet.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/dtype.h"
#include "ir/error.h"
#include "ir/number.h"
#include "ir/shape.h"
#include "runtime/runtime.h"

namespace reprise {

/// Element types that have a dtype.
template <class T>
concept Element = requires {
  DTypeOf<T>::value;
};

/// Part of an axis, as NumPy writes start:stop:step. What is left out reaches to the end it starts
/// from; negative positions count from the end; positions past the end are clamped.
struct Range {
  static constexpr int64_t kOpen = INT64_MIN;
  int64_t start = kOpen;
  int64_t stop = kOpen;
  int64_t step = 1;
};

/// One entry of an indexing: a position, which drops the axis, or a range, which keeps it.
class Index {
 public:
  template <class T>
  requires std::is_integral_v<T> Index(T position)
      : range_{static_cast<int64_t>(position), 0, 0} {}   // NOLINT: implicit
  Index(Range range) : range_(range), is_range_(true) {}  // NOLINT: implicit
  [[nodiscard]] bool is_range() const { return is_range_; }
  [[nodiscard]] int64_t position() const { return range_.start; }
  [[nodiscard]] const Range& range() const { return range_; }

 private:
  Range range_;
  bool is_range_ = false;
};

/// An immutable value, recorded or stored. Copies share the binding, and so see `assign_`.
/// A default-constructed tensor is empty: it can be assigned to and destroyed, every use throws.
class Tensor {
 public:
  Tensor() = default;
  /// Takes over one reference to `id`.
  explicit Tensor(TensorId id) noexcept : id_(id) {}
  Tensor(const Tensor& other) : id_(other.id_) {
    if (id_.valid()) Runtime::get().retain(id_);
  }
  Tensor(Tensor&& other) noexcept : id_(std::exchange(other.id_, TensorId{})) {}
  Tensor& operator=(const Tensor& other) {
    Tensor copy(other);
    std::swap(id_, copy.id_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Tensor() {
    if (id_.valid()) Runtime::get().release(id_);
  }

  /// Rank-1 from elements, the first axis outermost.
  template <Element T>
  static Tensor of(std::initializer_list<T> elements) {
    return of(std::span<const T>(elements.begin(), elements.size()));
  }
  template <Element T>
  static Tensor of(std::initializer_list<T> elements, const Shape& shape) {
    return of(std::span<const T>(elements.begin(), elements.size()), shape);
  }
  template <Element T>
  static Tensor of(std::span<const T> elements) {
    return of(elements, Shape{static_cast<int64_t>(elements.size())});
  }
  /// Copies row-major elements. Throws ShapeError when their number is not that of the shape.
  template <Element T>
  static Tensor of(std::span<const T> elements, const Shape& shape) {
    return from_host({dtype_of<T>, shape}, elements.data(), elements.size());
  }
  template <Element T>
  static Tensor of(const std::vector<T>& elements, const Shape& shape) {
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<uint8_t> bytes(elements.begin(), elements.end());
      return from_host({DType::Bool, shape}, bytes.data(), bytes.size());
    } else {
      return of(std::span<const T>(elements), shape);
    }
  }
  template <Element T>
  static Tensor of(const std::vector<T>& elements) {
    return of(elements, Shape{static_cast<int64_t>(elements.size())});
  }
  /// Rank 0, of the number's dtype (i64, f32, bool) or of the one given.
  static Tensor scalar(Number value);
  static Tensor scalar(Number value, DType dtype);

  [[nodiscard]] bool empty_handle() const { return !id_.valid(); }
  /// Throws Error when the handle is empty.
  [[nodiscard]] TensorId id() const {
    if (!id_.valid()) fail_empty();
    return id_;
  }
  [[nodiscard]] TensorType type() const { return Runtime::get().type(id()); }
  [[nodiscard]] Shape shape() const { return type().shape; }
  /// Extent of one axis; negative axes count from the end.
  [[nodiscard]] int64_t size(int64_t axis) const;
  [[nodiscard]] DType dtype() const { return type().dtype; }
  [[nodiscard]] int rank() const { return type().shape.rank(); }
  [[nodiscard]] int64_t numel() const { return type().shape.numel(); }

  /// The single element. Throws ShapeError unless there is exactly one, DTypeError unless every
  /// value of the dtype is a T. Realizes.
  template <Element T>
  [[nodiscard]] T item() const {
    T value;
    read_as(dtype_of<T>, &value, 1);
    return value;
  }
  /// All elements, row-major. Throws DTypeError unless every value of the dtype is a T. Realizes.
  template <Element T>
  [[nodiscard]] std::vector<T> to_vector() const {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    std::vector<Stored> elements;
    try {
      elements.resize(static_cast<size_t>(numel()));
    } catch (const std::exception&) {  // bad_alloc, or longer than any vector
      fail_memory(sizeof(T));
    }
    read_as(dtype_of<T>, elements.data(), kAnyCount);
    if constexpr (std::is_same_v<T, bool>) {
      return {elements.begin(), elements.end()};
    } else {
      return elements;
    }
  }

  /// A handle of its own on the present value: later assigns to this one do not reach it.
  [[nodiscard]] Tensor value() const { return Tensor(Runtime::get().value(id())); }
  /// Rebinds this tensor, and so every copy of it, to the value of `other`, which must have the
  /// same dtype and shape. What was recorded before keeps the old value.
  void assign_(const Tensor& other) const { Runtime::get().assign(id(), other.id()); }
  /// Computes this tensor now.
  const Tensor& realize() const;
  /// Where it is or will be computed. A value that depends on no data (a constant, random numbers)
  /// belongs to no device: of such a one this is the default device.
  [[nodiscard]] Device& device() const;
  /// The same value on another device, by its name where it is given so ("vulkan:0", see
  /// devices()): this tensor where it is there, else a copy, for which it is realized; inside a tape
  /// the transfer is recorded, gradients pass over it. DeviceError for a name that no device has.
  [[nodiscard]] Tensor to(Device& device) const {
    return Tensor(Runtime::get().to_device(id(), device));
  }
  [[nodiscard]] Tensor to(std::string_view device) const { return to(reprise::device(device)); }

  // Often written after the tensor; ops.h has the same as functions, with the details.
  [[nodiscard]] Tensor cast(DType dtype) const;
  /// One extent may be -1: whatever is left.
  [[nodiscard]] Tensor reshape(std::initializer_list<int64_t> extents) const;
  [[nodiscard]] Tensor reshape(const Shape& shape) const;
  [[nodiscard]] Tensor permute(std::span<const int64_t> order) const;
  [[nodiscard]] Tensor permute(std::initializer_list<int64_t> order) const;
  /// Swaps two axes, the last two unless told.
  [[nodiscard]] Tensor transpose(int64_t a = -2, int64_t b = -1) const;
  /// NumPy's basic indexing over the first axes: `x.at({0, rp::Range{1, 3}})`.
  [[nodiscard]] Tensor at(std::initializer_list<Index> indices) const;
  /// Drops the first axis at a position.
  [[nodiscard]] Tensor operator[](int64_t position) const { return at({position}); }

 private:
  static constexpr int64_t kAnyCount = -1;
  [[noreturn]] static void fail_empty();
  /// Throws OutOfMemoryError: the elements, of `width` bytes, do not fit a vector.
  [[noreturn]] void fail_memory(size_t width) const;
  static Tensor from_host(const TensorType& type, const void* data, size_t count);
  void read_as(DType wanted, void* destination, int64_t count) const;

  TensorId id_;
};
static_assert(sizeof(Tensor) == 4, "a tensor is its id and nothing else");

/// NumPy's layout of the values; realizes. Long axes are shortened with an ellipsis past 1000
/// elements.
[[nodiscard]] std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// Operators; dtypes are promoted and shapes broadcast, numbers are weak (see number.h).
#define REPRISE_BINARY_OPERATOR(symbol)                     \
  Tensor operator symbol(const Tensor& a, const Tensor& b); \
  Tensor operator symbol(const Tensor& a, Number b);        \
  Tensor operator symbol(Number a, const Tensor& b);
REPRISE_BINARY_OPERATOR(+)
REPRISE_BINARY_OPERATOR(-)
REPRISE_BINARY_OPERATOR(*)
REPRISE_BINARY_OPERATOR(/)
REPRISE_BINARY_OPERATOR(%)
REPRISE_BINARY_OPERATOR(&)
REPRISE_BINARY_OPERATOR(|)
REPRISE_BINARY_OPERATOR(^)
REPRISE_BINARY_OPERATOR(<<)
REPRISE_BINARY_OPERATOR(>>)
REPRISE_BINARY_OPERATOR(==)
REPRISE_BINARY_OPERATOR(!=)
REPRISE_BINARY_OPERATOR(<)
REPRISE_BINARY_OPERATOR(<=)
REPRISE_BINARY_OPERATOR(>)
REPRISE_BINARY_OPERATOR(>=)
#undef REPRISE_BINARY_OPERATOR

[[nodiscard]] Tensor operator-(const Tensor& a);
[[nodiscard]] Tensor operator+(const Tensor& a);
[[nodiscard]] Tensor operator~(const Tensor& a);
[[nodiscard]] Tensor operator!(const Tensor& a);  ///< `a == 0`

// The left side becomes a handle on the result; copies of the old handle keep the old value.
inline Tensor& operator+=(Tensor& a, const Tensor& b) {
  return a = a + b;
}
inline Tensor& operator-=(Tensor& a, const Tensor& b) {
  return a = a - b;
}
inline Tensor& operator*=(Tensor& a, const Tensor& b) {
  return a = a * b;
}
inline Tensor& operator/=(Tensor& a, const Tensor& b) {
  return a = a / b;
}
inline Tensor& operator+=(Tensor& a, Number b) {
  return a = a + b;
}
inline Tensor& operator-=(Tensor& a, Number b) {
  return a = a - b;
}
inline Tensor& operator*=(Tensor& a, Number b) {
  return a = a * b;
}
inline Tensor& operator/=(Tensor& a, Number b) {
  return a = a / b;
}

}  // namespace reprise
