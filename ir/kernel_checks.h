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

/// A computed offset that is a checked index times a constant: one more axis of an access.
struct ComputedAxis {
  int64_t step = 0;    ///< elements
  int64_t extent = 0;  ///< what the index is checked against
  friend bool operator==(const ComputedAxis&, const ComputedAxis&) = default;
};
[[nodiscard]] std::optional<ComputedAxis> computed_axis(const Body& body, ScalarId offset);

/// An access of a sequence as a loop nest of its own: reduce loops that do not move it left out, a
/// computed offset as the last axis. None where the offset is no checked index times a constant.
struct SequenceAccess {
  Affine index;
  std::vector<int64_t> extents;
};
/// `scope`: extents of the variables, of which those from `outer` on are the reduce loops.
[[nodiscard]] std::optional<SequenceAccess> sequence_access(const Body& body, const Access& access,
                                                            std::span<const int64_t> scope,
                                                            size_t outer);

/// Why the dtypes of an instruction do not fit together; empty when they do.
[[nodiscard]] std::string dtype_error(const Body& body, const Instr& instr);

/// Why a value of dtype `value` cannot go into this reduction; empty when it can.
[[nodiscard]] std::string reduction_error(const Reduction& reduction, DType value);

/// Which variables a value depends on, through loads, indices and computed offsets.
[[nodiscard]] std::vector<bool> variables_of(const Body& body, ScalarId value);

/// Rules about who may touch what: K12, K14, K18. Starts with the rule; empty when all hold.
[[nodiscard]] std::string ownership_error(const Kernel& kernel);

}  // namespace reprise
