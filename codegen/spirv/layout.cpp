// Chooses a mapping for each part from its shapes and the target's limits alone.
#include "codegen/spirv/layout.h"

#include <algorithm>

#include "codegen/dot_units.h"
#include "ir/error.h"

namespace reprise::spirv {

using codegen::coefficient;
using codegen::divide_up;
using codegen::product;

namespace {

/// A grid point with no more work than this is left to one invocation: a workgroup would idle.
constexpr int64_t kSerialWork = 16;
/// What each invocation may hold of its own point's local buffers.
constexpr int64_t kPrivateBytes = 256;
/// Points that keep a device busy with one invocation each.
constexpr int64_t kManyPoints = 4096;
/// Device memory for local buffers that fit no workgroup, and the groups that share it.
constexpr int64_t kScratchBytes = 64 << 20;
constexpr int64_t kScratchGroups = 1024;

int64_t work_of(const Stage& stage) {
  return product(stage.parallel) * std::max<int64_t>(1, product(stage.reduce));
}

/// Whether neighbouring points read neighbouring elements and the reduction strides: then one
/// invocation a point reads whole lines, and a workgroup a point would not.
bool is_column_fold(const Part& part) {
  if (part.stages.size() != 1 || part.grid.empty()) return false;
  const Stage& stage = part.stages[0];
  if (stage.reduce.empty() || stage.kind != StageKind::Loop) return false;
  const int inner = static_cast<int>(part.grid.size()) - 1;
  const int last = static_cast<int>(part.grid.size() + stage.reduce.size()) - 1;
  bool any = false;
  for (const Instr& instr : stage.body.instrs) {
    if (instr.op != ScalarOp::Load) continue;
    const Affine& index = stage.body.accesses[instr.access].index;
    if (coefficient(index, inner) == 1 && coefficient(index, last) > 1) any = true;
    if (coefficient(index, inner) > 1 && coefficient(index, last) == 1) return false;
  }
  return any;
}

std::vector<uint32_t> locals_of(const Kernel& kernel, const Part& part) {
  std::vector<bool> used(kernel.buffers.size());
  for (const Stage& stage : part.stages) {
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Access& access : body->accesses) used[access.buffer.index] = true;
    }
  }
  std::vector<uint32_t> result;
  for (uint32_t b = 0; b < used.size(); ++b) {
    if (used[b] && kernel.buffers[b].kind == BufferKind::Local) result.push_back(b);
  }
  return result;
}

/// A lone stage's parallel loops are as unordered as the grid.
Part with_flat_grid(const Part& part) {
  Part result = part;
  if (part.stages.size() != 1 || part.stages[0].kind == StageKind::Contraction) return result;
  Stage& stage = result.stages[0];
  result.grid.insert(result.grid.end(), stage.parallel.begin(), stage.parallel.end());
  stage.parallel.clear();
  return result;
}

/// Whether no sum of `depth` products overflows: then it is exact in any order, by what both
/// extensions say of integers.
bool is_exact(const MatrixShape& shape, int64_t depth) {
  const int64_t factor = shape.factors == DType::I8 ? 128 : 255;
  return depth <= (shape.sums == DType::I32 ? INT32_MAX : UINT32_MAX) / (factor * factor);
}

/// Whether a tile and its blocks divide into such matrices, each at whole quads, and the subgroups
/// share them evenly.
bool divides_tile(const MatrixShape& shape, int subgroup) {
  const auto divides = [](int part, int whole) { return part > 0 && whole % part == 0; };
  const int bytes = shape.k * static_cast<int>(size_of(shape.factors));
  const int fragments = (kTile / std::max(1, shape.m)) * (kTile / std::max(1, shape.n));
  return divides(shape.m, kTile) && divides(shape.n, kTile) && shape.n % 4 == 0 &&
         divides(bytes, kMatrixLine) && bytes % 16 == 0 && divides(subgroup, kGroupInvocations) &&
         divides(kGroupInvocations / subgroup, fragments) && divides(subgroup, shape.m * shape.n);
}

