// Contractions: register-tiled micro-kernels, exact tail tiles, packed panels.
#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

ContractionTiling::ContractionTiling(const Stage& stage, int grid_rank,
                                     const PartSchedule& schedule)
    : ContractionLoops(stage, grid_rank) {
  lanes = column < 0 ? 1 : std::max(1, schedule.vector_lanes);

  // Rows: as many tall tiles as possible so that the rest is tiles at most two or so lower.
  const int64_t most = std::max(1, schedule.mr);
  tall = static_cast<int>(std::min(most, rows));
  tall_count = rows == 0 ? 0 : rows / tall;
  const int64_t rest = rows - tall_count * tall;
  if (rest != 0) {
    low = static_cast<int>(rest);
    low_count = 1;
    // 6 6 2 is better as 5 5 4: move rows from tall tiles into low ones of equal height.
    for (int height = tall - 1; height > rest; --height) {
      // a * tall + l * height == rows with the fewest low tiles
      bool found = false;
      for (int64_t l = 1; l * height <= rows && l <= tall; ++l) {
        if ((rows - l * height) % tall == 0) {
          low = height;
          low_count = l;
          tall_count = (rows - l * height) / tall;
          found = true;
          break;
        }
      }
      if (found) break;
    }
  }
  panel = std::max<int64_t>(lanes, schedule.nr / lanes * lanes);
  panel_count = columns / panel;
  panel_rest = columns % panel;
  kc = schedule.kc;
  pack = schedule.pack_b;
}

namespace {

class ContractionEmitter {
 public:
  ContractionEmitter(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
                     const LocalLayout& locals, const Scope& grid, Value* outer)
      : f_(f), b_(f.b), stage_(stage), t_(tiling), locals_(locals), dot_(stage.reductions[0]) {
    base_.variables.assign(grid.variables.begin(), grid.variables.end());
    base_.variables.resize(grid.variables.size() + stage.parallel.size() + stage.reduce.size(),
                           f.i64(0));
    const Values coordinates = f.delinearize(outer, t_.outer_extents);
    for (size_t k = 0; k < t_.outer.size(); ++k) base_.variables[t_.outer[k]] = coordinates[k];
    first_reduce_ = static_cast<int>(grid.variables.size() + stage.parallel.size());
  }

  void run(Value* row_begin, Value* row_end, Value* panel_begin, Value* panel_end) {
    const auto rows = [&](Value* column, const VectorShape& shape) {
      Value* tall_count = f_.i64(t_.tall_count);
      if (t_.tall_count > 0) {
        f_.loop(row_begin, minimum(row_end, tall_count), 1, [&](Value* tile) {
          micro_kernel(b_.CreateMul(tile, f_.i64(t_.tall)), t_.tall, column, shape);
        });
      }
      if (t_.low_count > 0) {
        f_.loop(maximum(row_begin, tall_count), row_end, 1, [&](Value* tile) {
          Value* above = b_.CreateMul(b_.CreateSub(tile, tall_count), f_.i64(t_.low));
          micro_kernel(b_.CreateAdd(above, f_.i64(t_.tall_count * t_.tall)), t_.low, column, shape);
        });
      }
    };
    if (t_.panel_count > 0) {
      f_.loop(panel_begin, minimum(panel_end, f_.i64(t_.panel_count)), 1, [&](Value* panel) {
        rows(b_.CreateMul(panel, f_.i64(t_.panel)),
             VectorShape::full(t_.lanes, static_cast<int>(t_.panel / t_.lanes)));
      });
    }
    if (t_.panel_rest > 0) {
      Value* last = b_.CreateICmpSGT(panel_end, f_.i64(t_.panel_count));
      f_.if_then(last, [&] {
        rows(f_.i64(t_.panel_count * t_.panel), VectorShape::holding(t_.lanes, t_.panel_rest));
      });
    }
  }

