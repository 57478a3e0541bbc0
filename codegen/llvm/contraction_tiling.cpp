// How a contraction's loops become register tiles, panels, blocks of the depth and tasks.
#include <numeric>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

ContractionTiling::ContractionTiling(const Stage& stage, int grid_rank, const PartSchedule& part,
                                     const ContractionSchedule& schedule, const TargetInfo& target)
    : ContractionLoops(stage, grid_rank), units(stage, *this, target) {
  lanes = column < 0 ? 1 : std::max(1, part.vector_lanes);

  // Rows: as many tall tiles as possible, the rest as tiles that are not much lower.
  tall = static_cast<int>(std::clamp<int64_t>(rows, 1, std::max(1, schedule.mr)));
  tall_count = rows / tall;
  const int64_t rest = rows % tall;
  if (rest != 0) {
    low = static_cast<int>(rest);
    low_count = 1;
    // 6 6 2 does better as 5 5 4: one tile less at full height makes two or three nearly full.
    for (int height = tall - 1; height > rest && low_count == 1; --height) {
      for (int64_t count = 1; count * height <= rows && count <= tall; ++count) {
        if ((rows - count * height) % tall != 0) continue;
        low = height;
        low_count = count;
        tall_count = (rows - count * height) / tall;
        break;
      }
      if (low == height) break;
    }
  }
  panel = lanes == 1 ? 1 : std::max<int64_t>(lanes, schedule.nr / lanes * lanes);
  panel_count = columns / panel;
  panel_rest = columns % panel;

  pack_scalars = schedule.pack_a || units.group > 1;
  pack_vectors = schedule.pack_b || units.group > 1;
  block = std::max<int64_t>(depth, 1);
  if (schedule.kc > 0 && schedule.kc < depth) {
    // Whole iterations of the outermost loop; of the only one, multiples of what is unrolled.
    const int64_t outermost = stage.reduce.size() == 1 ? 4 : depth / stage.reduce[0];
    const int64_t inner = std::lcm(outermost, int64_t{units.group});
    block_count = divide_up(depth, std::max<int64_t>(schedule.kc, inner));
    block = divide_up(divide_up(depth, block_count), inner) * inner;
    block_count = divide_up(depth, block);
  }
  const bool can_sweep = !pack_vectors && repeats_scalars;
  sweep =
      can_sweep ? std::clamp<int64_t>(schedule.sweep, 1, std::max<int64_t>(1, outer_count())) : 1;
  ahead = pack_vectors || !direct ? 0 : schedule.ahead;
  task_tiles =
      std::clamp<int64_t>(divide_up(part.task_points, tall), 1, std::max<int64_t>(1, row_tiles()));
  task_panels = part.task_columns <= 0 ? std::max<int64_t>(1, panels())
                                       : std::clamp<int64_t>(divide_up(part.task_columns, panel), 1,
                                                             std::max<int64_t>(1, panels()));
}

}  // namespace reprise::codegen
