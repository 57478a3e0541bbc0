// Contractions: register-tiled micro-kernels, exact tail tiles, packed panels, blocks of the depth.
//
// Every element of C is one chain of fused multiply-adds over ascending k whatever the tiling: a
// chain that a block of the depth interrupts rests in scratch and goes on from there.
#include "codegen/llvm/packing.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

namespace {

class ContractionEmitter : Packing {
 public:
  ContractionEmitter(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
                     const LocalLayout& locals, const Scope& grid, Value* run, Value* row_begin,
                     Value* panel_begin)
      : Packing(f, stage, tiling, locals, grid, row_begin), panel_begin_(panel_begin) {
    outer_begin_ = b_.CreateMul(run, f_.i64(t_.sweep));
    if (t_.sweep == 1) set_outer(outer_begin_);
    tile_elements_ = t_.tall * t_.panel;
    if (t_.block_count > 1) {
      const auto bytes = static_cast<int64_t>(size_of(units_.sum));
      sums_at_ =
          f.reserve_scratch(t_.sweep * t_.task_tiles * t_.task_panels * tile_elements_ * bytes);
    }
  }

  void run(Value* row_end, Value* panel_end) {
    panel_end_ = panel_end;
    f_.loop(f_.i64(0), f_.i64(t_.block_count), 1, [&](Value* block) {
      block_begin_ = b_.CreateMul(block, f_.i64(t_.block));
      const bool whole = t_.depth % t_.block == 0;
      block_length_ = whole || t_.block_count == 1
                          ? f_.i64(std::min(t_.block, t_.depth))
                          : minimum(b_.CreateSub(f_.i64(t_.depth), block_begin_), f_.i64(t_.block));
      first_block_ = b_.CreateICmpEQ(block, f_.i64(0));
      last_block_ = b_.CreateICmpEQ(block, f_.i64(t_.block_count - 1));
      if (t_.pack_scalars) {
        for_tiles(row_end, [&](Value* tile, const Variable& row, int height) {
          pack_scalars(tile, row, height);
        });
      }
      if (t_.sweep > 1) {
        sweep(row_end, panel_end);
      } else {
        panels(row_end, panel_end);
      }
    });
  }

 private:
  void set_outer(Value* point) {
    const Values coordinates = f_.delinearize(point, t_.outer_extents);
    for (size_t k = 0; k < t_.outer.size(); ++k) base_.variables[t_.outer[k]] = coordinates[k];
  }

  /// A row tile stays in the nearest cache while the outer points pass by.
  void sweep(Value* row_end, Value* panel_end) {
    Value* outer_end =
        minimum(b_.CreateAdd(outer_begin_, f_.i64(t_.sweep)), f_.i64(t_.outer_count()));
    for_tiles(row_end, [&](Value* tile, const Variable& row, int height) {
      f_.loop(outer_begin_, outer_end, 1, [&](Value* point) {
        set_outer(point);
        swept_ = b_.CreateSub(point, outer_begin_);
        for_groups(panel_end, 1, [&](Value* panel, Value*, const VectorShape& shape) {
          micro_kernel(tile, row, height, panel, column_of(panel, shape), shape);
        });
      });
    });
  }

  /// A panel, or a group of packed ones, stays there while the row tiles pass by.
  void panels(Value* row_end, Value* panel_end) {
    for_groups(panel_end, group_, [&](Value* first, Value* end, const VectorShape& shape) {
      if (t_.pack_vectors) pack_panels(first, end, shape);
      const auto one = [&](Value* panel) {
        packed_panel_ = packed_slot(b_.CreateSub(panel, first));
        for_tiles(row_end, [&](Value* tile, const Variable& row, int height) {
          micro_kernel(tile, row, height, panel, column_of(panel, shape), shape);
        });
      };
      if (group_ == 1 || shape.elements() != t_.panel) {
        one(first);
      } else {
        f_.loop(first, end, 1, one);
      }
    });
  }