 private:
  Value* minimum(Value* a, Value* x) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, x);
  }
  Value* maximum(Value* a, Value* x) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, x);
  }

  void micro_kernel(Value* row, int height, Value* column, VectorShape shape) {
    const int width = shape.copies;
    Values sums;
    llvm::Value* zero = f_.splat(f_.constant(dot_.dtype, 0), t_.lanes);
    for (int i = 0; i < height * width; ++i) sums.push_back(zero);
    Scope scope = base_;
    if (t_.column >= 0) scope.variables[t_.column] = column;
    sums = fold(0, scope, row, height, shape, sums);
    // The epilogue, a row at a time.
    for (int i = 0; i < height; ++i) {
      Scope at;
      at.variables.assign(scope.variables.begin(), scope.variables.begin() + first_reduce_);
      if (t_.row >= 0) at.variables[t_.row] = b_.CreateAdd(row, f_.i64(i));
      at.vector = t_.column;
      Lanes result;
      result.uniform = t_.lanes == 1;
      for (int j = 0; j < width; ++j) result.parts.push_back(sums[i * width + j]);
      BodyEmitter post(f_, stage_.post, locals_, at, shape);
      post.set_reduced({&result, 1});
      post.emit_all();
    }
  }

  /// Loops over the reduce variables from `level` on, the innermost unrolled, carrying the sums.
  Values fold(size_t level, Scope& scope, Value* row, int height, const VectorShape& shape,
              const Values& init) {
    if (level == stage_.reduce.size()) return step(scope, row, height, shape, init);
    const int64_t extent = stage_.reduce[level];
    const size_t variable = static_cast<size_t>(first_reduce_) + level;
    if (level + 1 < stage_.reduce.size()) {
      return f_.loop(f_.i64(0), f_.i64(extent), 1, init, [&](Value* k, const Values& sums) {
        scope.variables[variable] = k;
        return fold(level + 1, scope, row, height, shape, sums);
      });
    }
    constexpr int64_t kUnroll = 4;
    const int64_t main = extent / kUnroll * kUnroll;
    Values sums =
        f_.loop(f_.i64(0), f_.i64(main), kUnroll, init, [&](Value* k, const Values& carried) {
          Values next = carried;
          for (int64_t u = 0; u < kUnroll; ++u) {
            scope.variables[variable] = b_.CreateAdd(k, f_.i64(u));
            next = step(scope, row, height, shape, next);
          }
          return next;
        });
    for (int64_t k = main; k < extent; ++k) {
      scope.variables[variable] = f_.i64(k);
      sums = step(scope, row, height, shape, sums);
    }
    return sums;
  }

  /// One k: a vector row of one factor times `height` scalars of the other.
  Values step(const Scope& scope, Value* row, int height, const VectorShape& shape,
              const Values& sums) {
    const ScalarId vector_root = t_.vector_root(dot_);
    const ScalarId scalar_root = t_.scalar_root(dot_);
    Scope vector_scope = scope;
    vector_scope.vector = t_.column;
    BodyEmitter columns(f_, stage_.body, locals_, vector_scope, shape);
    Lanes& wide = columns.emit(vector_root);
    Values next = sums;
    for (int i = 0; i < height; ++i) {
      Scope at = scope;
      if (t_.row >= 0) at.variables[t_.row] = b_.CreateAdd(row, f_.i64(i));
      BodyEmitter one(f_, stage_.body, locals_, at, VectorShape::scalar());
      Value* factor = f_.splat(one.emit(scalar_root).scalar(), t_.lanes);
      for (int j = 0; j < shape.copies; ++j) {
        Value*& sum = next[i * shape.copies + j];
        Value* other = columns.vector(wide, j);
        sum = t_.columns_from_second ? f_.fma(dot_.dtype, factor, other, sum)
                                     : f_.fma(dot_.dtype, other, factor, sum);
      }
    }
    return next;
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const Stage& stage_;
  const ContractionTiling& t_;
  const LocalLayout& locals_;
  const Reduction& dot_;
  Scope base_;
  int first_reduce_ = 0;
};

}  // namespace

void emit_contraction(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
                      const LocalLayout& locals, const Scope& grid, Value* outer, Value* row_begin,
                      Value* row_end, Value* panel_begin, Value* panel_end) {
  if (tiling.rows == 0 || tiling.columns == 0) return;
  ContractionEmitter(f, stage, tiling, locals, grid, outer)
      .run(row_begin, row_end, panel_begin, panel_end);
}

}  // namespace reprise::codegen
