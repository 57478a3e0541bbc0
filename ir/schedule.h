// How fast, never what: tile sizes, vector widths and micro-kernel shapes beside a kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

enum class VectorAxis : uint8_t {
  None,  ///< scalar code
  Grid,  ///< lanes are consecutive points of the innermost grid axis
  Loop,  ///< lanes are consecutive values of each stage's innermost loop
};

/// For one contraction stage.
struct ContractionSchedule {
  int mr = 0, nr = 0;  ///< register tile, rows x columns of C
  int64_t kc = 0;      ///< depth of a packed panel; 0: all of k
  bool pack_a = false, pack_b = false;
  int64_t sweep = 1;  ///< outer points that a row tile passes over before the next tile does
  int64_t ahead = 0;  ///< panels by which a B that is read in place is fetched ahead
  friend bool operator==(const ContractionSchedule&, const ContractionSchedule&) = default;
};

/// For one part of a kernel.
struct PartSchedule {
  VectorAxis vector_axis = VectorAxis::None;
  int vector_lanes = 1;
  int unroll = 1;                 ///< vectors in flight
  int64_t task_points = 1;        ///< grid points (contractions: rows of C) of one task
  int64_t task_columns = 0;       ///< contractions: columns of C of one task; 0: all
  bool streaming_stores = false;  ///< outputs bypass the caches
  std::vector<ContractionSchedule> contractions =
      {};  ///< of its contraction stages, in their order
  friend bool operator==(const PartSchedule&, const PartSchedule&) = default;
};

struct Schedule {
  std::vector<std::vector<PartSchedule>> phases;  ///< parallel to Kernel::phases[i].parts
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

struct Kernel;
/// Throws InternalError naming the rule (S01, ...) and the part: whether the schedule can be
/// applied to the kernel at all. Any schedule that can gives the same bits.
void verify(const Schedule& schedule, const Kernel& kernel);

[[nodiscard]] std::string print(const Schedule& schedule);
[[nodiscard]] Schedule parse_schedule(std::string_view text);

}  // namespace reprise
