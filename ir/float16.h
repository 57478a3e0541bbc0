// Conversions between the 16-bit float formats and the wide ones, bit by bit.
#pragma once

#include <bit>
#include <cstdint>

namespace reprise {

/// Rounds a finite or infinite value once, to nearest even, to a float of `kExponent` and
/// `kMantissa` bits; overflow gives infinity, NaN stays NaN (quiet, sign and leading payload kept).
/// Works on the double's bits because f64 -> f32 -> f16 would round twice.
template <int kExponent, int kMantissa>
[[nodiscard]] constexpr uint16_t round_to_16bit(double value) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr uint16_t kInfinity = static_cast<uint16_t>(((1u << kExponent) - 1) << kMantissa);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    if (fraction == 0) return sign | kInfinity;
    const uint16_t payload = static_cast<uint16_t>(fraction >> (52 - kMantissa));
    return sign | kInfinity | (1u << (kMantissa - 1)) | payload;
  }
  if (exponent == 0) return sign;  // far below half of the smallest denormal
  const int target = exponent - 1023 + kBias;
  if (target >= (1 << kExponent) - 1) return sign | kInfinity;
  // Bits of the 53-bit significand that fall away; denormal results lose more.
  const int drop = 52 - kMantissa + (target < 1 ? 1 - target : 0);
  if (drop > 53) return sign;
  const uint64_t significand = fraction | uint64_t{1} << 52;
  const uint64_t kept = significand >> drop;
  const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
  const uint64_t half = uint64_t{1} << (drop - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  // The implicit bit carries into the exponent field: a normal's is one too high without the -1,
  // and rounding up past the largest significand lands on the next exponent, at last on infinity.
  const uint64_t magnitude =
      kept + (up ? 1 : 0) + (target < 1 ? 0 : static_cast<uint64_t>(target - 1) << kMantissa);
  return sign | static_cast<uint16_t>(magnitude);
}

[[nodiscard]] constexpr uint16_t f16_from_double(double value) {
  return round_to_16bit<5, 10>(value);
}
[[nodiscard]] constexpr uint16_t bf16_from_double(double value) {
  return round_to_16bit<8, 7>(value);
}
// A float is a double exactly, so rounding it from there is the same single rounding. A NaN's bits
// are rebuilt by hand: the widening conversion would be allowed to change them.
[[nodiscard]] constexpr double widen_exactly(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) <= 0x7f800000) return value;
  return std::bit_cast<double>(static_cast<uint64_t>(bits & 0x80000000) << 32 |
                               uint64_t{0x7ff} << 52 |
                               static_cast<uint64_t>(bits & 0x7fffff) << 29);
}
[[nodiscard]] constexpr uint16_t f16_from_float(float value) {
  return f16_from_double(widen_exactly(value));
}
[[nodiscard]] constexpr uint16_t bf16_from_float(float value) {
  return bf16_from_double(widen_exactly(value));
}

[[nodiscard]] constexpr float float_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
[[nodiscard]] constexpr float float_from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace reprise