  /// Runs `body` for `by` whole panels at a time, then for the one that is not whole.
  template <class F>
  void for_groups(Value* panel_end, int64_t by, const F& body) {
    Value* whole = f_.i64(t_.panel_count);
    if (t_.panel_count > 0) {
      const VectorShape shape = VectorShape::full(t_.lanes, static_cast<int>(t_.panel / t_.lanes));
      Value* last = minimum(panel_end, whole);
      f_.loop(panel_begin_, last, by, [&](Value* first) {
        Value* end = b_.CreateAdd(first, f_.i64(by));
        body(first, by == 1 ? end : minimum(end, last), shape);
      });
    }
    if (t_.panel_rest > 0) {
      f_.if_then(b_.CreateICmpSGT(panel_end, whole), [&] {
        body(whole, f_.i64(t_.panel_count + 1), VectorShape::holding(t_.lanes, t_.panel_rest));
      });
    }
  }

  Variable column_of(Value* panel, const VectorShape& shape) {
    const bool rest = t_.panel_rest > 0 && shape.elements() == t_.panel_rest;
    return Variable(rest ? f_.i64(t_.panel_count * t_.panel)
                         : b_.CreateMul(panel, f_.i64(t_.panel)));
  }

  Value* minimum(Value* a, Value* x) { return f_.bound(llvm::Intrinsic::smin, a, x); }
  Value* maximum(Value* a, Value* x) { return f_.bound(llvm::Intrinsic::smax, a, x); }

  template <class F>
  void for_tiles(Value* row_end, const F& body) {
    Value* tall_count = f_.i64(t_.tall_count);
    if (t_.tall_count > 0) {
      f_.loop(row_begin_, minimum(row_end, tall_count), 1,
              [&](Value* tile) { body(tile, b_.CreateMul(tile, f_.i64(t_.tall)), t_.tall); });
    }
    if (t_.low_count > 0) {
      f_.loop(maximum(row_begin_, tall_count), row_end, 1, [&](Value* tile) {
        const Variable row(b_.CreateMul(tile, f_.i64(t_.low)), t_.tall_count * (t_.tall - t_.low));
        body(tile, row, t_.low);
      });
    }
  }

  // ---- The micro-kernel ----

  void micro_kernel(Value* tile, const Variable& row, int height, Value* panel,
                    const Variable& column, const VectorShape& shape) {
    const int width = shape.copies;
    Scope scope = base_;
    if (t_.column >= 0) scope.variables[t_.column] = column;
    Values sums(static_cast<size_t>(height * width),
                f_.splat(f_.constant(units_.sum, 0), t_.lanes));
    Value* rest = nullptr;
    if (t_.block_count > 1) {
      Value* index = b_.CreateSub(panel, panel_begin_);
      if (t_.sweep > 1) {
        index = b_.CreateAdd(b_.CreateMul(swept_, f_.i64(t_.task_panels)), index);
      }
      index =
          b_.CreateAdd(b_.CreateMul(index, f_.i64(t_.task_tiles)), b_.CreateSub(tile, row_begin_));
      rest = f_.element(units_.sum, f_.scratch_at(sums_at_),
                        b_.CreateMul(index, f_.i64(tile_elements_)));
      sums = f_.if_then(b_.CreateNot(first_block_), sums, [&] {
        Values loaded;
        for (int i = 0; i < height * width; ++i) {
          loaded.push_back(f_.load(units_.sum, f_.element(units_.sum, rest, f_.i64(i * t_.lanes)),
                                   t_.lanes, t_.lanes));
        }
        return loaded;
      });
    }
    fetch_ahead(panel);
    const auto single = [&](const Depth& depth, const Values& carried) {
      return multiply_add(depth, tile, row, height, shape, carried);
    };
    if (units_.group > 1) {
      sums = multiply_units(tile, height, shape, sums);
    } else if (turns_in_registers()) {
      const auto turned = [&](const Depth& depth, int count, const Values& carried) {
        return multiply_add_turned(depth, count, tile, row, height, shape, carried);
      };
      sums = along_depth(
          scope, t_.lanes, sums,
          [&](const Depth& depth, const Values& carried) {
            return turned(depth, t_.lanes, carried);
          },
          single, turned);
    } else {
      const int64_t unroll = t_.block == kShortBlock ? kShortBlock : kUnroll;
      sums = along_depth(
          scope, unroll, sums,
          [&](const Depth& depth, const Values& carried) {
            Values next = carried;
            for (int64_t u = 0; u < unroll; ++u) next = single(deeper(depth, u), next);
            return next;
          },
          single);
    }
    if (rest != nullptr) {
      f_.if_then(b_.CreateNot(last_block_), [&] {
        for (int i = 0; i < height * width; ++i) {
          f_.store(units_.sum, sums[i], f_.element(units_.sum, rest, f_.i64(i * t_.lanes)),
                   t_.lanes);
        }
      });
    }
    f_.if_then(last_block_, [&] { write_back(scope, row, height, shape, sums); });
  }

