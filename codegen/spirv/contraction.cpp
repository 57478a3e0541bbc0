// Tiled contractions: blocks of the depth through workgroup memory, a tile of sums an invocation.
//
// Every element of the result is one chain over ascending k, whatever the tiling; but for sums that
// matrix instructions compute, which are exact in any order or allowed to differ.
#include <algorithm>

#include "codegen/spirv/matrix.h"
#include "codegen/spirv/part.h"

namespace reprise::spirv {

using codegen::product;

namespace {

constexpr uint32_t kSide = kTile / kOwn;  // invocations along one side of a tile

class TileEmitter {
 public:
  TileEmitter(Function& f, PartMemory& memory, const PartPlan& plan, const Workgroup& workgroup)
      : f_(f),
        memory_(memory),
        plan_(plan),
        loops_(*plan.tile),
        stage_(plan.part.stages[0]),
        dot_(stage_.reductions[0]),
        type_(f.m.register_type(dot_.dtype)),
        invocation_(workgroup.invocation) {
    const int64_t extents[] = {plan.points, product(loops_.outer_extents), plan.row_tiles,
                               plan.column_tiles};
    Scope place;
    append_coordinates(f, {workgroup.group, false}, extents, place);
    append_coordinates(f, {narrow_value(f, place[0]), false}, plan.part.grid, scope_);
    Scope outer;
    append_coordinates(f, {narrow_value(f, place[1]), false}, loops_.outer_extents, outer);
    scope_.resize(plan.part.grid.size() + stage_.parallel.size());
    for (size_t i = 0; i < outer.size(); ++i) scope_[loops_.outer[i]] = outer[i];
    first_row_ = f.mul(narrow_value(f, place[2]), constant(kTile));
    first_column_ = f.mul(narrow_value(f, place[3]), constant(kTile));
  }

  void run() {
    if (plan_.matrix) {
      multiply_matrices(*plan_.matrix);
    } else {
      multiply();
    }
    f_.barrier();
    f_.loop(invocation_, kTile * kTile, kGroupInvocations, [&](Value index) { finish(index); });
  }

 private:
  Value constant(uint32_t value) { return f_.m.constant(value); }

  // ---- Sums in registers ----

  void multiply() {
    const Value x = f_.op(spv::OpUMod, f_.m.u32(), {invocation_, constant(kSide)});
    const Value y = f_.op(spv::OpUDiv, f_.m.u32(), {invocation_, constant(kSide)});
    std::vector<Value> sums;
    for (int i = 0; i < kOwn * kOwn; ++i) {
      sums.push_back(f_.variable(type_));
      f_.store(sums.back(), f_.start_of_sum(dot_.dtype));
    }
    const uint32_t depth = static_cast<uint32_t>(loops_.depth);
    f_.loop(constant(0), loops_.depth, kTileDepth, [&](Value begin) {
      fill(loops_.scalar_root(dot_), loops_.row, first_row_, loops_.rows, begin, 0,
           loops_.scalars_direct);
      fill(loops_.vector_root(dot_), loops_.column, first_column_, loops_.columns, begin,
           kTile * kTileDepth, loops_.direct);
      f_.barrier();
      const Value left = f_.op(spv::OpISub, f_.m.u32(), {constant(depth), begin});
      const Value count = loops_.depth % kTileDepth == 0
                              ? constant(kTileDepth)
                              : f_.select(f_.m.u32(), f_.below(left, constant(kTileDepth)), left,
                                          constant(kTileDepth));
      f_.loop(constant(0), count, constant(1), kTileDepth, [&](Value k) {
        const Value at = f_.mul(k, constant(kTile));
        std::vector<Value> rows, columns;
        for (uint32_t i = 0; i < kOwn; ++i) {
          rows.push_back(read(0, at, f_.add(y, constant(i * kSide))));
          columns.push_back(read(kTile * kTileDepth, at, f_.add(x, constant(i * kSide))));
        }
        for (int i = 0; i < kOwn; ++i) {
          for (int j = 0; j < kOwn; ++j) {
            // The factors in the order they were written: a product is the same either way but for
            // which NaN it is.
            const Value sum = sums[i * kOwn + j];
            f_.store(sum, f_.fma(dot_.dtype, rows[i], columns[j], f_.load(type_, sum)));
          }
        }
      });
      f_.barrier();
    });
    // The sums go through workgroup memory too: one copy of the epilogue, its stores side by side.
    for (uint32_t i = 0; i < kOwn; ++i) {
      for (uint32_t j = 0; j < kOwn; ++j) {
        const Value row = f_.mul(f_.add(y, constant(i * kSide)), constant(kTile));
        const Value index = f_.add(row, f_.add(x, constant(j * kSide)));
        memory_.store_shared(dot_.dtype, 0, index, f_.load(type_, sums[i * kOwn + j]));
      }
    }
  }

