// Chooses vector axes, tiles and tasks from shapes and the target alone.
#include "compiler/schedule.h"

#include <optional>

#include "codegen/dot_units.h"
#include "codegen/index_ranges.h"

namespace reprise {
namespace {

using codegen::divide_up;
using codegen::product;

constexpr int64_t kLine = 64;                 // bytes
constexpr int64_t kPanelDepth = 256;          // of a packed panel: 16 KiB of 16 columns
constexpr int64_t kPackedRows = 256;          // rows of a task that packs
constexpr int64_t kStreams = 8;               // rows of a large factor that are read side by side
constexpr int64_t kStreamedBytes = 8 << 10;   // of such a row at least: prefetchers like long runs
constexpr int64_t kStreamedAhead = 1 << 10;   // of it are fetched before they are read
constexpr double kContractionTaskNs = 15000;  // shorter tasks are not worth handing over

/// Size of the widest element that a part computes with; index arithmetic does not count.
int widest_element(const Part& part) {
  size_t widest = 1;
  for (const Stage& stage : part.stages) {
    std::vector<int64_t> extents(part.grid.begin(), part.grid.end());
    extents.insert(extents.end(), stage.parallel.begin(), stage.parallel.end());
    extents.insert(extents.end(), stage.reduce.begin(), stage.reduce.end());
    for (const Body* body : {&stage.body, &stage.post}) {
      const std::vector<codegen::IndexRange> ranges = codegen::index_ranges(*body, extents);
      for (size_t i = 0; i < body->instrs.size(); ++i) {
        const Instr& instr = body->instrs[i];
        if (instr.op == ScalarOp::Index || instr.op == ScalarOp::CheckIndex) continue;
        // What follows a reduction is once per result: an argmax does not make its values wide.
        if (body == &stage.post && !is_float(instr.dtype)) continue;
        widest = std::max(widest, size_of(ranges[i].fits_i32() ? DType::I32 : instr.dtype));
      }
    }
  }
  return static_cast<int>(widest);
}

int largest_body(const Part& part) {
  double largest = 0;
  for (const Stage& stage : part.stages) {
    largest =
        std::max(largest, codegen::body_cost(stage.body, -1, 1) + codegen::reduction_cost(stage));
  }
  return static_cast<int>(largest);
}

/// Bytes of the local buffers that the part touches, for one grid point.
int64_t local_bytes(const Kernel& kernel, const Part& part) {
  std::vector<bool> seen(kernel.buffers.size());
  int64_t bytes = 0;
  for (const Stage& stage : part.stages) {
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Access& access : body->accesses) {
        const Buffer& buffer = kernel.buffers[access.buffer.index];
        if (buffer.kind != BufferKind::Local || seen[access.buffer.index]) continue;
        seen[access.buffer.index] = true;
        bytes += buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
      }
    }
  }
  return bytes;
}

/// Points per task so that a task is worth handing over and there are enough to balance threads.
int64_t points_per_task(double total_ns, int64_t points) {
  constexpr double kShortestTaskNs = 2000;
  constexpr double kLongestTaskNs = 20000;
  const double task_ns = std::clamp(total_ns / 8, kShortestTaskNs, kLongestTaskNs);
  if (total_ns <= task_ns) return std::max<int64_t>(points, 1);
  return std::max<int64_t>(1,
                           static_cast<int64_t>(static_cast<double>(points) * task_ns / total_ns));
}

/// A contraction stage and what the rules below ask about it. Factor B gives the vectors of a
/// register tile, along its columns; factor A the scalars, along its rows.
struct Contraction {
  Contraction(const Part& part, const Stage& stage, const TargetInfo& target)
      : part(part),
        stage(stage),
        target(target),
        grid_rank(static_cast<int>(part.grid.size())),
        loops(stage, grid_rank),
        units(stage, loops, target),
        bytes(static_cast<int64_t>(size_of(units.sum))),
        lanes(static_cast<int>(std::max<int64_t>(1, target.vector_bytes / bytes))),
        large(loops.depth * loops.columns * bytes > target.l2_bytes) {}

  [[nodiscard]] ScalarId a() const { return loops.scalar_root(stage.reductions[0]); }
  [[nodiscard]] ScalarId b() const { return loops.vector_root(stage.reductions[0]); }

  const Part& part;
  const Stage& stage;
  const TargetInfo& target;
  int grid_rank;
  codegen::ContractionLoops loops;
  codegen::DotUnits units;
  int64_t bytes;  ///< of a sum
  int lanes;      ///< of a vector of sums
  bool large;     ///< the cache does not hold B
};

