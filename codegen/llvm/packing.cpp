// Packing of factors as they are: panels of columns, row tiles, squares turned in registers.
#include "codegen/llvm/packing.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

Packing::Packing(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
                 const LocalLayout& locals, const Scope& grid, Value* row_begin)
    : DepthLoops(f, stage, tiling, grid.variables.size() + stage.parallel.size()),
      locals_(locals),
      dot_(stage.reductions[0]),
      units_(tiling.units),
      packed_(units_.group > 1 ? DType::I32 : dot_.dtype),
      steps_(divide_up(tiling.block, units_.group)),
      row_begin_(row_begin) {
  base_.variables = grid.variables;
  base_.variables.resize(grid.variables.size() + stage.parallel.size() + stage.reduce.size());
  const auto bytes = static_cast<int64_t>(size_of(packed_));
  if (t_.pack_vectors) {
    // Packing reads whole rows of a group of panels: pieces of one panel would touch a page each.
    const int64_t slot = steps_ * t_.panel * bytes;
    const int64_t fits = kGroupBytes / std::max<int64_t>(1, slot);
    group_ = std::clamp<int64_t>(std::min(fits, t_.task_panels), 1, kLargestGroup);
    vectors_at_ = f.reserve_scratch(group_ * slot);
  }
  if (t_.pack_scalars) {
    scalars_at_ = f.reserve_scratch(t_.task_tiles * t_.tall * row_stride() * bytes);
  }
  if (units_.biased) corrections_at_ = f.reserve_scratch(t_.task_tiles * t_.tall * bytes);
}

Value* Packing::packed_pointer(Value* pointer, const Variable& index, int64_t stride,
                               int64_t more) {
  if (index.value != nullptr) {
    pointer = f_.element(packed_, pointer, b_.CreateMul(index.value, f_.i64(stride)));
  }
  const int64_t displacement = index.offset * stride + more;
  return displacement == 0 ? pointer : f_.element(packed_, pointer, f_.i64(displacement));
}

Value* Packing::packed_slot(Value* number) {
  Value* pointer = f_.scratch_at(vectors_at_);
  return f_.element(packed_, pointer, b_.CreateMul(number, f_.i64(steps_ * t_.panel)));
}

Values Packing::packed_vectors(Value* slot, const Variable& step, const VectorShape& shape) {
  Values vectors;
  for (int j = 0; j < shape.copies; ++j) {
    Value* pointer = packed_pointer(slot, step, t_.panel, int64_t{j} * t_.lanes);
    vectors.push_back(f_.load(packed_, pointer, t_.lanes, t_.lanes));
  }
  return vectors;
}

Value* Packing::packed_scalar(Value* tile, const Variable& step, int i) {
  Value* slot = scalars_slot(tile);
  Value* pointer = rows_lie_along_depth() ? packed_pointer(slot, step, 1, i * row_stride())
                                          : packed_pointer(slot, step, t_.tall, i);
  return f_.load(packed_, pointer, 1, 1);
}

void Packing::each_panel(Value* first, Value* end,
                         const std::function<void(Value*, const Variable&)>& body) {
  f_.loop(first, end, 1, [&](Value* panel) {
    body(packed_slot(b_.CreateSub(panel, first)), b_.CreateMul(panel, f_.i64(t_.panel)));
  });
}

void Packing::pack_panels(Value* first, Value* end, const VectorShape& shape) {
  if (units_.group > 1) return pack_unit_panels(first, end, shape);
  const auto row = [&](const Depth& depth, Value* slot, const Variable& column) {
    pack_row(t_.vector_root(dot_), depth, t_.column, column, shape, slot, t_.panel, t_.lanes);
  };
  if (t_.direct || t_.lanes == 1 || stage_.reduce.empty()) {
    const auto single = [&](const Depth& depth, const Values&) {
      each_panel(first, end,
                 [&](Value* slot, const Variable& column) { row(depth, slot, column); });
      return Values();
    };
    along_depth(base_, 1, {}, single, single);
    return;
  }
  each_panel(first, end, [&](Value* slot, const Variable& column) {
    along_depth(
        base_, t_.lanes, {},
        [&](const Depth& depth, const Values&) {
          pack_square(t_.vector_root(dot_), depth, t_.lanes, t_.column, column, shape, slot,
                      t_.panel, t_.lanes);
          return Values();
        },
        [&](const Depth& depth, const Values&) {
          row(depth, slot, column);
          return Values();
        },
        [&](const Depth& depth, int count, const Values&) {
          pack_square(t_.vector_root(dot_), depth, count, t_.column, column, shape, slot, t_.panel,
                      t_.lanes);
          return Values();
        });
  });
}

