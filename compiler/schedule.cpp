// Chooses vector axes, tiles and tasks from shapes and the target alone.
#include "compiler/schedule.h"

#include "codegen/analysis.h"

namespace reprise {
namespace {

using codegen::divide_up;
using codegen::product;

/// Size of the widest element that a part computes with; index arithmetic does not count.
int widest_element(const Part& part) {
  size_t widest = 1;
  for (const Stage& stage : part.stages) {
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Instr& instr : body->instrs) {
        if (instr.op == ScalarOp::Index || instr.op == ScalarOp::CheckIndex) continue;
        widest = std::max(widest, size_of(instr.dtype));
      }
    }
  }
  return static_cast<int>(widest);
}

int largest_body(const Part& part) {
  double largest = 0;
  for (const Stage& stage : part.stages) {
    largest = std::max(largest, codegen::body_cost(stage.body, -1, 1));
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

PartSchedule schedule_contraction(const Part& part, const Stage& stage, const TargetInfo& target) {
  PartSchedule schedule;
  const codegen::ContractionLoops loops(stage, static_cast<int>(part.grid.size()));
  const Reduction& dot = stage.reductions[0];
  const int lanes = std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(dot.dtype)));
  schedule.vector_axis = VectorAxis::Loop;
  schedule.vector_lanes = lanes;
  schedule.unroll = 2;
  if (target.vector_registers >= 32) {
    schedule.mr = 8;
    schedule.nr = (loops.columns % (3 * lanes) == 0 || loops.columns > 8 * lanes ? 3 : 2) * lanes;
  } else if (target.numerics.fma) {
    schedule.mr = 6;
    schedule.nr = 2 * lanes;
  } else {
    schedule.mr = 4;
    schedule.nr = 2 * lanes;
  }
  return schedule;
}

PartSchedule schedule_part(const Kernel& kernel, const Part& part, const TargetInfo& target) {
  const int64_t points = product(part.grid);
  for (const Stage& stage : part.stages) {
    if (stage.kind != StageKind::Contraction) continue;
    PartSchedule schedule = schedule_contraction(part, stage, target);
    const double total = codegen::estimate_ns(part, schedule, target);
    if (part.stages.size() == 1) {
      const codegen::ContractionLoops loops(stage, static_cast<int>(part.grid.size()));
      const int64_t rows = points * product(loops.outer_extents) * loops.rows;
      schedule.task_points =
          std::min(points_per_task(total, rows), std::max<int64_t>(1, loops.rows));
    } else {
      schedule.task_points = points_per_task(total, points);
    }
    return schedule;
  }

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
      const int64_t inner = part.grid.back();
      int unroll = body <= 16 ? 4 : body <= 80 ? 2 : 1;
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
  return best;
}

}  // namespace

Schedule choose_schedule(const Kernel& kernel, const TargetInfo& target) {
  Schedule schedule;
  for (const Phase& phase : kernel.phases) {
    std::vector<PartSchedule> parts;
    for (const Part& part : phase.parts) parts.push_back(schedule_part(kernel, part, target));
    schedule.phases.push_back(std::move(parts));
  }
  return schedule;
}

}  // namespace reprise
