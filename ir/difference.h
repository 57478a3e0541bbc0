// Where two computations of one value part; all NaNs are equal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "ir/dtype.h"

namespace reprise {

/// The first element, in row-major order, whose bits differ; NaNs of any payload are equal, in
/// either part of a complex number too. Both hold packed elements of `dtype`, as many.
[[nodiscard]] std::optional<size_t> first_difference(DType dtype, std::span<const std::byte> a,
                                                     std::span<const std::byte> b);
/// Value and bits of one element: "1.5 (0x3fc00000)".
[[nodiscard]] std::string element_text(DType dtype, std::span<const std::byte> elements,
                                       size_t index);
/// Empty when there is no difference, else "element 3: 1.5 (0x3fc00000) against 2 (0x40000000)".
[[nodiscard]] std::string difference(DType dtype, std::span<const std::byte> a,
                                     std::span<const std::byte> b);

}  // namespace reprise
