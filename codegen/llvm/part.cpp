// One part of a kernel: tasks over its grid, stages, reductions.
#include <algorithm>
#include <memory>

#include "codegen/llvm/emit.h"
#include "codegen/local_slots.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

namespace {

bool is_contraction(const Stage& stage) {
  return stage.kind == StageKind::Contraction;
}

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class PartEmitter {
 public:
  PartEmitter(llvm::Module& module, const Kernel& kernel, const Part& part,
              const PartSchedule& schedule, const TargetInfo& target, const Features& features,
              llvm::StringRef name)
      : f_(module, kernel, target, features, name), b_(f_.b), part_(part), schedule_(schedule) {
    lanes_ = std::max(1, schedule.vector_lanes);
    unroll_ = std::max(1, schedule.unroll);
    grid_lanes_ = schedule.vector_axis == VectorAxis::Grid && lanes_ > 1 && !part.grid.empty();
    f_.streaming_stores = schedule.streaming_stores;
    if (schedule.vector_axis == VectorAxis::None) lanes_ = unroll_ = 1;
    if (schedule.vector_axis == VectorAxis::Grid && !grid_lanes_) lanes_ = unroll_ = 1;
  }

  PartCode emit() {
    PartCode code;
    code.function = f_.function();
    lay_out_locals();
    set_extents();
    if (part_.stages.size() == 1 && is_contraction(part_.stages[0])) {
      code.tasks = contraction_tasks(part_.stages[0]);
    } else if (grid_lanes_) {
      code.tasks = vector_tasks();
    } else {
      code.tasks = point_tasks();
    }
    f_.finish();
    code.scratch_bytes = f_.scratch_bytes();
    code.cost_ns = estimate_ns(part_, schedule_, f_.target);
    return code;
  }

 private:
  void lay_out_locals() {
    locals_.byte_offset.assign(f_.kernel.buffers.size(), -1);
    locals_.stride = grid_lanes_ ? int64_t{lanes_} * unroll_ : 1;
    const LocalSlots slots = place_locals(f_.kernel, part_);
    std::vector<int64_t> slot_offsets;
    for (const int64_t bytes : slots.bytes) {
      slot_offsets.push_back(f_.reserve_scratch(bytes * locals_.stride));
    }
    for (size_t b = 0; b < slots.slot.size(); ++b) {
      if (slots.slot[b] >= 0) locals_.byte_offset[b] = slot_offsets[slots.slot[b]];
    }
  }

  void set_extents() {
    for (const Stage& stage : part_.stages) {
      std::vector<int64_t> extents(part_.grid.begin(), part_.grid.end());
      extents.insert(extents.end(), stage.parallel.begin(), stage.parallel.end());
      f_.set_extents(stage.post, extents);
      extents.insert(extents.end(), stage.reduce.begin(), stage.reduce.end());
      f_.set_extents(stage.body, extents);
    }
  }

  // ---- Tasks ----

  /// A task is a run of consecutive grid points, each run through all stages on its own.
  int64_t point_tasks() {
    const int64_t points = product(part_.grid);
    const int64_t per_task = std::max<int64_t>(1, schedule_.task_points);
    const int64_t tasks = divide_up(points, per_task);
    if (tasks == 0) return 0;
    Value* first = b_.CreateMul(f_.begin(), f_.i64(per_task));
    Value* last = minimum(b_.CreateMul(f_.end(), f_.i64(per_task)), points);
    f_.loop(first, last, 1, [&](Value* point) {
      Scope scope;
      const Values coordinates = f_.delinearize(point, part_.grid);
      for (Value* coordinate : coordinates) scope.variables.emplace_back(coordinate);
      for (size_t s = 0; s < part_.stages.size(); ++s) point_stage(s, scope);
    });
    return tasks;
  }

  /// Lanes are consecutive points of the innermost axis. A task is a piece of one row of points, or
  /// several whole rows.
  int64_t vector_tasks() {
    const int64_t inner = lane_extent(part_.grid, lanes_);
    const size_t along = folded_loop(part_.grid, lanes_) == 0 ? 1 : 2;
    const std::span<const int64_t> outer_extents(part_.grid.data(), part_.grid.size() - along);
    const int64_t outer = product(outer_extents);
    if (inner == 0 || outer == 0) return 0;
    const int64_t step = int64_t{lanes_} * unroll_;
    const int64_t wanted = std::max<int64_t>(1, schedule_.task_points);
    const auto row = [&](Value* index, Value* from, Value* to, bool whole) {
      Scope scope;
      const Values coordinates = f_.delinearize(index, outer_extents);
      for (Value* coordinate : coordinates) scope.variables.emplace_back(coordinate);
      points(scope, from, to, whole);
    };
    if (wanted >= inner) {
      const int64_t rows = std::max<int64_t>(1, wanted / inner);
      Value* last = minimum(b_.CreateMul(f_.end(), f_.i64(rows)), outer);
      f_.loop(b_.CreateMul(f_.begin(), f_.i64(rows)), last, 1,
              [&](Value* index) { row(index, f_.i64(0), f_.i64(inner), true); });
      return divide_up(outer, rows);
    }
    const int64_t chunk = round_up(wanted, step);
    const int64_t pieces = divide_up(inner, chunk);
    if (outer == 1) {
      // Neighbouring pieces of the only row are one run.
      row(f_.i64(0), b_.CreateMul(f_.begin(), f_.i64(chunk)),
          minimum(b_.CreateMul(f_.end(), f_.i64(chunk)), inner), false);
      return pieces;
    }
    f_.loop(f_.begin(), f_.end(), 1, [&](Value* task) {
      Value* index = b_.CreateUDiv(task, f_.i64(pieces));
      Value* from = b_.CreateMul(b_.CreateURem(task, f_.i64(pieces)), f_.i64(chunk));
      row(index, from, minimum(b_.CreateAdd(from, f_.i64(chunk)), inner), false);
    });
    return outer * pieces;
  }

  /// Points [from, to) of the innermost axis; `from` is a multiple of the vectors in flight and
  /// `to` is one too or the axis' extent.
  void points(Scope& scope, Value* from, Value* to, bool whole) {
    const int64_t inner = lane_extent(part_.grid, lanes_);
    const int64_t step = int64_t{lanes_} * unroll_;
    const int64_t rest = inner % step;
    add_lane_variables(scope, part_.grid);
    const auto stages = [&](Value* at, const VectorShape& shape) {
      set_lanes(scope, at);
      for (size_t s = 0; s < part_.stages.size(); ++s) lane_stage(s, scope, shape);
    };
    Value* main_end = rest == 0 ? to : minimum(to, inner - rest);
    f_.loop(from, main_end, step,
            [&](Value* at) { stages(at, VectorShape::full(lanes_, unroll_)); });
    if (rest == 0) return;
    const auto tail = [&] { stages(f_.i64(inner - rest), VectorShape::holding(lanes_, rest)); };
    if (whole) {
      tail();
    } else {
      f_.if_then(b_.CreateICmpEQ(to, f_.i64(inner)), tail);
    }
  }

  /// The variables of the loops that lanes run over: the innermost one, or two.
  void add_lane_variables(Scope& scope, std::span<const int64_t> extents) {
    scope.fold = folded_loop(extents, lanes_);
    if (scope.fold != 0) scope.variables.emplace_back();
    scope.vector = static_cast<int>(scope.variables.size());
    scope.variables.emplace_back();
  }
  /// Lane 0 is iteration `at` of them, a multiple of the lanes.
  void set_lanes(Scope& scope, Value* at) {
    Variable& innermost = scope.variables[scope.vector];
    if (scope.fold == 0) {
      innermost = at;
      return;
    }
    innermost = f_.i64(0);
    scope.variables[scope.vector - 1] = b_.CreateUDiv(at, f_.i64(scope.fold));
  }

  int64_t contraction_tasks(const Stage& stage) {
    const ContractionTiling tiling(stage, static_cast<int>(part_.grid.size()), schedule_,
                                   schedule_.contractions[0], f_.target);
    const int64_t points = product(part_.grid) * tiling.runs();
    if (points == 0 || tiling.rows == 0 || tiling.columns == 0) return 0;
    const int64_t row_tasks = divide_up(tiling.row_tiles(), tiling.task_tiles);
    const int64_t panel_tasks = divide_up(tiling.panels(), tiling.task_panels);
    const int64_t per_point = row_tasks * panel_tasks;
    f_.loop(f_.begin(), f_.end(), 1, [&](Value* task) {
      Value* point = b_.CreateUDiv(task, f_.i64(per_point));
      Value* inside = b_.CreateURem(task, f_.i64(per_point));
      const auto range = [&](Value* index, int64_t each, int64_t all) -> std::pair<Value*, Value*> {
        if (each >= all) return {f_.i64(0), f_.i64(all)};
        Value* from = b_.CreateMul(index, f_.i64(each));
        return {from, minimum(b_.CreateAdd(from, f_.i64(each)), all)};
      };
      const auto [row_begin, row_end] =
          range(b_.CreateUDiv(inside, f_.i64(panel_tasks)), tiling.task_tiles, tiling.row_tiles());
      const auto [panel_begin, panel_end] =
          range(b_.CreateURem(inside, f_.i64(panel_tasks)), tiling.task_panels, tiling.panels());
      Value* run = b_.CreateURem(point, f_.i64(tiling.runs()));
      Value* grid_point = b_.CreateUDiv(point, f_.i64(tiling.runs()));
      Scope scope;
      const Values coordinates = f_.delinearize(grid_point, part_.grid);
      for (Value* coordinate : coordinates) scope.variables.emplace_back(coordinate);
      emit_contraction(f_, stage, tiling, locals_, scope, run, row_begin, row_end, panel_begin,
                       panel_end);
    });
    return points * per_point;
  }

  // ---- Stages with lanes over the grid ----

  void lane_stage(size_t s, const Scope& grid, const VectorShape& shape) {
    const Stage& stage = part_.stages[s];
    Scope scope = grid;
    nest(stage.parallel, 0, scope, [&](Scope& at) {
      if (stage.kind == StageKind::Sequence || (stage.reduce.empty() && stage.reductions.empty())) {
        run_body(stage, at, shape);
        return;
      }
      finish_stage(stage, at, shape, reducer(s, int64_t{lanes_} * unroll_).in_order(at, shape));
    });
  }

  // ---- Stages with lanes over their innermost loop ----

  void point_stage(size_t s, const Scope& grid) {
    const Stage& stage = part_.stages[s];
    Scope scope = grid;
    if (is_contraction(stage)) {
      // Tasks are grid points here: each runs over all of the tile, so packs for all of it.
      PartSchedule whole = schedule_;
      whole.task_points = std::max<int64_t>(1, product(stage.parallel));
      whole.task_columns = 0;
      const auto before =
          std::count_if(part_.stages.begin(), part_.stages.begin() + s,
                        [](const Stage& earlier) { return is_contraction(earlier); });
      const ContractionTiling tiling(stage, static_cast<int>(part_.grid.size()), whole,
                                     schedule_.contractions[before], f_.target);
      f_.loop(f_.i64(0), f_.i64(tiling.runs()), 1, [&](Value* run) {
        emit_contraction(f_, stage, tiling, locals_, grid, run, f_.i64(0),
                         f_.i64(tiling.row_tiles()), f_.i64(0), f_.i64(tiling.panels()));
      });
      return;
    }
    const bool folds =
        (!stage.reduce.empty() || !stage.reductions.empty()) && stage.kind != StageKind::Sequence;
    if (folds && folds_across_lanes(stage, lanes_)) {
      along_lanes(stage, 1, scope, [&](Scope& at, const VectorShape& shape) {
        finish_stage(stage, at, shape, reducer(s, lanes_).in_order(at, shape));
      });
    } else if (folds) {
      nest(stage.parallel, 0, scope, [&](Scope& at) {
        ReduceEmitter& reduce = reducer(s, 1);
        finish_stage(
            stage, at, VectorShape::scalar(),
            reduce.rows_fit() ? reduce.rows(at) : reduce.in_order(at, VectorShape::scalar()));
      });
    } else if (stage.parallel.empty() || lanes_ == 1) {
      nest(stage.parallel, 0, scope,
           [&](Scope& at) { run_body(stage, at, VectorShape::scalar()); });
    } else {
      along_lanes(stage, unroll_, scope,
                  [&](Scope& at, const VectorShape& shape) { run_body(stage, at, shape); });
    }
  }

  /// Runs `body` for all values of the parallel loops, vectors along the innermost.
  template <class F>
  void along_lanes(const Stage& stage, int unroll, Scope& scope, const F& body) {
    const int64_t extent = lane_extent(stage.parallel, lanes_);
    const size_t along = folded_loop(stage.parallel, lanes_) == 0 ? 1 : 2;
    const std::span<const int64_t> outer(stage.parallel.data(), stage.parallel.size() - along);
    const int64_t step = int64_t{lanes_} * unroll;
    nest(outer, 0, scope, [&](const Scope& place) {
      Scope at = place;
      add_lane_variables(at, stage.parallel);
      f_.loop(f_.i64(0), f_.i64(extent / step * step), step, [&](Value* i) {
        set_lanes(at, i);
        body(at, VectorShape::full(lanes_, unroll));
      });
      if (extent % step == 0) return;
      set_lanes(at, f_.i64(extent / step * step));
      body(at, VectorShape::holding(lanes_, extent % step));
    });
  }

  /// The body of a stage that folds nothing; a sequence runs it for each step of its reduce loops.
  void run_body(const Stage& stage, Scope& scope, const VectorShape& shape) {
    nest(stage.reduce, 0, scope,
         [&](Scope& at) { BodyEmitter(f_, stage.body, locals_, at, shape).emit_all(); });
  }

  /// Runs `body` for every value of `extents`, appended to the scope's variables.
  template <class F>
  void nest(std::span<const int64_t> extents, size_t level, Scope& scope, const F& body) {
    if (level == extents.size()) {
      body(scope);
      return;
    }
    f_.loop(f_.i64(0), f_.i64(extents[level]), 1, [&](Value* i) {
      scope.variables.emplace_back(i);
      nest(extents, level + 1, scope, body);
      scope.variables.pop_back();
    });
  }

  void finish_stage(const Stage& stage, const Scope& scope, const VectorShape& shape,
                    const std::vector<Lanes>& reduced) {
    BodyEmitter post(f_, stage.post, locals_, scope, shape);
    post.set_reduced(reduced);
    post.emit_all();
  }

  /// `width` results are folded at once, see ReduceEmitter.
  ReduceEmitter& reducer(size_t s, int64_t width) {
    if (reducers_.size() <= s) reducers_.resize(part_.stages.size());
    if (reducers_[s] == nullptr) {
      reducers_[s] = std::make_unique<ReduceEmitter>(f_, part_.stages[s], locals_,
                                                     grid_lanes_ ? 1 : lanes_, unroll_, width);
    }
    return *reducers_[s];
  }

  Value* minimum(Value* a, int64_t bound) {
    return f_.bound(llvm::Intrinsic::smin, a, f_.i64(bound));
  }

  FunctionEmitter f_;
  llvm::IRBuilder<>& b_;
  const Part& part_;
  const PartSchedule& schedule_;
  LocalLayout locals_;
  std::vector<std::unique_ptr<ReduceEmitter>> reducers_;
  int lanes_ = 1;
  int unroll_ = 1;
  bool grid_lanes_ = false;
};

}  // namespace

PartCode emit_part(llvm::Module& module, const Kernel& kernel, const Part& part,
                   const PartSchedule& schedule, const TargetInfo& target, const Features& features,
                   llvm::StringRef name) {
  return PartEmitter(module, kernel, part, schedule, target, features, name).emit();
}

}  // namespace reprise::codegen
