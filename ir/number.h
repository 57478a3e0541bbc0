// Numbers that the program writes beside tensors: weak scalars, which follow the tensor's dtype.
#pragma once

#include <atomic>
#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ostream>
#include <type_traits>

#include "ir/dtype.h"

namespace reprise {

class Scalar;
struct ScalarCell;

/// A C++ number on its way into a tensor expression. It remembers its category and its exact value,
/// never a width: `f64 * 0.1` is exactly 0.1, `0.1f` stays the float it was.
class Number {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Number(T value) {  // NOLINT: implicit by intent, so that `x * 2` is written `x * 2`
    if constexpr (std::same_as<T, bool>) {
      kind_ = Kind::Bool;
      integer_ = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::Float;
      float_ = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      kind_ = Kind::Signed;
      integer_ = static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
      kind_ = Kind::Unsigned;
      integer_ = value;
    }
  }

  template <std::floating_point T>
  constexpr Number(const std::complex<T>& value)  // NOLINT: likewise
      : kind_(Kind::Complex),
        float_(static_cast<double>(value.real())),
        imaginary_(static_cast<double>(value.imag())) {}

  /// The present value of a cell, and where it came from.
  Number(const Scalar& scalar);  // NOLINT: implicit, so that `x * rate` is written `x * rate`

  /// The cell that this number was read from, or null.
  [[nodiscard]] const ScalarCell* cell() const { return cell_; }
  [[nodiscard]] DTypeCategory category() const;
  /// The dtype of a tensor made from this number alone: bool, i64 (u64 past its range), f32, c64.
  [[nodiscard]] DType default_dtype() const;
  /// The dtype in which a tensor of `dtype` and this number are computed: `dtype` unless the number
  /// is of a higher category (bool < integer < float < complex), then the default of that category;
  /// c128 of f64 with a complex number.
  [[nodiscard]] DType join(DType dtype) const;
  /// The value in `dtype`, as in memory, in the low bytes. Throws DTypeError naming number and
  /// dtype when an integer does not fit an integer dtype, a float is given for one, or for a dtype
  /// of pairs.
  [[nodiscard]] uint64_t bits(DType dtype) const;
  /// Whether the number, an integer or a bool, is a value of a bool or integer dtype.
  [[nodiscard]] bool fits(DType dtype) const;
  /// The nearest double. Throws DTypeError for a complex number.
  [[nodiscard]] double as_double() const;
  /// The parts of any number: a real one is its own real part, its cell included.
  [[nodiscard]] Number real_part() const;
  [[nodiscard]] double imaginary_part() const { return imaginary_; }
  [[nodiscard]] bool is_zero() const;

  friend std::ostream& operator<<(std::ostream& out, const Number& number);

 private:
  friend class Scalar;
  friend struct ScalarCell;
  enum class Kind : uint8_t { Bool, Signed, Unsigned, Float, Complex };
  Kind kind_;
  union {
    uint64_t integer_;  ///< two's complement for Signed
    double float_;      ///< the real part of Complex
  };
  double imaginary_ = 0;
  const ScalarCell* cell_ = nullptr;
};

/// What copies of a Scalar share.
struct ScalarCell : std::enable_shared_from_this<ScalarCell> {
  explicit ScalarCell(const Number& number) : number(number) {}
  [[nodiscard]] Number value() const;
  const Number number;  ///< its category is the cell's for good
  std::atomic<uint64_t> bits{0};
};

/// A number that may change between the replays of a frozen step (a learning rate, a temperature).
/// An op recorded with it reads its value then; a replay reads it again. Copies share the value.
/// Thread-safe.
class Scalar {
 public:
  /// Throws DTypeError for a complex number: it takes a Scalar for each part.
  explicit Scalar(Number value);
  /// Throws DTypeError when the category differs from the first value's, except that a float takes
  /// any number.
  void set(Number value);
  [[nodiscard]] Number value() const { return cell_->value(); }

 private:
  friend class Number;
  std::shared_ptr<ScalarCell> cell_;
};

}  // namespace reprise
