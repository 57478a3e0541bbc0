// Blocks: the points of a part cut along one axis of what its stages hand to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "passes/lower_draft.h"

namespace reprise {

/// How much larger than what products read the values between them must be where there is no batch:
/// a launch of its own packs a factor once for many more rows than a block has.
inline constexpr int64_t kBatchGain = 4;

/// Bytes of a matrix that is small beside what a layer keeps for its gradient: it is not made again.
inline constexpr int64_t kSmallMatrix = 1 << 16;
/// Points of a grid that are enough to share among threads.
inline constexpr int64_t kEnoughPoints = 16;

/// An axis along which every stage of a part can run block by block: what a block reads of the
/// values that the stages hand to each other, it has written itself.
struct BlockAxis {
  int64_t extent = 0;
  std::vector<size_t> loops;   ///< per stage: its parallel loop along the axis
  std::vector<int64_t> steps;  ///< per buffer: elements from one place of the axis to the next; 0:
                               ///< not handed on
};

/// Finds such an axis for the draft's only part, one that is worth it: long enough to leave many
/// points, what is handed on larger than what every block reads anew. Splits loops that run over
/// more than the axis. `whole_steps`: by buffer, the step of the axis that everyone who reads the
/// value reduces it along, or 0: made in blocks of it, the value would have to be stored.
[[nodiscard]] std::optional<BlockAxis> find_blocks(KernelDraft& draft,
                                                   std::span<const int64_t> whole_steps);

/// Makes blocks of the axis points of the grid, as many places in each as `cache_bytes` suggest.
/// Places that are left over become a phase of their own: they store the same buffers. What is
/// handed on lies in locals of a block; `is_internal` says, by buffer, whether nobody else reads
/// it.
void cut_into_blocks(KernelDraft& draft, const BlockAxis& axis,
                     const std::vector<bool>& is_internal, int64_t cache_bytes);

}  // namespace reprise