  Value read(int64_t first, Value row, Value column) {
    return memory_.load_shared(dot_.dtype, first, f_.add(row, column));
  }

  /// One factor's block [k][line] for kTileDepth values of k and kTile of `variable`.
  void fill(ScalarId root, int variable, Value first_line, int64_t lines, Value first_k, int64_t at,
            bool lines_contiguous) {
    for_places(kTileDepth, lines_contiguous, [&](Value in_tile, Value in_block) {
      const Value value =
          element(root, variable, f_.add(first_line, in_tile), lines, f_.add(first_k, in_block));
      memory_.store_shared(dot_.dtype, at, f_.add(f_.mul(in_block, constant(kTile)), in_tile),
                           value);
    });
  }

  // ---- Sums by matrix instructions ----

  void multiply_matrices(const MatrixPlan& plan) {
    Matrices matrices(f_, memory_, plan, invocation_);
    const uint32_t m = static_cast<uint32_t>(plan.shape.m), n = static_cast<uint32_t>(plan.shape.n);
    const uint32_t across = kTile / n;
    // A subgroup's fragments: `high` x `wide` of them.
    const uint32_t fragments = static_cast<uint32_t>(plan.fragments);
    const uint32_t wide = std::min(fragments, across), high = fragments / wide;
    const Value first = f_.mul(matrices.subgroup(), constant(fragments));
    const Value row =
        f_.mul(f_.op(spv::OpUDiv, f_.m.u32(), {first, constant(across)}), constant(m));
    const Value column =
        f_.mul(f_.op(spv::OpUMod, f_.m.u32(), {first, constant(across)}), constant(n));
    std::vector<Value> sums(fragments);
    for (Value& each : sums) each = matrices.make_sums();
    f_.loop(constant(0), loops_.depth, plan.depth(), [&](Value begin) {
      pack(plan, plan.scalars, loops_.row, first_row_, loops_.rows, begin, 0,
           loops_.scalars_direct);
      pack(plan, plan.vectors, loops_.column, first_column_, loops_.columns, begin, kMatrixBlock,
           loops_.direct);
      f_.barrier();
      const uint32_t quads = static_cast<uint32_t>(plan.shape.k) * size_of(plan.shape.factors) / 16;
      for (uint32_t step = 0; step < kMatrixLine / 16; step += quads) {
        std::vector<Value> rows, columns;
        for (uint32_t i = 0; i < high; ++i) {
          rows.push_back(matrices.load_rows(quad(row, i * m, step)));
        }
        for (uint32_t j = 0; j < wide; ++j) {
          columns.push_back(matrices.load_columns(quad(column, j * n, kMatrixBlock + step)));
        }
        for (uint32_t i = 0; i < high; ++i) {
          for (uint32_t j = 0; j < wide; ++j) {
            matrices.multiply_add(sums[i * wide + j], rows[i], columns[j]);
          }
        }
      }
      f_.barrier();
    });
    for (uint32_t i = 0; i < high; ++i) {
      for (uint32_t j = 0; j < wide; ++j) {
        const Value word = f_.add(f_.mul(f_.add(row, constant(i * m)), constant(kTile)),
                                  f_.add(column, constant(j * n)));
        matrices.store(sums[i * wide + j],
                       f_.op(spv::OpShiftRightLogical, f_.m.u32(), {word, constant(2)}));
      }
    }
  }

  /// Quad `at` of line `first` + `further` of a block.
  Value quad(Value first, uint32_t further, uint32_t at) {
    return f_.add(f_.mul(f_.add(first, constant(further)), constant(kMatrixStride)), constant(at));
  }