std::optional<MatrixPlan> matrix_plan(const Stage& stage, const codegen::ContractionLoops& loops,
                                      const TargetInfo& target) {
  const MatrixInfo& has = target.shader.matrices;
  if (has.form == MatrixForm::None) return std::nullopt;
  const Reduction& dot = stage.reductions[0];
  const bool integers = is_integer(dot.dtype) && size_of(dot.dtype) <= 4;
  const bool floats = dot.dtype == DType::F32 && target.numerics.matrix_f16;
  if (!integers && !floats) return std::nullopt;
  const auto source = [&](ScalarId root) {
    if (integers) return codegen::narrow_source(stage.body, root);
    const Instr& instr = stage.body[root];
    return instr.op == ScalarOp::Cast ? instr.args[0] : root;
  };
  MatrixPlan plan;
  plan.scalars = source(loops.scalar_root(dot));
  plan.vectors = source(loops.vector_root(dot));
  const DType factors = stage.body[plan.scalars].dtype;
  if (stage.body[plan.vectors].dtype != factors) return std::nullopt;
  for (const MatrixShape& shape : has.shapes) {
    const bool fits = shape.factors == factors && (shape.sums == DType::F32) == floats &&
                      (floats || is_exact(shape, loops.depth));
    if (!fits || !divides_tile(shape, has.subgroup)) continue;
    plan.shape = shape;
    plan.fragments = kTile * kTile / (shape.m * shape.n) / (kGroupInvocations / has.subgroup);
    return plan;
  }
  return std::nullopt;
}

class Planner {
 public:
  Planner(const Kernel& kernel, const TargetInfo& target, SharedWords used)
      : kernel_(kernel), target_(target), used_(used) {}

  PartPlan plan(const Part& part) {
    PartPlan result;
    result.part = with_flat_grid(part);
    result.homes.assign(kernel_.buffers.size(), Home{});
    if (!tiles(result)) {
      const std::vector<uint32_t> locals = locals_of(kernel_, result.part);
      result.points = product(result.part.grid);
      if (fits_one_invocation(result, locals)) {
        for (const uint32_t b : locals) result.homes[b].kind = Home::Kind::Private;
        result.mapping = Mapping::Points;
        result.tasks = divide_up(result.points, kGroupInvocations);
      } else {
        rows(result, locals);
      }
    }
    const auto check = [](int64_t count, std::string_view what) {
      if (count > INT32_MAX) {
        throw UnsupportedError(str(count, " ", what, ", the most is ", INT32_MAX));
      }
    };
    check(result.tasks, "workgroups of one part");
    if (result.mapping != Mapping::Points) check(result.points, "grid points with loops");
    for (const Stage& stage : result.part.stages) {
      check(product(stage.parallel), "points of a stage's parallel loops");
      check(product(stage.reduce), "elements of one reduction");
    }
    return result;
  }

 private:
  [[nodiscard]] bool fits(const SharedWords& shared) const {
    SharedWords all = used_;
    all.join(shared);
    return all.bytes() <= target_.shader.shared_bytes;
  }

  bool tiles(PartPlan& plan) {
    if (plan.part.stages.size() != 1) return false;
    const Stage& stage = plan.part.stages[0];
    if (stage.kind != StageKind::Contraction) return false;
    const codegen::ContractionLoops loops(stage, static_cast<int>(plan.part.grid.size()));
    SharedWords shared;
    shared.take(stage.reductions[0].dtype, 2 * kTile * kTileDepth);
    if (loops.depth == 0 || loops.rows < kTile / 4 || loops.columns < kTile / 4 || !fits(shared)) {
      // Nothing to sum, or too narrow for a tile: the result's elements are points.
      Stage& flat = plan.part.stages[0];
      plan.part.grid.insert(plan.part.grid.end(), flat.parallel.begin(), flat.parallel.end());
      flat.parallel.clear();
      return false;
    }
    plan.mapping = Mapping::Tiles;
    plan.points = product(plan.part.grid);
    plan.row_tiles = divide_up(loops.rows, kTile);
    plan.column_tiles = divide_up(loops.columns, kTile);
    plan.tasks = plan.points * product(loops.outer_extents) * plan.row_tiles * plan.column_tiles;
    plan.shared = shared;
    plan.tile = loops;
    SharedWords blocks;
    blocks.quads = std::max(2 * kMatrixBlock, kTile * kTile / 4);
    if (fits(blocks)) plan.matrix = matrix_plan(stage, loops, target_);
    if (plan.matrix) plan.shared = blocks;
    return true;
  }