  /// Of the rows that are read side by side the coming panels; behind the task's last one those
  /// that begin the next block.
  void fetch_ahead(Value* panel) {
    if (t_.ahead == 0) return;
    Value* inside = b_.CreateICmpSLT(b_.CreateAdd(panel, f_.i64(t_.ahead)), panel_end_);
    Value* back = b_.CreateSelect(inside, f_.i64(0), b_.CreateSub(panel_end_, panel_begin_));
    Value* columns = b_.CreateMul(b_.CreateSub(f_.i64(t_.ahead), back), f_.i64(t_.panel));
    ahead_ = {{t_.column, columns}};
    if (stage_.reduce.size() == 1) {
      Value* deeper = b_.CreateSelect(inside, f_.i64(0), f_.i64(t_.block));
      ahead_.push_back({static_cast<int>(first_reduce_), deeper});
    }
  }

  /// The epilogue, a row at a time; a long one as a loop over rows of sums parked in memory, so
  /// that it is compiled once.
  void write_back(const Scope& scope, const Variable& row, int height, const VectorShape& shape,
                  const Values& sums) {
    const auto one = [&](const Variable& at_row, const Values& values) {
      Scope at;
      at.variables.assign(scope.variables.begin(), scope.variables.begin() + first_reduce_);
      if (t_.row >= 0) at.variables[t_.row] = at_row;
      at.vector = t_.column;
      Lanes result;
      result.uniform = t_.lanes == 1;
      for (Value* value : values) result.parts.push_back(f_.cast(units_.sum, dot_.dtype, value));
      BodyEmitter post(f_, stage_.post, locals_, at, shape);
      post.set_reduced({&result, 1});
      post.emit_all();
    };
    const auto row_of_sums = [&](int i) {
      return Values(sums.begin() + i * shape.copies, sums.begin() + (i + 1) * shape.copies);
    };
    if (height == 1 || stage_.post.instrs.size() <= kShortEpilogue) {
      for (int i = 0; i < height; ++i) one(row.plus(i), row_of_sums(i));
      return;
    }
    if (parked_at_ < 0) {
      parked_at_ = f_.reserve_scratch(tile_elements_ * static_cast<int64_t>(size_of(units_.sum)));
    }
    const auto place = [&](Value* index, int j) {
      Value* first =
          f_.element(units_.sum, f_.scratch_at(parked_at_), b_.CreateMul(index, f_.i64(t_.panel)));
      return f_.element(units_.sum, first, f_.i64(int64_t{j} * t_.lanes));
    };
    for (int i = 0; i < height; ++i) {
      for (int j = 0; j < shape.copies; ++j) {
        f_.store(units_.sum, sums[i * shape.copies + j], place(f_.i64(i), j), t_.lanes);
      }
    }
    f_.loop(f_.i64(0), f_.i64(height), 1, [&](Value* i) {
      Values values;
      for (int j = 0; j < shape.copies; ++j) {
        values.push_back(f_.load(units_.sum, place(i, j), t_.lanes, t_.lanes));
      }
      Variable at = row;
      at.value = at.value == nullptr ? i : b_.CreateAdd(at.value, i);
      one(at, values);
    });
  }

  /// One k: a row of vectors of one factor times `height` scalars of the other.
  Values multiply_add(const Depth& depth, Value* tile, const Variable& row, int height,
                      const VectorShape& shape, const Values& sums) {
    Values wide;
    if (t_.pack_vectors) {
      wide = packed_vectors(packed_panel_, depth.packed, shape);
    } else {
      Scope at = depth.scope;
      at.vector = t_.column;
      at.ahead = ahead_;
      BodyEmitter body(f_, stage_.body, locals_, at, shape);
      Lanes& value = body.emit(t_.vector_root(dot_));
      for (int j = 0; j < shape.copies; ++j) wide.push_back(body.vector(value, j));
    }
    return multiply_add(depth, tile, row, height, wide, sums);
  }

  /// Whether the factor that is read as vectors lies along k and is not packed.
  [[nodiscard]] bool turns_in_registers() const {
    return !t_.pack_vectors && !t_.direct && t_.lanes > 1 && !stage_.reduce.empty();
  }

