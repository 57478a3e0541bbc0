// Element types: names, sizes, categories, promotion.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace reprise {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  C64,
  C128,
  CI8,  ///< pairs of integers, named by the width of one of them
  CI16,
  CI32,
  CI64,
  CU8,
  CU16,
  CU32,
  CU64,
};
inline constexpr int kNumDTypes = 23;

/// Complex integers are stored and converted, nothing computes in them: they are no step of the
/// lattice.
enum class DTypeCategory : uint8_t { Bool, Integer, Float, Complex, ComplexInteger };

/// The name used in every textual form: bool, i8 .. u64, f16, bf16, f32, f64, c64, c128, ci8 ..
/// cu64.
[[nodiscard]] std::string_view name(DType dtype);
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);
/// Bytes of one element; bool is one byte holding 0 or 1.
[[nodiscard]] size_t size_of(DType dtype);
[[nodiscard]] DTypeCategory category(DType dtype);
[[nodiscard]] bool is_signed_integer(DType dtype);
[[nodiscard]] bool is_unsigned_integer(DType dtype);
[[nodiscard]] inline bool is_integer(DType d) {
  return category(d) == DTypeCategory::Integer;
}
[[nodiscard]] inline bool is_float(DType d) {
  return category(d) == DTypeCategory::Float;
}
[[nodiscard]] inline bool is_complex(DType d) {
  return category(d) == DTypeCategory::Complex;
}
[[nodiscard]] inline bool is_complex_integer(DType d) {
  return category(d) == DTypeCategory::ComplexInteger;
}
/// Floats and complex numbers.
[[nodiscard]] inline bool is_differentiable(DType d) {
  return is_float(d) || is_complex(d);
}
/// Whether an element is two of `part_of(d)`, the real part first: complex numbers and integers.
[[nodiscard]] inline bool is_pair(DType d) {
  return category(d) >= DTypeCategory::Complex;
}
/// The dtype of the parts of a pair; `d` itself of any other.
[[nodiscard]] DType part_of(DType d);
/// The pairs that have such parts: none of bool and of half types.
[[nodiscard]] std::optional<DType> pair_of(DType part);
/// The dtype two tensors are computed in: the category lattice bool < integer < float < complex;
/// mixed signedness widens, u64 with a signed integer gives f64, f16 with bf16 gives f32. Throws
/// DTypeError for complex integers and any other dtype.
[[nodiscard]] DType promote(DType a, DType b);
/// The largest finite value of a float dtype.
[[nodiscard]] double largest_finite(DType dtype);
/// Smallest and largest value of an integer dtype (bool: 0 and 1).
[[nodiscard]] int64_t min_integer(DType dtype);
[[nodiscard]] uint64_t max_integer(DType dtype);
/// The dtype a sum accumulates and returns: 64 bits for bool and integers, else `dtype`.
[[nodiscard]] DType sum_dtype(DType dtype);

inline std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name(dtype);
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::I16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::U8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::U16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::U32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::U64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
template <>
struct DTypeOf<std::complex<float>> {
  static constexpr DType value = DType::C64;
};
template <>
struct DTypeOf<std::complex<double>> {
  static constexpr DType value = DType::C128;
};
/// The dtype of a C++ element type.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace reprise
