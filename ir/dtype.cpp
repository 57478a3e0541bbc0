// Tables of the element types and the promotion lattice.
#include "ir/dtype.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ir/error.h"

namespace reprise {
namespace {

struct Row {
  std::string_view name;
  uint8_t size;
  DTypeCategory category;
};

constexpr std::array<Row, kNumDTypes> kRows = {{
    {"bool", 1, DTypeCategory::Bool},
    {"i8", 1, DTypeCategory::Integer},
    {"i16", 2, DTypeCategory::Integer},
    {"i32", 4, DTypeCategory::Integer},
    {"i64", 8, DTypeCategory::Integer},
    {"u8", 1, DTypeCategory::Integer},
    {"u16", 2, DTypeCategory::Integer},
    {"u32", 4, DTypeCategory::Integer},
    {"u64", 8, DTypeCategory::Integer},
    {"f16", 2, DTypeCategory::Float},
    {"bf16", 2, DTypeCategory::Float},
    {"f32", 4, DTypeCategory::Float},
    {"f64", 8, DTypeCategory::Float},
    {"c64", 8, DTypeCategory::Complex},
    {"c128", 16, DTypeCategory::Complex},
    {"ci8", 2, DTypeCategory::ComplexInteger},
    {"ci16", 4, DTypeCategory::ComplexInteger},
    {"ci32", 8, DTypeCategory::ComplexInteger},
    {"ci64", 16, DTypeCategory::ComplexInteger},
    {"cu8", 2, DTypeCategory::ComplexInteger},
    {"cu16", 4, DTypeCategory::ComplexInteger},
    {"cu32", 8, DTypeCategory::ComplexInteger},
    {"cu64", 16, DTypeCategory::ComplexInteger},
}};

constexpr const Row& row(DType dtype) {
  return kRows[static_cast<size_t>(dtype)];
}

/// The signed integer of `bytes` bytes.
constexpr DType signed_of(size_t bytes) {
  return bytes == 1 ? DType::I8 : bytes == 2 ? DType::I16 : bytes == 4 ? DType::I32 : DType::I64;
}

DType promote_integers(DType a, DType b) {
  if (is_signed_integer(a) == is_signed_integer(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType with_sign = is_signed_integer(a) ? a : b;
  const DType without = is_signed_integer(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  // The next wider signed type holds both; there is none past u64.
  if (without == DType::U64) return DType::F64;
  return signed_of(2 * size_of(without));
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::F32;  // f16 with bf16: neither holds the other
}

}  // namespace

std::string_view name(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kRows[static_cast<size_t>(i)].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

size_t size_of(DType dtype) {
  return row(dtype).size;
}

DTypeCategory category(DType dtype) {
  return row(dtype).category;
}

bool is_signed_integer(DType dtype) {
  return dtype >= DType::I8 && dtype <= DType::I64;
}

bool is_unsigned_integer(DType dtype) {
  return dtype >= DType::U8 && dtype <= DType::U64;
}

DType part_of(DType d) {
  if (is_complex(d)) return d == DType::C64 ? DType::F32 : DType::F64;
  if (!is_complex_integer(d)) return d;
  // Both rows of integers stand in one order.
  return static_cast<DType>(static_cast<int>(DType::I8) + static_cast<int>(d) -
                            static_cast<int>(DType::CI8));
}

std::optional<DType> pair_of(DType part) {
  for (int i = static_cast<int>(DType::C64); i < kNumDTypes; ++i) {
    if (part_of(static_cast<DType>(i)) == part) return static_cast<DType>(i);
  }
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_complex_integer(a) || is_complex_integer(b)) {
    throw DTypeError(str("nothing is computed in ", is_complex_integer(a) ? a : b, " beside ",
                         is_complex_integer(a) ? b : a, "; cast it to c64 or c128"));
  }
  if (category(a) != category(b)) {
    const DType high = category(a) > category(b) ? a : b;
    const DType low = category(a) > category(b) ? b : a;
    // A complex number keeps the precision of the float it meets.
    return high == DType::C64 && low == DType::F64 ? DType::C128 : high;
  }
  switch (category(a)) {
    case DTypeCategory::Bool:
      return DType::Bool;
    case DTypeCategory::Integer:
      return promote_integers(a, b);
    case DTypeCategory::Float:
      return promote_floats(a, b);
    case DTypeCategory::Complex:
      return DType::C128;
    case DTypeCategory::ComplexInteger:
      break;
  }
  return a;
}

double largest_finite(DType dtype) {
  REPRISE_ASSERT(is_float(dtype));
  if (dtype == DType::F16) return 65504;
  if (dtype == DType::BF16) return 0x1.fep127;
  return dtype == DType::F32 ? std::numeric_limits<float>::max()
                             : std::numeric_limits<double>::max();
}

int64_t min_integer(DType dtype) {
  if (!is_signed_integer(dtype)) return 0;
  return static_cast<int64_t>(~uint64_t{0} << (8 * size_of(dtype) - 1));
}

uint64_t max_integer(DType dtype) {
  if (dtype == DType::Bool) return 1;
  const int sign_bits = is_signed_integer(dtype) ? 1 : 0;
  return ~uint64_t{0} >> (64 - 8 * static_cast<int>(size_of(dtype)) + sign_bits);
}

DType sum_dtype(DType dtype) {
  if (is_unsigned_integer(dtype)) return DType::U64;
  if (is_signed_integer(dtype) || dtype == DType::Bool) return DType::I64;
  return dtype;
}

}  // namespace reprise
