// The questions behind the kernel verifier's rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace reprise {

struct Interval {
  int64_t low = 0, high = 0;  ///< both included
};

/// Values of an affine form over a loop nest; none when the nest is empty. Clamped to 64 bits.
[[nodiscard]] std::optional<Interval> affine_range(const Affine& affine,
                                                   std::span<const int64_t> extents);

/// Whether two different points of the nest give different values; variables before `first` are
/// not looked at. False for what mixed radices and, in small nests, a search cannot show.
[[nodiscard]] bool is_injective(const Affine& affine, std::span<const int64_t> extents,
                                size_t first);

/// Why the dtypes of an instruction do not fit together; empty when they do.
[[nodiscard]] std::string dtype_error(const Body& body, const Instr& instr);

/// Why a value of dtype `value` cannot go into this reduction; empty when it can.
[[nodiscard]] std::string reduction_error(const Reduction& reduction, DType value);

/// Which variables a value depends on, through loads, indices and computed offsets.
[[nodiscard]] std::vector<bool> variables_of(const Body& body, ScalarId value);

/// Rules about who may touch what: K12, K14, K18. Starts with the rule; empty when all hold.
[[nodiscard]] std::string ownership_error(const Kernel& kernel);

}  // namespace reprise