/// The register tile: enough chains of multiply-adds to hide their latency, within the registers.
void choose_tile(ContractionSchedule& schedule, const Contraction& dot) {
  const codegen::ContractionLoops& loops = dot.loops;
  const TargetInfo& target = dot.target;
  const int lanes = dot.lanes;
  const bool many = target.vector_registers >= 32;
  const int64_t vectors_in_row = divide_up(std::max<int64_t>(loops.columns, 1), lanes);
  int height = many ? 8 : 6;
  int64_t vectors = 2;
  if (!target.numerics.fma) height = 4;  // products need registers of their own
  if (many && (loops.columns % (3 * lanes) == 0 || loops.columns > 8 * lanes)) vectors = 3;
  if (loops.rows < height) {
    // Few rows: wider instead.
    height = static_cast<int>(std::max<int64_t>(loops.rows, 1));
    const int64_t sums = many ? 24 : target.numerics.fma ? 12 : 8;
    vectors = std::clamp<int64_t>(sums / height, 1, 8);
  } else if (vectors_in_row == 1) {
    height = static_cast<int>(std::min<int64_t>(loops.rows, many ? 16 : 10));
  }
  schedule.mr = height;
  schedule.nr = static_cast<int>(std::min(vectors, vectors_in_row)) * lanes;
}

/// Whether a factor is more than a load at each step of the depth: it is then computed once, into a
/// packed panel.
bool is_computed(const Contraction& dot, ScalarId root) {
  const Body& body = dot.stage.body;
  const std::vector<bool> needed = codegen::needed_by(body, root);
  const std::vector<uint64_t> depends = codegen::dependences(body);
  const size_t first_reduce = static_cast<size_t>(dot.grid_rank) + dot.stage.parallel.size();
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool at_each = depends[i] >> first_reduce != 0;
    if (needed[i] && at_each && codegen::instr_cost(body.instrs[i]) > 0) return true;
  }
  return false;
}

/// Bytes between the first and the last element that a factor's loads read for one block of the
/// depth.
int64_t spread_along_depth(const Contraction& dot, ScalarId root) {
  const Stage& stage = dot.stage;
  const std::vector<bool> needed = codegen::needed_by(stage.body, root);
  const int innermost =
      dot.grid_rank + static_cast<int>(stage.parallel.size() + stage.reduce.size()) - 1;
  int64_t widest = 0;
  for (size_t i = 0; i < needed.size() && !stage.reduce.empty(); ++i) {
    const Instr& instr = stage.body.instrs[i];
    if (!needed[i] || instr.op != ScalarOp::Load) continue;
    const int64_t stride = codegen::coefficient(stage.body.accesses[instr.access].index, innermost);
    widest = std::max(widest, std::abs(stride) * static_cast<int64_t>(size_of(instr.dtype)));
  }
  return widest * std::min(kPanelDepth, stage.reduce.empty() ? 0 : stage.reduce.back());
}

/// B lies along the depth and one tile alone passes over it: not worth a copy, it is turned in
/// registers.
bool turns_b(const ContractionSchedule& schedule, const Contraction& dot) {
  return !dot.loops.direct && dot.loops.rows <= schedule.mr;
}

/// A tile takes no more than a line of each row of B, and the rows lie far apart: prefetchers have
/// nothing to run along, and such rows share few of the cache's sets. Worth a copy where many tiles
/// pass over it.
bool reads_lone_lines(const ContractionSchedule& schedule, const Contraction& dot) {
  return dot.loops.direct && schedule.nr * dot.bytes <= kLine &&
         dot.loops.rows >= 8 * schedule.mr &&
         spread_along_depth(dot, dot.b()) > 2 * dot.target.l1_bytes;
}

/// Whether B is copied into panels. What the cache holds is read in place, and what is computed
/// only for one tile is computed there.
bool packs_b(const ContractionSchedule& schedule, const Contraction& dot) {
  const codegen::ContractionLoops& loops = dot.loops;
  if (reads_lone_lines(schedule, dot)) return true;
  if (turns_b(schedule, dot) || loops.depth < dot.lanes) return false;
  const bool misses_on_every_row = dot.large && loops.rows >= 32;
  const bool recomputed = loops.rows > schedule.mr && is_computed(dot, dot.b());
  return !loops.direct || misses_on_every_row || recomputed;
}

/// Many panels pass over A, and deep enough for the copy to be read in long runs.
bool rereads_a(const ContractionSchedule& schedule, const Contraction& dot) {
  const codegen::ContractionLoops& loops = dot.loops;
  return loops.rows >= 32 && loops.columns >= 32 * schedule.nr &&
         (schedule.pack_b || (loops.scalars_direct && loops.depth >= 256));
}

/// Each step along the depth of A is another page: the cache's sets would not hold them.
bool leaps_along_a(const ContractionSchedule& schedule, const Contraction& dot) {
  const codegen::ContractionLoops& loops = dot.loops;
  return loops.scalars_direct && loops.rows >= 32 && loops.columns >= 4 * schedule.nr &&
         spread_along_depth(dot, dot.a()) >= dot.target.l2_bytes / 2;
}

