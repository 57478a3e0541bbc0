// One part of a kernel: tasks over its grid, stages, reductions.
#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

namespace {

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_argument(const Reduction& reduction) {
  return reduction.kind == ReduceKind::ArgMin || reduction.kind == ReduceKind::ArgMax;
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
    if (schedule.vector_axis == VectorAxis::None) lanes_ = unroll_ = 1;
    if (schedule.vector_axis == VectorAxis::Grid && !grid_lanes_) lanes_ = unroll_ = 1;
  }

  PartCode emit() {
    PartCode code;
    code.function = f_.function();
    lay_out_locals();
    if (part_.stages.size() == 1 && part_.stages[0].kind == StageKind::Contraction) {
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
    const auto visit = [&](const Body& body) {
      for (const Access& access : body.accesses) {
        const Buffer& buffer = f_.kernel.buffers[access.buffer.index];
        int64_t& offset = locals_.byte_offset[access.buffer.index];
        if (buffer.kind != BufferKind::Local || offset >= 0) continue;
        offset = f_.reserve_scratch(buffer.extent * locals_.stride *
                                    static_cast<int64_t>(size_of(buffer.dtype)));
      }
    };
    for (const Stage& stage : part_.stages) {
      visit(stage.body);
      visit(stage.post);
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
    const int64_t inner = part_.grid.back();
    const std::span<const int64_t> outer_extents(part_.grid.data(), part_.grid.size() - 1);
    const int64_t outer = product(outer_extents);
    if (inner == 0 || outer == 0) return 0;
    const int64_t step = int64_t{lanes_} * unroll_;
    const int64_t wanted = std::max<int64_t>(1, schedule_.task_points);
    const auto row = [&](Value* index, Value* from, Value* to, bool whole) {
      Scope scope;
      const Values coordinates = f_.delinearize(index, outer_extents);
      for (Value* coordinate : coordinates) scope.variables.emplace_back(coordinate);
      scope.variables.emplace_back();
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
    const int64_t inner = part_.grid.back();
    const int64_t step = int64_t{lanes_} * unroll_;
    const int64_t rest = inner % step;
    const size_t variable = scope.variables.size() - 1;
    scope.vector = static_cast<int>(variable);
    const auto stages = [&](Value* at, const VectorShape& shape) {
      scope.variables[variable] = at;
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

  int64_t contraction_tasks(const Stage& stage) {
    const ContractionTiling tiling(stage, static_cast<int>(part_.grid.size()), schedule_);
    const int64_t points = product(part_.grid) * tiling.outer_count();
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
      Value* outer = b_.CreateURem(point, f_.i64(tiling.outer_count()));
      Value* grid_point = b_.CreateUDiv(point, f_.i64(tiling.outer_count()));
      Scope scope;
      const Values coordinates = f_.delinearize(grid_point, part_.grid);
      for (Value* coordinate : coordinates) scope.variables.emplace_back(coordinate);
      emit_contraction(f_, stage, tiling, locals_, scope, outer, row_begin, row_end, panel_begin,
                       panel_end);
    });
    return points * per_point;
  }

  // ---- Stages with lanes over the grid ----

  void lane_stage(size_t s, const Scope& grid, const VectorShape& shape) {
    const Stage& stage = part_.stages[s];
    Scope scope = grid;
    nest(stage.parallel, 0, scope, [&](Scope& at) {
      if (stage.reduce.empty() && stage.reductions.empty()) {
        BodyEmitter(f_, stage.body, locals_, at, shape).emit_all();
        return;
      }
      finish_stage(stage, at, shape, reduce_in_order(s, at, shape));
    });
  }

  // ---- Stages with lanes over their innermost loop ----

  void point_stage(size_t s, const Scope& grid) {
    const Stage& stage = part_.stages[s];
    Scope scope = grid;
    if (stage.kind == StageKind::Contraction) {
      const ContractionTiling tiling(stage, static_cast<int>(part_.grid.size()), schedule_);
      f_.loop(f_.i64(0), f_.i64(tiling.outer_count()), 1, [&](Value* outer) {
        emit_contraction(f_, stage, tiling, locals_, grid, outer, f_.i64(0),
                         f_.i64(tiling.row_tiles()), f_.i64(0), f_.i64(tiling.panels()));
      });
      return;
    }
    if (!stage.reduce.empty() || !stage.reductions.empty()) {
      nest(stage.parallel, 0, scope, [&](Scope& at) {
        const bool rows = lanes_ > 1 && rows_fit(stage);
        finish_stage(stage, at, VectorShape::scalar(),
                     rows ? reduce_rows(stage, at) : reduce_in_order(s, at, VectorShape::scalar()));
      });
      return;
    }
    if (stage.parallel.empty() || lanes_ == 1) {
      nest(stage.parallel, 0, scope, [&](Scope& at) {
        BodyEmitter(f_, stage.body, locals_, at, VectorShape::scalar()).emit_all();
      });
      return;
    }
    const std::span<const int64_t> outer(stage.parallel.data(), stage.parallel.size() - 1);
    const int64_t extent = stage.parallel.back();
    const int64_t step = int64_t{lanes_} * unroll_;
    nest(outer, 0, scope, [&](Scope& at) {
      const size_t variable = at.variables.size();
      at.variables.emplace_back();
      at.vector = static_cast<int>(variable);
      const auto body = [&](Value* i, const VectorShape& shape) {
        at.variables[variable] = i;
        BodyEmitter(f_, stage.body, locals_, at, shape).emit_all();
      };
      f_.loop(f_.i64(0), f_.i64(extent / step * step), step,
              [&](Value* i) { body(i, VectorShape::full(lanes_, unroll_)); });
      if (extent % step != 0) {
        body(f_.i64(extent / step * step), VectorShape::holding(lanes_, extent % step));
      }
      at.variables.pop_back();
      at.vector = -1;
    });
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

  // ---- Reductions ----

  DType value_dtype(const Stage& stage, const Reduction& reduction) const {
    return is_argument(reduction) ? stage.body[reduction.value].dtype : reduction.dtype;
  }

  std::vector<Lanes> identities(const Stage& stage, const VectorShape&) {
    std::vector<Lanes> result;
    for (const Reduction& reduction : stage.reductions) {
      uint64_t bits = 0;
      if (!is_argument(reduction) && reduction.kind != ReduceKind::Sum) {
        Value* value = f_.neutral(reduction, reduction.dtype, 1)[0];
        result.emplace_back(value);
        continue;
      }
      result.emplace_back(f_.constant(reduction.dtype, bits));
    }
    return result;
  }

  /// Any loops, any shape: element r of the linear index goes to partial r mod 64.
  std::vector<Lanes> reduce_in_order(size_t s, Scope& scope, const VectorShape& shape) {
    const Stage& stage = part_.stages[s];
    const int64_t extent = product(stage.reduce);
    if (extent == 0) return identities(stage, shape);
    const int64_t cost = static_cast<int64_t>(stage.body.instrs.size()) * shape.copies;
    if (extent <= kReducePartials && extent * cost <= kUnrolledInstrs) {
      return reduce_unrolled(stage, scope, shape);
    }
    return reduce_in_memory(s, scope, shape);
  }

  /// The state of one element: per reduction, per field, per copy.
  using State = std::vector<Values>;

  State evaluate(const Stage& stage, const Scope& scope, const VectorShape& shape, Value* linear) {
    BodyEmitter body(f_, stage.body, locals_, scope, shape);
    body.emit_all();
    State state;
    for (const Reduction& reduction : stage.reductions) {
      Lanes& lanes = body.emit(reduction.value);
      Values values;
      for (int copy = 0; copy < shape.copies; ++copy) values.push_back(body.vector(lanes, copy));
      if (is_argument(reduction)) {
        for (int copy = 0; copy < shape.copies; ++copy) {
          values.push_back(f_.splat(linear, shape.lanes));
        }
      }
      state.push_back(values);
    }
    return state;
  }

  State combine(const Stage& stage, const VectorShape& shape, const State& a, const State& x) {
    State result(a.size());
    for (size_t k = 0; k < a.size(); ++k) {
      const Reduction& reduction = stage.reductions[k];
      const DType dtype = value_dtype(stage, reduction);
      const size_t copies = static_cast<size_t>(shape.copies);
      result[k].resize(a[k].size());
      for (size_t copy = 0; copy < copies; ++copy) {
        Values left, right;
        for (size_t at = copy; at < a[k].size(); at += copies) {
          left.push_back(a[k][at]);
          right.push_back(x[k][at]);
        }
        const Values both = f_.combine(reduction, dtype, left, right);
        for (size_t field = 0; field < both.size(); ++field) {
          result[k][field * copies + copy] = both[field];
        }
      }
    }
    return result;
  }

  std::vector<Lanes> results(const Stage& stage, const VectorShape& shape, const State& state) {
    std::vector<Lanes> result;
    for (size_t k = 0; k < state.size(); ++k) {
      const size_t field = is_argument(stage.reductions[k]) ? 1 : 0;
      Lanes lanes;
      lanes.uniform = shape.lanes == 1;
      for (int copy = 0; copy < shape.copies; ++copy) {
        lanes.parts.push_back(state[k][field * shape.copies + copy]);
      }
      result.push_back(lanes);
    }
    return result;
  }

  /// Few elements: the tree itself, visited so that at most seven partial results are alive.
  std::vector<Lanes> reduce_unrolled(const Stage& stage, Scope& scope, const VectorShape& shape) {
    const int64_t extent = product(stage.reduce);
    const std::function<State(int64_t, int64_t)> node = [&](int64_t first, int64_t stride) {
      if (stride == kReducePartials) {
        Scope at = scope;
        int64_t rest = first;
        Values coordinates(stage.reduce.size(), nullptr);
        for (size_t axis = stage.reduce.size(); axis-- > 0;) {
          coordinates[axis] = f_.i64(rest % stage.reduce[axis]);
          rest /= stage.reduce[axis];
        }
        for (Value* coordinate : coordinates) at.variables.emplace_back(coordinate);
        return evaluate(stage, at, shape, f_.i64(first));
      }
      const State left = node(first, 2 * stride);
      if (first + stride >= extent) return left;
      return combine(stage, shape, left, node(first + stride, 2 * stride));
    };
    return results(stage, shape, node(0, 1));
  }

  std::vector<Lanes> reduce_in_memory(size_t s, Scope& scope, const VectorShape& shape) {
    const Stage& stage = part_.stages[s];
    const int64_t extent = product(stage.reduce);
    const int64_t partials = std::min<int64_t>(extent, kReducePartials);
    const std::vector<int64_t>& cells = reduction_cells(s);
    const int64_t width = int64_t{lanes_if_grid()};
    // Field `at` of partial p: all copies side by side.
    size_t fields = 0;
    std::vector<std::pair<size_t, DType>> layout;  // reduction, dtype of a field
    for (size_t k = 0; k < stage.reductions.size(); ++k) {
      const Reduction& reduction = stage.reductions[k];
      const DType dtype = value_dtype(stage, reduction);
      layout.emplace_back(k, dtype);
      if (is_argument(reduction)) layout.emplace_back(k, DType::I64);
      fields = layout.size();
    }
    const auto pointer = [&](size_t field, Value* partial, int copy) {
      Value* index =
          b_.CreateAdd(b_.CreateMul(partial, f_.i64(width)), f_.i64(int64_t{copy} * shape.lanes));
      return f_.element(layout[field].second, f_.scratch_at(cells[field]), index);
    };
    const auto read = [&](Value* partial) {
      State state(stage.reductions.size());
      for (size_t field = 0; field < fields; ++field) {
        for (int copy = 0; copy < shape.copies; ++copy) {
          state[layout[field].first].push_back(f_.load(
              layout[field].second, pointer(field, partial, copy), shape.lanes, shape.lanes));
        }
      }
      return state;
    };
    const auto write = [&](Value* partial, const State& state) {
      std::vector<size_t> next(stage.reductions.size(), 0);
      for (size_t field = 0; field < fields; ++field) {
        const size_t k = layout[field].first;
        for (int copy = 0; copy < shape.copies; ++copy) {
          f_.store(layout[field].second, state[k][next[k]++], pointer(field, partial, copy),
                   shape.lanes);
        }
      }
    };
    f_.loop(f_.i64(0), f_.i64(partials), 1, [&](Value* partial) {
      State state(stage.reductions.size());
      for (size_t k = 0; k < stage.reductions.size(); ++k) {
        const Reduction& reduction = stage.reductions[k];
        for (Value* value : f_.neutral(reduction, value_dtype(stage, reduction), shape.lanes)) {
          for (int copy = 0; copy < shape.copies; ++copy) state[k].push_back(value);
        }
      }
      write(partial, state);
    });
    const size_t first_reduce = scope.variables.size();
    nest(stage.reduce, 0, scope, [&](Scope& at) {
      Value* linear = f_.i64(0);
      for (size_t axis = 0; axis < stage.reduce.size(); ++axis) {
        linear = b_.CreateAdd(b_.CreateMul(linear, f_.i64(stage.reduce[axis])),
                              value_of(at.variables[first_reduce + axis]));
      }
      Value* partial = b_.CreateAnd(linear, f_.i64(kReducePartials - 1));
      const State value = evaluate(stage, at, shape, linear);
      write(partial, combine(stage, shape, read(partial), value));
    });
    for (int64_t h = kReducePartials / 2; h >= 1; h /= 2) {
      f_.loop(f_.i64(0), f_.i64(std::min(h, extent - h)), 1, [&](Value* partial) {
        const State left = read(partial);
        write(partial, combine(stage, shape, left, read(b_.CreateAdd(partial, f_.i64(h)))));
      });
    }
    return results(stage, shape, read(f_.i64(0)));
  }

  int64_t lanes_if_grid() const { return grid_lanes_ ? int64_t{lanes_} * unroll_ : 1; }

  /// Scratch of the partials of a stage's reductions: one offset per field.
  const std::vector<int64_t>& reduction_cells(size_t s) {
    if (cells_.size() <= s) cells_.resize(s + 1);
    if (cells_[s].empty()) {
      for (const Reduction& reduction : part_.stages[s].reductions) {
        const int fields = is_argument(reduction) ? 2 : 1;
        for (int field = 0; field < fields; ++field) {
          cells_[s].push_back(f_.reserve_scratch(kReducePartials * lanes_if_grid() * 8));
        }
      }
    }
    return cells_[s];
  }

  /// Whether a row of partials never straddles the end of the innermost loop.
  bool rows_fit(const Stage& stage) const {
    if (stage.reduce.empty() || kReducePartials % lanes_ != 0) return false;
    return product(stage.reduce) == stage.reduce.back() ||
           stage.reduce.back() % kReducePartials == 0;
  }

  /// Lanes along the innermost loop: the 64 partials are 64 / lanes accumulators.
  std::vector<Lanes> reduce_rows(const Stage& stage, Scope& scope) {
    const int64_t extent = product(stage.reduce);
    if (extent == 0) return identities(stage, VectorShape::scalar());
    const int copies = kReducePartials / lanes_;
    Values init;
    for (const Reduction& reduction : stage.reductions) {
      for (Value* value : f_.neutral(reduction, value_dtype(stage, reduction), lanes_)) {
        for (int copy = 0; copy < copies; ++copy) init.push_back(value);
      }
    }
    const Values sums = rows_level(stage, scope, 0, f_.i64(0), init);
    return halve(stage, sums, extent);
  }

  Values rows_level(const Stage& stage, Scope& scope, size_t level, Value* linear,
                    const Values& init) {
    const int64_t extent = stage.reduce[level];
    const size_t variable = scope.variables.size();
    if (level + 1 < stage.reduce.size()) {
      return f_.loop(f_.i64(0), f_.i64(extent), 1, init, [&](Value* i, const Values& sums) {
        scope.variables.emplace_back(i);
        const int64_t inner =
            product(std::span(stage.reduce.data() + level + 1, stage.reduce.size() - level - 1));
        Value* base = b_.CreateAdd(linear, b_.CreateMul(i, f_.i64(inner)));
        const Values next = rows_level(stage, scope, level + 1, base, sums);
        scope.variables.pop_back();
        return next;
      });
    }
    scope.variables.emplace_back();
    scope.vector = static_cast<int>(variable);
    const auto block = [&](Value* from, int64_t count, const Values& sums) {
      Values next = sums;
      const int64_t group = int64_t{lanes_} * unroll_;
      for (int64_t at = 0; at < count; at += group) {
        scope.variables[variable] = Variable(from, at);
        const VectorShape shape = VectorShape::holding(lanes_, std::min(group, count - at));
        take_in(stage, scope, shape, static_cast<int>(at / lanes_),
                b_.CreateAdd(linear, value_of(scope.variables[variable])), next);
      }
      return next;
    };
    const int64_t main = extent / kReducePartials * kReducePartials;
    Values sums = f_.loop(
        f_.i64(0), f_.i64(main), kReducePartials, init,
        [&](Value* r, const Values& carried) { return block(r, kReducePartials, carried); });
    if (main < extent) sums = block(f_.i64(main), extent - main, sums);
    scope.variables.pop_back();
    scope.vector = -1;
    return sums;
  }

  /// Folds one group of vectors into accumulators [first, first + copies).
  void take_in(const Stage& stage, const Scope& scope, const VectorShape& shape, int first,
               Value* linear, Values& sums) {
    const int copies = kReducePartials / lanes_;
    BodyEmitter body(f_, stage.body, locals_, scope, shape);
    body.emit_all();
    size_t base = 0;
    for (const Reduction& reduction : stage.reductions) {
      const DType dtype = value_dtype(stage, reduction);
      const Values neutral = f_.neutral(reduction, dtype, lanes_);
      Lanes& lanes = body.emit(reduction.value);
      for (int copy = 0; copy < shape.copies; ++copy) {
        Values value = {body.vector(lanes, copy)};
        if (is_argument(reduction)) {
          llvm::SmallVector<llvm::Constant*, 16> steps;
          for (int lane = 0; lane < lanes_; ++lane) {
            steps.push_back(b_.getInt64(static_cast<uint64_t>(copy * lanes_ + lane)));
          }
          value.push_back(b_.CreateAdd(f_.splat(linear, lanes_), llvm::ConstantVector::get(steps)));
        }
        const int active = shape.active(copy);
        Values state;
        for (size_t field = 0; field < value.size(); ++field) {
          if (active < lanes_) {
            llvm::SmallVector<llvm::Constant*, 16> mask;
            for (int lane = 0; lane < lanes_; ++lane) mask.push_back(b_.getInt1(lane < active));
            value[field] =
                b_.CreateSelect(llvm::ConstantVector::get(mask), value[field], neutral[field]);
          }
          state.push_back(sums[base + field * copies + first + copy]);
        }
        const Values both = f_.combine(reduction, dtype, state, value);
        for (size_t field = 0; field < both.size(); ++field) {
          sums[base + field * copies + first + copy] = both[field];
        }
      }
      base += neutral.size() * copies;
    }
  }

  /// The halving tree over accumulators, then inside the last one.
  std::vector<Lanes> halve(const Stage& stage, const Values& sums, int64_t extent) {
    const int copies = kReducePartials / lanes_;
    std::vector<Lanes> result;
    size_t base = 0;
    for (const Reduction& reduction : stage.reductions) {
      const DType dtype = value_dtype(stage, reduction);
      const size_t fields = is_argument(reduction) ? 2 : 1;
      std::vector<Values> state(copies);
      for (int copy = 0; copy < copies; ++copy) {
        for (size_t field = 0; field < fields; ++field) {
          state[copy].push_back(sums[base + field * copies + copy]);
        }
      }
      for (int step = copies / 2; step >= 1; step /= 2) {
        for (int copy = 0; copy < step; ++copy) {
          // Partials that received no element are neutral: leaving them out changes nothing.
          if (int64_t{copy + step} * lanes_ >= extent) continue;
          state[copy] = f_.combine(reduction, dtype, state[copy], state[copy + step]);
        }
      }
      Values last = state[0];
      for (int h = lanes_ / 2; h >= 1; h /= 2) {
        llvm::SmallVector<int, 16> low, high;
        for (int lane = 0; lane < h; ++lane) {
          low.push_back(lane);
          high.push_back(h + lane);
        }
        Values left, right;
        for (Value* value : last) {
          if (h > 1) {
            left.push_back(b_.CreateShuffleVector(value, low));
            right.push_back(b_.CreateShuffleVector(value, high));
          } else {
            left.push_back(b_.CreateExtractElement(value, uint64_t{0}));
            right.push_back(b_.CreateExtractElement(value, uint64_t{1}));
          }
        }
        last = h < extent ? f_.combine(reduction, dtype, left, right) : left;
      }
      result.emplace_back(last[fields - 1]);
      base += fields * copies;
    }
    return result;
  }

  Value* value_of(const Variable& variable) {
    if (variable.value == nullptr) return f_.i64(variable.offset);
    return variable.offset == 0 ? variable.value
                                : b_.CreateAdd(variable.value, f_.i64(variable.offset));
  }

  Value* minimum(Value* a, int64_t bound) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, f_.i64(bound));
  }

  static constexpr int64_t kUnrolledInstrs = 256;

  FunctionEmitter f_;
  llvm::IRBuilder<>& b_;
  const Part& part_;
  const PartSchedule& schedule_;
  LocalLayout locals_;
  std::vector<std::vector<int64_t>> cells_;
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
