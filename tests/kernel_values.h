// Values for the buffers of kernels under test, and how two elements compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "ir/dtype.h"

namespace reprise {

struct KernelValues {
  /// Values of integer inputs that are used as indices: in [-bound, bound); 0: any bits.
  int64_t index_bound = 0;
  /// Floats near 1 only: for sums whose value is looked at.
  bool plain = false;
};

/// `extent` elements at `data`, special values among them.
void fill_elements(std::byte* data, DType dtype, int64_t extent, std::mt19937_64& random,
                   const KernelValues& values);
/// The same bits, or both NaN.
[[nodiscard]] bool same_element(DType dtype, const std::byte* a, const std::byte* b);
[[nodiscard]] std::string element_text(DType dtype, const std::byte* at);

}  // namespace reprise