/// Whether A is copied into panels; that of B is decided before.
bool packs_a(const ContractionSchedule& schedule, const Contraction& dot) {
  if (dot.loops.row < 0) return false;
  const bool recomputed = dot.loops.columns > schedule.nr && is_computed(dot, dot.a());
  return recomputed || rereads_a(schedule, dot) || leaps_along_a(schedule, dot);
}

/// A large B that is read in place comes from memory: few rows of it at a time.
bool streams_b(const ContractionSchedule& schedule, const Contraction& dot) {
  return dot.part.stages.size() == 1 && dot.large && dot.loops.direct &&
         dot.stage.reduce.size() == 1 && !schedule.pack_b && !schedule.pack_a;
}

/// Outer points that a row tile stays in the nearest cache for: as many as share it, their sums not
/// leaving the next cache where they wait for the rest of the depth.
int64_t choose_sweep(const ContractionSchedule& schedule, const Contraction& dot) {
  const codegen::ContractionLoops& loops = dot.loops;
  if (schedule.pack_b || !loops.repeats_scalars) return 1;
  const int64_t sums = std::max<int64_t>(1, loops.rows * loops.columns * dot.bytes);
  const int64_t fit = loops.depth > kPanelDepth ? dot.target.l2_bytes / 2 / sums : INT64_MAX;
  return std::clamp<int64_t>(product(loops.outer_extents), 1, std::max<int64_t>(1, fit));
}

/// Columns of a task when a row of register tiles is cut into so many, of whole tiles.
int64_t columns_of_one_in(int64_t tasks, const ContractionSchedule& schedule,
                          const Contraction& dot) {
  const int64_t tiles = divide_up(std::max<int64_t>(dot.loops.columns, 1), schedule.nr);
  return divide_up(tiles, std::min(tasks, tiles)) * schedule.nr;
}

/// How one contraction that is all of its part is cut into tasks.
void choose_tasks(PartSchedule& part, const Contraction& dot, bool streams, double total_ns) {
  const ContractionSchedule& schedule = part.contractions[0];
  const codegen::ContractionLoops& loops = dot.loops;
  const int64_t points = std::max<int64_t>(
      1, product(dot.part.grid) * divide_up(product(loops.outer_extents), schedule.sweep));
  const int64_t wanted =
      std::clamp<int64_t>(static_cast<int64_t>(total_ns / kContractionTaskNs), 1, 8);
  const int64_t each = divide_up(wanted, points);  // tasks of one point
  part.task_points = std::max<int64_t>(loops.rows, 1);
  if (schedule.pack_b || schedule.pack_a) {
    // Whoever packs a panel should use it for many rows.
    const int64_t row_tasks = divide_up(std::max<int64_t>(loops.rows, 1), kPackedRows);
    part.task_points = divide_up(loops.rows, row_tasks);
    const int64_t in_row = divide_up(each, row_tasks);
    if (in_row > 1) part.task_columns = columns_of_one_in(in_row, schedule, dot);
  } else if (streams) {
    // No more than leave each task long runs.
    const int64_t in_row = std::clamp<int64_t>(loops.columns * dot.bytes / kStreamedBytes, 1, each);
    part.task_columns = columns_of_one_in(in_row, schedule, dot);
  } else if (loops.rows >= each * schedule.mr * 2) {
    // Rows suffice, whole tiles of them.
    part.task_points = divide_up(divide_up(loops.rows, each), schedule.mr) * schedule.mr;
  } else if (each > 1) {
    part.task_columns = columns_of_one_in(each, schedule, dot);
  }
}

ContractionSchedule schedule_contraction(const Contraction& dot) {
  ContractionSchedule schedule;
  choose_tile(schedule, dot);
  const int group = dot.units.group;
  if (group > 1) {
    schedule.pack_b = schedule.pack_a = true;  // nothing lies in memory as units do
  } else {
    if (turns_b(schedule, dot)) schedule.nr = dot.lanes;
    schedule.pack_b = packs_b(schedule, dot);
    schedule.pack_a = packs_a(schedule, dot);
  }
  const bool packs = schedule.pack_b || schedule.pack_a;
  schedule.sweep = choose_sweep(schedule, dot);
  if ((packs || schedule.sweep > 1) && dot.loops.depth > kPanelDepth * group) {
    schedule.kc = kPanelDepth * group;
  }
  if (streams_b(schedule, dot)) {
    schedule.kc = kStreams;
    schedule.sweep = 1;  // the sums of all that it passes over would wait
    schedule.nr = std::min(schedule.nr, 2 * dot.lanes);
    schedule.ahead = divide_up(kStreamedAhead, schedule.nr * dot.bytes);
  }
  return schedule;
}