  [[nodiscard]] bool fits_one_invocation(const PartPlan& plan,
                                         const std::vector<uint32_t>& locals) const {
    int64_t bytes = 0, work = 0;
    for (const uint32_t b : locals) bytes += 8 * kernel_.buffers[b].extent;
    if (bytes > kPrivateBytes) return false;
    bool chains = true;  // contractions and sequences are serial anyway
    for (const Stage& stage : plan.part.stages) {
      work = std::max(work, work_of(stage));
      chains = chains && stage.kind != StageKind::Loop && stage.parallel.empty();
    }
    return chains || work <= kSerialWork ||
           (is_column_fold(plan.part) && plan.points >= kManyPoints);
  }

  void rows(PartPlan& plan, const std::vector<uint32_t>& locals) const {
    plan.mapping = Mapping::Rows;
    plan.tasks = plan.points;
    for (const Stage& stage : plan.part.stages) {
      if (!is_shared_fold(stage)) continue;
      SharedWords tree;
      for (const Reduction& reduction : stage.reductions) {
        for (const DType dtype : accumulator(stage, reduction)) tree.take(dtype, kReducePartials);
      }
      plan.shared.join(tree);
    }
    if (!fits(plan.shared)) {
      throw UnsupportedError(str("reductions that need ", plan.shared.bytes(),
                                 " bytes of workgroup memory; the device has ",
                                 target_.shader.shared_bytes));
    }
    for (const uint32_t b : locals) {
      const Buffer& buffer = kernel_.buffers[b];
      SharedWords more = plan.shared;
      const int64_t at = more.take(buffer.dtype, buffer.extent);
      if (fits(more)) {
        plan.shared = more;
        plan.homes[b] = {Home::Kind::Workgroup, at};
      } else {
        plan.homes[b] = {Home::Kind::Scratch, plan.scratch_stride};
        const int64_t bytes = buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
        plan.scratch_stride += divide_up(bytes, 64) * 64;
      }
    }
    if (plan.scratch_stride > 0) {
      const int64_t groups =
          std::clamp<int64_t>(kScratchBytes / plan.scratch_stride, 1, kScratchGroups);
      plan.tasks = std::min(plan.points, groups);
    }
  }

  const Kernel& kernel_;
  const TargetInfo& target_;
  SharedWords used_;
};

}  // namespace

bool is_shared_fold(const Stage& stage) {
  return !stage.reduce.empty() && stage.kind == StageKind::Loop &&
         product(stage.parallel) < kGroupInvocations;
}

std::vector<DType> accumulator(const Stage& stage, const Reduction& reduction) {
  switch (reduction.kind) {
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return {stage.body[reduction.value].dtype, DType::U32};
    case ReduceKind::Sum:
    case ReduceKind::Prod:
    case ReduceKind::Min:
    case ReduceKind::Max:
    case ReduceKind::Dot:
      break;
  }
  return {reduction.dtype};
}

PhasePlan plan_phase(const Kernel& kernel, const Phase& phase, const TargetInfo& target) {
  PhasePlan result;
  for (const Part& part : phase.parts) {
    PartPlan plan = Planner(kernel, target, result.shared).plan(part);
    result.tasks += plan.tasks;
    result.shared.join(plan.shared);
    result.scratch_bytes += plan.scratch_stride * plan.tasks;
    result.parts.push_back(std::move(plan));
  }
  if (result.tasks > INT32_MAX) {
    throw UnsupportedError(
        str("a phase of ", result.tasks, " workgroups, the most is ", INT32_MAX));
  }
  return result;
}

}  // namespace reprise::spirv