  /// One factor's block [line][k] from quad `at` on, zeros where there is nothing.
  void pack(const MatrixPlan& plan, ScalarId root, int variable, Value first_line, int64_t lines,
            Value first_k, uint32_t at, bool lines_contiguous) {
    const uint32_t bytes = static_cast<uint32_t>(size_of(plan.shape.factors));
    for_places(kMatrixLine / 4, lines_contiguous, [&](Value in_tile, Value word) {
      const Value line = f_.add(first_line, in_tile);
      const Value k = f_.add(first_k, f_.mul(word, constant(4 / bytes)));
      Value packed = constant(0);
      for (uint32_t part = 0; part < 4 / bytes; ++part) {
        const Value value = element(root, variable, line, lines, f_.add(k, constant(part)));
        packed = f_.op(spv::OpBitFieldInsert, f_.m.u32(),
                       {packed, f_.to_word(plan.shape.factors, value), constant(8 * bytes * part),
                        constant(8 * bytes)});
      }
      const Value place = f_.add(f_.mul(in_tile, constant(4 * kMatrixStride)), word);
      memory_.store_quad_word(f_.add(place, constant(4 * at)), packed);
    });
  }

  // ---- Both ----

  /// body(line, place along the depth) for all of a block, shared out over the invocations so that
  /// neighbours read neighbouring elements.
  template <class F>
  void for_places(uint32_t depth, bool lines_contiguous, const F& body) {
    f_.loop(invocation_, kTile * depth, kGroupInvocations, [&](Value index) {
      const Value extent = constant(lines_contiguous ? kTile : depth);
      const Value fast = f_.op(spv::OpUMod, f_.m.u32(), {index, extent});
      const Value slow = f_.op(spv::OpUDiv, f_.m.u32(), {index, extent});
      body(lines_contiguous ? fast : slow, lines_contiguous ? slow : fast);
    });
  }

  /// A factor at `line` of `variable` and `k` of the depth; 0 beyond either.
  Value element(ScalarId root, int variable, Value line, int64_t lines, Value k) {
    const DType dtype = stage_.body[root].dtype;
    const Value inside = f_.op(spv::OpLogicalAnd, f_.m.bool_type(),
                               {f_.below(line, constant(static_cast<uint32_t>(lines))),
                                f_.below(k, constant(static_cast<uint32_t>(loops_.depth)))});
    const Value zero = f_.m.constant_bits(dtype, 0);
    return f_.if_value(inside, f_.m.register_type(dtype), zero, [&] {
      Scope scope = scope_;
      if (variable >= 0) scope[variable] = {line, false};
      append_coordinates(f_, {k, false}, stage_.reduce, scope);
      return BodyEmitter(f_, memory_, stage_.body, scope).emit(root);
    });
  }

  /// What became of sum `index` of the tile, row by row.
  Value sum(Value index) {
    if (!plan_.matrix) return memory_.load_shared(dot_.dtype, 0, index);
    const DType sums = plan_.matrix->shape.sums;
    return f_.cast(sums, dot_.dtype, f_.from_word(sums, memory_.load_quad_word(index)));
  }

  void finish(Value index) {
    const Value row = f_.add(first_row_, f_.op(spv::OpUDiv, f_.m.u32(), {index, constant(kTile)}));
    const Value column =
        f_.add(first_column_, f_.op(spv::OpUMod, f_.m.u32(), {index, constant(kTile)}));
    const Value inside = f_.op(spv::OpLogicalAnd, f_.m.bool_type(),
                               {f_.below(row, constant(static_cast<uint32_t>(loops_.rows))),
                                f_.below(column, constant(static_cast<uint32_t>(loops_.columns)))});
    f_.if_then(inside, [&] {
      Scope scope = scope_;
      if (loops_.row >= 0) scope[loops_.row] = {row, false};
      if (loops_.column >= 0) scope[loops_.column] = {column, false};
      BodyEmitter post(f_, memory_, stage_.post, scope);
      post.set_reduced({sum(index)});
      post.emit_all();
    });
  }

  Function& f_;
  PartMemory& memory_;
  const PartPlan& plan_;
  const codegen::ContractionLoops& loops_;
  const Stage& stage_;
  const Reduction& dot_;
  Value type_;
  Value invocation_;
  Scope scope_;  ///< grid and parallel loops; rows and columns are set in copies
  Value first_row_ = 0, first_column_ = 0;
};

}  // namespace

void emit_tile(Function& f, PartMemory& memory, const PartPlan& plan, const Workgroup& workgroup) {
  TileEmitter(f, memory, plan, workgroup).run();
}

}  // namespace reprise::spirv