/// Of a part with contractions: lanes fit the first one's sums.
std::optional<PartSchedule> schedule_contractions(const Part& part, const TargetInfo& target) {
  PartSchedule schedule;
  schedule.vector_axis = VectorAxis::Loop;
  schedule.unroll = 2;
  std::optional<Contraction> first;
  for (const Stage& stage : part.stages) {
    if (stage.kind != StageKind::Contraction) continue;
    const Contraction dot(part, stage, target);
    if (!first) first.emplace(dot);
    schedule.contractions.push_back(schedule_contraction(dot));
  }
  if (!first) return std::nullopt;
  schedule.vector_lanes = first->lanes;
  const double total_ns = codegen::estimate_ns(part, schedule, target);
  if (part.stages.size() > 1) {
    schedule.task_points = points_per_task(total_ns, product(part.grid));
  } else {
    choose_tasks(schedule, *first, streams_b(schedule.contractions[0], *first), total_ns);
  }
  return schedule;
}

/// Cost of a body so short that its loop waits for memory.
constexpr int kLightBody = 16;

/// Whether what the part stores would wash out the last cache, is not read again here, and comes as
/// fast as memory takes it: stores past the caches hold up arithmetic that ordinary ones overlap
/// with (on a Zen 5, 24 multiply-adds for each vector copied, 16M floats: 12.4 ms against 7.6;
/// none: 2.4 against 3.2).
bool should_stream(const Kernel& kernel, const Part& part, const TargetInfo& target) {
  if (largest_body(part) > kLightBody) return false;
  std::vector<bool> stored(kernel.buffers.size()), loaded(kernel.buffers.size());
  const auto note = [&](const Part& other, ScalarOp op, std::vector<bool>& seen) {
    for (const Stage& stage : other.stages) {
      for (const Body* body : {&stage.body, &stage.post}) {
        for (const Instr& instr : body->instrs) {
          if (instr.op == op) seen[body->accesses[instr.access].buffer.index] = true;
        }
      }
    }
  };
  note(part, ScalarOp::Store, stored);
  for (const Phase& phase : kernel.phases) {
    for (const Part& other : phase.parts) note(other, ScalarOp::Load, loaded);
  }
  int64_t bytes = 0;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    if (buffer.kind != BufferKind::Output || !stored[i]) continue;
    if (loaded[i]) return false;
    bytes += buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
  }
  return bytes > target.l3_bytes;
}

PartSchedule schedule_part(const Kernel& kernel, const Part& part, const TargetInfo& target) {
  const int64_t points = product(part.grid);
  if (const auto contraction = schedule_contractions(part, target)) return *contraction;

  const int lanes = std::max(1, target.vector_bytes / widest_element(part));
  const int body = largest_body(part);
  PartSchedule scalar;
  PartSchedule best = scalar;
  double best_ns = codegen::estimate_ns(part, scalar, target);
  for (const VectorAxis axis : {VectorAxis::Grid, VectorAxis::Loop}) {
    PartSchedule candidate;
    candidate.vector_axis = axis;
    candidate.vector_lanes = lanes;
    if (lanes == 1) continue;
    if (axis == VectorAxis::Grid) {
      if (part.grid.empty() || part.grid.back() < 2) continue;
      const int64_t inner = codegen::lane_extent(part.grid, lanes);
      int unroll = body <= kLightBody ? 4 : body <= 80 ? 2 : 1;
      // Short rows: no more vectors in flight than a row has, evenly.
      while (unroll > 1 &&
             (inner < int64_t{lanes} * unroll ||
              (inner < int64_t{8} * lanes * unroll && inner % (int64_t{lanes} * unroll) != 0 &&
               inner % (int64_t{lanes} * (unroll / 2)) == 0))) {
        unroll /= 2;
      }
      candidate.unroll = unroll;
      if (local_bytes(kernel, part) * lanes * unroll > target.l1_bytes / 2) continue;
    } else {
      candidate.unroll = body <= 8 ? 8 : body <= 24 ? 4 : body <= 80 ? 2 : 1;
      candidate.unroll = std::min(candidate.unroll, std::max(1, kReducePartials / lanes));
    }
    const double ns = codegen::estimate_ns(part, candidate, target);
    if (ns < best_ns) {
      best = candidate;
      best_ns = ns;
    }
  }
  best.task_points = points_per_task(best_ns, points);
  best.streaming_stores = best.vector_lanes > 1 && should_stream(kernel, part, target);
  return best;
}

}  // namespace

Schedule choose_schedule(const Kernel& kernel, const TargetInfo& target) {
  Schedule schedule;
  for (const Phase& phase : kernel.phases) {
    std::vector<PartSchedule> parts;
    parts.reserve(phase.parts.size());
    for (const Part& part : phase.parts) parts.push_back(schedule_part(kernel, part, target));
    schedule.phases.push_back(std::move(parts));
  }
  return schedule;
}

}  // namespace reprise