void Packing::pack_row(ScalarId root, const Depth& depth, int variable, const Variable& from,
                       const VectorShape& shape, Value* slot, int64_t stride, int least) {
  if (t_.lanes == 1) {
    for (int i = 0; i < shape.elements(); ++i) {
      Scope at = depth.scope;
      if (variable >= 0) at.variables[variable] = from.plus(i);
      BodyEmitter body(f_, stage_.body, locals_, at, VectorShape::scalar());
      f_.store(dot_.dtype, body.emit(root).scalar(), packed_pointer(slot, depth.packed, stride, i),
               1);
    }
    return;
  }
  Scope at = depth.scope;
  if (variable >= 0) at.variables[variable] = from;
  at.vector = variable;
  if (!stage_.reduce.empty()) {
    at.ahead = {{static_cast<int>(first_reduce_),
                 f_.i64(stage_.reduce.size() == 1 ? kRowsAhead : kOuterAhead)}};
  }
  BodyEmitter body(f_, stage_.body, locals_, at, shape);
  Lanes& value = body.emit(root);
  for (int copy = 0; copy < shape.copies; ++copy) {
    f_.store(dot_.dtype, body.vector(value, copy),
             packed_pointer(slot, depth.packed, stride, int64_t{copy} * t_.lanes),
             std::max(least, shape.active(copy)));
  }
}

void Packing::pack_square(ScalarId root, const Depth& depth, int count, int variable,
                          const Variable& from, const VectorShape& shape, Value* slot,
                          int64_t stride, int least) {
  for (int copy = 0; copy < shape.copies; ++copy) {
    const Values square = turned_square(root, depth, count, variable, from, shape, copy);
    for (int k = 0; k < count; ++k) {
      f_.store(dot_.dtype, square[k],
               packed_pointer(slot, depth.packed.plus(k), stride, int64_t{copy} * t_.lanes),
               std::max(least, shape.active(copy)));
    }
  }
}

Values Packing::turned_square(ScalarId root, const Depth& depth, int count, int variable,
                              const Variable& from, const VectorShape& shape, int copy) {
  Values square;
  for (int c = 0; c < t_.lanes; ++c) {
    if (c >= shape.active(copy)) {
      square.push_back(f_.splat(f_.constant(dot_.dtype, 0), t_.lanes));
      continue;
    }
    Scope at = depth.scope;
    at.variables[variable] = from.plus(int64_t{copy} * t_.lanes + c);
    at.vector = static_cast<int>(at.variables.size()) - 1;
    at.ahead = {{at.vector, f_.i64(8 * t_.lanes)}};
    BodyEmitter body(f_, stage_.body, locals_, at, VectorShape::holding(t_.lanes, count));
    square.push_back(body.vector(body.emit(root), 0));
  }
  transpose(square);
  return square;
}

void Packing::transpose(Values& square) {
  const int n = static_cast<int>(square.size());
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    llvm::SmallVector<int, 16> first, second;
    for (int lane = 0; lane < n; ++lane) {
      const bool low = (lane & distance) == 0;
      first.push_back(low ? lane : n + lane - distance);
      second.push_back(low ? lane + distance : n + lane);
    }
    for (int i = 0; i < n; ++i) {
      if ((i & distance) != 0) continue;
      Value* a = square[i];
      Value* x = square[i + distance];
      square[i] = b_.CreateShuffleVector(a, x, first);
      square[i + distance] = b_.CreateShuffleVector(a, x, second);
    }
  }
}

Value* Packing::scalars_slot(Value* tile) {
  Value* number = b_.CreateSub(tile, row_begin_);
  return f_.element(packed_, f_.scratch_at(scalars_at_),
                    b_.CreateMul(number, f_.i64(t_.tall * row_stride())));
}

void Packing::pack_scalars(Value* tile, const Variable& row, int height) {
  if (units_.group > 1) return pack_unit_scalars(tile, row, height);
  const VectorShape shape = VectorShape::holding(t_.lanes, height);
  Value* slot = scalars_slot(tile);
  const auto single = [&](const Depth& depth, const Values&) {
    pack_row(t_.scalar_root(dot_), depth, t_.row, row, shape, slot, t_.tall, 0);
    return Values();
  };
  const bool squares = t_.lanes > 1 && t_.row >= 0 && !t_.scalars_direct && !stage_.reduce.empty();
  if (!squares) {
    along_depth(base_, 1, {}, single, single);
    return;
  }
  along_depth(
      base_, t_.lanes, {},
      [&](const Depth& depth, const Values&) {
        pack_square(t_.scalar_root(dot_), depth, t_.lanes, t_.row, row, shape, slot, t_.tall, 0);
        return Values();
      },
      single,
      [&](const Depth& depth, int count, const Values&) {
        pack_square(t_.scalar_root(dot_), depth, count, t_.row, row, shape, slot, t_.tall, 0);
        return Values();
      });
}

}  // namespace reprise::codegen
