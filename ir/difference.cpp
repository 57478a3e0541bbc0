// Compares elements bit by bit, NaNs as one value.
#include "ir/difference.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ir/scalar_interpreter.h"
#include "ir/text.h"

namespace reprise {

namespace {

uint64_t part_at(DType part, std::span<const std::byte> elements, size_t index) {
  const size_t width = size_of(part);
  uint64_t bits = 0;
  std::memcpy(&bits, elements.data() + index * width, width);
  return bits;
}

bool is_nan(DType part, uint64_t bits) {
  return is_float(part) && evaluate_bits(ScalarOp::Ne, DType::Bool, part, bits, bits) != 0;
}

}  // namespace

std::optional<size_t> first_difference(DType dtype, std::span<const std::byte> a,
                                       std::span<const std::byte> b) {
  REPRISE_ASSERT(a.size() == b.size());
  const DType part = part_of(dtype);
  const size_t width = size_of(part);
  for (size_t at = 0;;) {
    const auto found = std::mismatch(a.begin() + static_cast<ptrdiff_t>(at), a.end(),
                                     b.begin() + static_cast<ptrdiff_t>(at));
    if (found.first == a.end()) return std::nullopt;
    const size_t index = static_cast<size_t>(found.first - a.begin()) / width;
    if (!is_nan(part, part_at(part, a, index)) || !is_nan(part, part_at(part, b, index))) {
      return index * width / size_of(dtype);
    }
    at = (index + 1) * width;
  }
}

std::string element_text(DType dtype, std::span<const std::byte> elements, size_t index) {
  const DType part = part_of(dtype);
  const size_t parts = size_of(dtype) / size_of(part);
  std::string text;
  for (size_t i = 0; i < parts; ++i) {
    const uint64_t bits = part_at(part, elements, index * parts + i);
    std::string digits;
    for (size_t nibble = 2 * size_of(part); nibble-- > 0;) {
      digits += "0123456789abcdef"[bits >> (4 * nibble) & 15];
    }
    text += str(i > 0 ? ", " : "", print_element(bits, part), " (0x", digits, ")");
  }
  return text;
}

std::string difference(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return str(a.size(), " bytes against ", b.size());
  const std::optional<size_t> index = first_difference(dtype, a, b);
  if (!index) return {};
  return str("element ", *index, ": ", element_text(dtype, a, *index), " against ",
             element_text(dtype, b, *index));
}

}  // namespace reprise
