// Weak scalars: which dtype a number takes beside a tensor, and its bits in that dtype.
#include "ir/number.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "ir/error.h"
#include "ir/float16.h"

namespace reprise {

Number::Number(const Scalar& scalar) : Number(scalar.value()) {
  cell_ = scalar.cell_.get();
}

Number ScalarCell::value() const {
  Number present = number;
  present.integer_ = bits.load(std::memory_order_relaxed);
  present.cell_ = nullptr;
  return present;
}

Scalar::Scalar(Number value) : cell_(std::make_shared<ScalarCell>(value)) {
  if (value.category() == DTypeCategory::Complex) {
    throw DTypeError(str("a scalar cannot hold ", value,
                         ": make one for each part, and complex() "
                         "of what they give"));
  }
  set(value);
}

void Scalar::set(Number value) {
  const DTypeCategory held = cell_->number.category();
  uint64_t bits = value.integer_;
  if (held == DTypeCategory::Float) {
    bits = std::bit_cast<uint64_t>(value.as_double());
  } else if (value.kind_ != cell_->number.kind_) {
    // An int and an unsigned are two ways to write an integer.
    if (value.category() != held) {
      throw DTypeError(str("a scalar that holds ", cell_->value(), " cannot become ", value,
                           ": numbers of another category need another program"));
    }
    if (static_cast<int64_t>(bits) < 0) {
      throw DTypeError(str("a scalar that holds ", cell_->value(), " cannot become ", value));
    }
  }
  cell_->bits.store(bits, std::memory_order_relaxed);
}

DTypeCategory Number::category() const {
  switch (kind_) {
    case Kind::Bool:
      return DTypeCategory::Bool;
    case Kind::Signed:
    case Kind::Unsigned:
      return DTypeCategory::Integer;
    case Kind::Float:
      return DTypeCategory::Float;
    case Kind::Complex:
      return DTypeCategory::Complex;
  }
  REPRISE_ASSERT(false && "number kind");
  return DTypeCategory::Bool;
}

DType Number::default_dtype() const {
  switch (kind_) {
    case Kind::Bool:
      return DType::Bool;
    case Kind::Signed:
      return DType::I64;
    case Kind::Unsigned:
      return integer_ > max_integer(DType::I64) ? DType::U64 : DType::I64;
    case Kind::Float:
      return DType::F32;
    case Kind::Complex:
      return DType::C64;
  }
  REPRISE_ASSERT(false && "number kind");
  return DType::Bool;
}

DType Number::join(DType dtype) const {
  if (category() <= reprise::category(dtype)) return dtype;
  return kind_ == Kind::Complex && dtype == DType::F64 ? DType::C128 : default_dtype();
}

double Number::as_double() const {
  switch (kind_) {
    case Kind::Bool:
    case Kind::Unsigned:
      return static_cast<double>(integer_);
    case Kind::Signed:
      return static_cast<double>(static_cast<int64_t>(integer_));
    case Kind::Float:
      return float_;
    case Kind::Complex:
      throw DTypeError(str("the number ", *this, " is complex, a real one is needed"));
  }
  REPRISE_ASSERT(false && "number kind");
  return 0;
}

Number Number::real_part() const {
  return kind_ == Kind::Complex ? Number(float_) : *this;
}

bool Number::is_zero() const {
  return kind_ == Kind::Complex ? float_ == 0 && imaginary_ == 0 : as_double() == 0;
}

bool Number::fits(DType dtype) const {
  const bool negative = kind_ == Kind::Signed && static_cast<int64_t>(integer_) < 0;
  return negative ? static_cast<int64_t>(integer_) >= min_integer(dtype)
                  : integer_ <= max_integer(dtype);
}

uint64_t Number::bits(DType dtype) const {
  if (kind_ == Kind::Complex) {
    throw DTypeError(str("the number ", *this, " is complex and does not fit ", dtype));
  }
  switch (reprise::category(dtype)) {
    case DTypeCategory::Bool:
      if (kind_ == Kind::Float ? float_ != 0 && float_ != 1 : integer_ > 1) {
        throw DTypeError(str("the number ", *this, " does not fit bool"));
      }
      return kind_ == Kind::Float ? float_ == 1 : integer_ == 1;
    case DTypeCategory::Integer: {
      if (kind_ == Kind::Float) {
        throw DTypeError(str("the number ", *this, " is a float and does not fit ", dtype));
      }
      if (!fits(dtype)) {
        throw DTypeError(str("the number ", *this, " does not fit ", dtype, ", which holds ",
                             min_integer(dtype), " to ", max_integer(dtype)));
      }
      const size_t width = 8 * size_of(dtype);
      return width == 64 ? integer_ : integer_ & ((uint64_t{1} << width) - 1);
    }
    case DTypeCategory::Float: {
      // An integer rounds to f32 once: through a double it could round twice.
      const bool is_signed = kind_ == Kind::Signed;
      const float narrow = kind_ == Kind::Float
                               ? static_cast<float>(float_)
                               : (is_signed ? static_cast<float>(static_cast<int64_t>(integer_))
                                            : static_cast<float>(integer_));
      if (dtype == DType::F64) return std::bit_cast<uint64_t>(as_double());
      if (dtype == DType::F32) return std::bit_cast<uint32_t>(narrow);
      if (dtype == DType::F16) return f16_from_double(as_double());
      return bf16_from_double(as_double());
    }
    case DTypeCategory::Complex:
    case DTypeCategory::ComplexInteger:
      break;
  }
  throw DTypeError(
      str("the number ", *this, " has no bits in ", dtype, ", which is made of parts"));
}

std::ostream& operator<<(std::ostream& out, const Number& number) {
  switch (number.kind_) {
    case Number::Kind::Bool:
      return out << (number.integer_ != 0 ? "true" : "false");
    case Number::Kind::Signed:
      return out << static_cast<int64_t>(number.integer_);
    case Number::Kind::Unsigned:
      return out << number.integer_;
    case Number::Kind::Float:
    case Number::Kind::Complex:
      break;
  }
  char text[32];
  const auto write = [&](double value) {
    out.write(text, std::to_chars(text, text + sizeof text, value).ptr - text);
  };
  const bool is_complex = number.kind_ == Number::Kind::Complex;
  if (is_complex) out << '(';
  write(number.float_);
  if (!is_complex) return out;
  if (!std::signbit(number.imaginary_)) out << '+';
  write(number.imaginary_);
  return out << "j)";
}

}  // namespace reprise