  /// `count` k, at most as many as there are lanes.
  Values multiply_add_turned(const Depth& depth, int count, Value* tile, const Variable& row,
                             int height, const VectorShape& shape, const Values& sums) {
    std::vector<Values> squares;
    squares.reserve(static_cast<size_t>(shape.copies));
    for (int copy = 0; copy < shape.copies; ++copy) {
      squares.push_back(turned_square(t_.vector_root(dot_), depth, count, t_.column,
                                      depth.scope.variables[t_.column], shape, copy));
    }
    Values next = sums;
    for (int k = 0; k < count; ++k) {
      Values wide;
      for (const Values& square : squares) wide.push_back(square[k]);
      next = multiply_add(deeper(depth, k), tile, row, height, wide, next);
    }
    return next;
  }

  Values multiply_add(const Depth& depth, Value* tile, const Variable& row, int height,
                      const Values& wide, const Values& sums) {
    const size_t width = wide.size();
    Values next = sums;
    for (int i = 0; i < height; ++i) {
      Value* factor;
      if (t_.pack_scalars) {
        factor = packed_scalar(tile, depth.packed, i);
      } else {
        Scope at = depth.scope;
        if (t_.row >= 0) at.variables[t_.row] = row.plus(i);
        BodyEmitter body(f_, stage_.body, locals_, at, VectorShape::scalar());
        factor = body.emit(t_.scalar_root(dot_)).scalar();
      }
      factor = f_.splat(factor, t_.lanes);
      for (size_t j = 0; j < width; ++j) {
        Value*& sum = next[i * width + j];
        sum = t_.columns_from_second ? f_.fma(dot_.dtype, factor, wide[j], sum)
                                     : f_.fma(dot_.dtype, wide[j], factor, sum);
      }
    }
    return next;
  }

  /// The steps of the block that runs, both factors packed in units.
  Values multiply_units(Value* tile, int height, const VectorShape& shape, Values sums) {
    for (int i = 0; i < height && units_.biased; ++i) {
      Value* more = correction(tile, i);
      for (int j = 0; j < shape.copies; ++j) {
        Value*& sum = sums[i * shape.copies + j];
        sum = b_.CreateAdd(sum, more);
      }
    }
    const auto step = [&](const Variable& at, const Values& carried) {
      const Values wide = packed_vectors(packed_panel_, at, shape);
      Values next = carried;
      for (int i = 0; i < height; ++i) {
        Value* factor = f_.splat(packed_scalar(tile, at, i), t_.lanes);
        for (int j = 0; j < shape.copies; ++j) {
          Value*& sum = next[i * shape.copies + j];
          sum = add_products(sum, wide[j], factor);
        }
      }
      return next;
    };
    Value* steps = steps_of_block();
    Value* main = b_.CreateAnd(steps, f_.i64(-kUnroll));
    sums = f_.loop(f_.i64(0), main, kUnroll, sums, [&](Value* u, const Values& carried) {
      Values next = carried;
      for (int64_t more = 0; more < kUnroll; ++more) next = step(Variable(u).plus(more), next);
      return next;
    });
    return f_.loop(main, steps, 1, sums, step);
  }

  static constexpr int64_t kUnroll = 4, kShortBlock = 2 * kUnroll;
  static constexpr size_t kShortEpilogue = 8;

  Value* panel_begin_;
  Value* panel_end_ = nullptr;
  llvm::SmallVector<Scope::Ahead, 2> ahead_;
  Value* outer_begin_ = nullptr;
  Value* swept_ = nullptr;  ///< outer points that the sweep has passed
  Value* first_block_ = nullptr;
  Value* last_block_ = nullptr;
  int64_t sums_at_ = 0;
  int64_t tile_elements_ = 0;
  Value* packed_panel_ = nullptr;
  int64_t parked_at_ = -1;
};

}  // namespace

void emit_contraction(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
                      const LocalLayout& locals, const Scope& grid, Value* run, Value* row_begin,
                      Value* row_end, Value* panel_begin, Value* panel_end) {
  if (tiling.rows == 0 || tiling.columns == 0) return;
  ContractionEmitter(f, stage, tiling, locals, grid, run, row_begin, panel_begin)
      .run(row_end, panel_end);
}

}  // namespace reprise::codegen
