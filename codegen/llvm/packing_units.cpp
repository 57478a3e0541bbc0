// Packing of units: several values of the depth in each 32-bit lane, multiplied by one instruction.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/packing.h"

namespace reprise::codegen {

using llvm::Value;
using Values = FunctionEmitter::Values;

/// Rows of the scalar factor that are contiguous along the depth are copied as they lie.
bool Packing::rows_lie_along_depth() const {
  return units_.group > 1 && stage_.reduce.size() == 1 && (t_.row < 0 || !t_.scalars_direct);
}

/// The step that a k belongs to.
Variable Packing::step_of(const Variable& packed) {
  if (packed.value == nullptr) return Variable(nullptr, packed.offset / units_.group);
  Value* k = b_.CreateAdd(packed.value, f_.i64(packed.offset));
  return b_.CreateUDiv(k, f_.i64(units_.group));
}

Value* Packing::steps_of_block() {
  return b_.CreateUDiv(b_.CreateAdd(block_length_, f_.i64(units_.group - 1)), f_.i64(units_.group));
}

/// A factor's value as the bits that a unit holds of it.
Value* Packing::unit_value(Side side, Value* value) {
  const DType from = stage_.body[side == Side::Scalars ? units_.scalars : units_.vectors].dtype;
  if (size_of(from) != size_of(units_.element)) value = f_.cast(from, units_.element, value);
  const bool bias = side == Side::Vectors && units_.biased;
  return bias ? b_.CreateXor(value, f_.like(value, DType::I8, 0x80)) : value;
}

void Packing::pack_unit_panels(Value* first, Value* end, const VectorShape& shape) {
  const auto element = [&](const Depth& depth, Value* slot, const Variable& column) {
    pack_unit_element(Side::Vectors, depth, t_.column, column, shape, slot, t_.panel, t_.lanes);
  };
  if (t_.direct || stage_.reduce.size() != 1) {
    const int64_t by = stage_.reduce.size() == 1 ? units_.group : 1;
    along_depth(
        base_, by, {},
        [&](const Depth& depth, const Values&) {
          each_panel(first, end, [&](Value* slot, const Variable& column) {
            if (by == 1) return element(depth, slot, column);
            pack_unit_row(Side::Vectors, depth, t_.column, column, shape, slot, t_.panel, t_.lanes);
          });
          return Values();
        },
        [&](const Depth& depth, const Values&) {
          each_panel(first, end,
                     [&](Value* slot, const Variable& column) { element(depth, slot, column); });
          return Values();
        });
    return;
  }
  each_panel(first, end, [&](Value* slot, const Variable& column) {
    const auto square = [&](const Depth& depth, int count) {
      pack_unit_square(depth, count, column, shape, slot);
      return Values();
    };
    const int whole = t_.lanes * units_.group;
    along_depth(
        base_, whole, {}, [&](const Depth& depth, const Values&) { return square(depth, whole); },
        [&](const Depth& depth, const Values&) {
          element(depth, slot, column);
          return Values();
        },
        [&](const Depth& depth, int count, const Values&) { return square(depth, count); });
  });
}

void Packing::pack_unit_scalars(Value* tile, const Variable& row, int height) {
  Value* slot = scalars_slot(tile);
  if (rows_lie_along_depth()) {
    const int whole = t_.lanes * units_.group;
    f_.loop(f_.i64(0), f_.i64(height), 1, [&](Value* i) {
      Variable at = row;
      at.value = at.value == nullptr ? i : b_.CreateAdd(at.value, i);
      Value* place = f_.element(packed_, slot, b_.CreateMul(i, f_.i64(row_stride())));
      if (t_.depth == 0) return;
      // What the row leaves of its last vector of units is zero.
      Value* last = b_.CreateAnd(b_.CreateSub(steps_of_block(), f_.i64(1)), f_.i64(-t_.lanes));
      f_.store(packed_, f_.splat(f_.constant(packed_, 0), t_.lanes),
               f_.element(packed_, place, last), t_.lanes);
      const auto run = [&](const Depth& depth, int count) {
        Value* values = units_along_depth(Side::Scalars, depth, count, t_.row, at);
        const int steps_left = static_cast<int>(divide_up(count, units_.group));
        f_.store(packed_, values, packed_pointer(place, step_of(depth.packed), 1, 0), steps_left);
        return Values();
      };
      along_depth(
          base_, whole, {}, [&](const Depth& depth, const Values&) { return run(depth, whole); },
          [&](const Depth& depth, const Values&) {
            pack_unit_element(Side::Scalars, depth, t_.row, at, VectorShape::scalar(), place, 1, 0);
            return Values();
          },
          [&](const Depth& depth, int count, const Values&) { return run(depth, count); });
    });
  } else {
    const VectorShape shape = VectorShape::holding(t_.lanes, height);
    const auto element = [&](const Depth& depth, const Values&) {
      pack_unit_element(Side::Scalars, depth, t_.row, row, shape, slot, t_.tall, 0);
      return Values();
    };
    const bool whole = stage_.reduce.size() == 1;
    along_depth(
        base_, whole ? units_.group : 1, {},
        [&](const Depth& depth, const Values& none) {
          if (!whole) return element(depth, none);
          pack_unit_row(Side::Scalars, depth, t_.row, row, shape, slot, t_.tall, 0);
          return Values();
        },
        element);
  }
  if (units_.biased) pack_corrections(tile, height);
}

/// A whole unit of consecutive values of `variable`, into its step of a slot.
void Packing::pack_unit_row(Side side, const Depth& depth, int variable, const Variable& from,
                            const VectorShape& shape, Value* slot, int64_t stride, int least) {
  const ScalarId root = side == Side::Scalars ? units_.scalars : units_.vectors;
  const int copies = t_.lanes == 1 ? shape.elements() : shape.copies;
  Values units(copies);
  for (int g = 0; g < units_.group; ++g) {
    Scope at = deeper(depth, g).scope;
    const auto add = [&](BodyEmitter& body, int copy, int which) {
      Value* value = unit_value(side, body.vector(body.emit(root), which));
      value = b_.CreateZExt(value, f_.shaped(b_.getInt32Ty(), value));
      if (g > 0) value = b_.CreateShl(value, f_.like(value, DType::I32, unit_bits() * g));
      units[copy] = g == 0 ? value : b_.CreateOr(units[copy], value);
    };
    if (t_.lanes == 1) {
      for (int i = 0; i < copies; ++i) {
        if (variable >= 0) at.variables[variable] = from.plus(i);
        BodyEmitter body(f_, stage_.body, locals_, at, VectorShape::scalar());
        add(body, i, 0);
      }
      continue;
    }
    if (variable >= 0) at.variables[variable] = from;
    at.vector = variable;
    at.ahead = {{static_cast<int>(first_reduce_), f_.i64(kRowsAhead)}};
    BodyEmitter body(f_, stage_.body, locals_, at, shape);
    for (int copy = 0; copy < copies; ++copy) add(body, copy, copy);
  }
  const Variable step = step_of(depth.packed);
  for (int copy = 0; copy < copies; ++copy) {
    const int active = t_.lanes == 1 ? 1 : std::max(least, shape.active(copy));
    f_.store(packed_, units[copy], packed_pointer(slot, step, stride, int64_t{copy} * t_.lanes),
             active);
  }
}

/// One value of the depth: the first of a unit begins it, each next one is added to what is there.
void Packing::pack_unit_element(Side side, const Depth& depth, int variable, const Variable& from,
                                const VectorShape& shape, Value* slot, int64_t stride, int least) {
  const ScalarId root = side == Side::Scalars ? units_.scalars : units_.vectors;
  Value* k = depth.packed.value == nullptr
                 ? f_.i64(depth.packed.offset)
                 : b_.CreateAdd(depth.packed.value, f_.i64(depth.packed.offset));
  Value* inside = b_.CreateAnd(k, f_.i64(units_.group - 1));
  Value* begins = b_.CreateICmpEQ(inside, f_.i64(0));
  Value* shift = b_.CreateTrunc(b_.CreateMul(inside, f_.i64(unit_bits())), b_.getInt32Ty());
  const Variable step = step_of(depth.packed);
  const auto put = [&](Value* value, Value* pointer, int lanes, int active) {
    value = unit_value(side, value);
    value = b_.CreateZExt(value, f_.shaped(b_.getInt32Ty(), value));
    value = b_.CreateShl(value, f_.splat(shift, lanes));
    Value* there = f_.load(packed_, pointer, lanes, active);
    there = b_.CreateSelect(begins, f_.like(there, packed_, 0), there);
    f_.store(packed_, b_.CreateOr(there, value), pointer, active);
  };
  Scope at = depth.scope;
  if (shape.lanes == 1) {
    for (int i = 0; i < shape.elements(); ++i) {
      if (variable >= 0) at.variables[variable] = from.plus(i);
      BodyEmitter body(f_, stage_.body, locals_, at, VectorShape::scalar());
      put(body.emit(root).scalar(), packed_pointer(slot, step, stride, i), 1, 1);
    }
    return;
  }
  if (variable >= 0) at.variables[variable] = from;
  at.vector = variable;
  BodyEmitter body(f_, stage_.body, locals_, at, shape);
  Lanes& value = body.emit(root);
  for (int copy = 0; copy < shape.copies; ++copy) {
    put(body.vector(value, copy), packed_pointer(slot, step, stride, int64_t{copy} * t_.lanes),
        t_.lanes, std::max(least, shape.active(copy)));
  }
}

/// `count` values along the depth as units, zeros behind them.
Value* Packing::units_along_depth(Side side, const Depth& depth, int count, int variable,
                                  const Variable& at) {
  const ScalarId root = side == Side::Scalars ? units_.scalars : units_.vectors;
  const int values = t_.lanes * units_.group;
  Scope scope = depth.scope;
  if (variable >= 0) scope.variables[variable] = at;
  scope.vector = static_cast<int>(scope.variables.size()) - 1;
  BodyEmitter body(f_, stage_.body, locals_, scope, VectorShape::holding(values, count));
  Value* row = unit_value(side, body.vector(body.emit(root), 0));
  if (count < values) {
    llvm::SmallVector<int, 64> mask(values, values);
    for (int i = 0; i < count; ++i) mask[i] = i;
    row = b_.CreateShuffleVector(row, llvm::Constant::getNullValue(row->getType()), mask);
  }
  llvm::Type* unit = b_.getInt32Ty();
  return b_.CreateBitCast(
      row,
      t_.lanes == 1 ? unit : llvm::FixedVectorType::get(unit, static_cast<unsigned>(t_.lanes)));
}

/// Reads columns along the depth and turns them.
void Packing::pack_unit_square(const Depth& depth, int count, const Variable& from,
                               const VectorShape& shape, Value* slot) {
  const Variable step = step_of(depth.packed);
  const int64_t steps = divide_up(count, units_.group);
  for (int copy = 0; copy < shape.copies; ++copy) {
    Values square;
    for (int c = 0; c < t_.lanes; ++c) {
      square.push_back(c < shape.active(copy)
                           ? units_along_depth(Side::Vectors, depth, count, t_.column,
                                               from.plus(int64_t{copy} * t_.lanes + c))
                           : f_.splat(f_.constant(packed_, 0), t_.lanes));
    }
    transpose(square);
    for (int64_t s = 0; s < steps; ++s) {
      f_.store(packed_, square[s],
               packed_pointer(slot, step.plus(s), t_.panel, int64_t{copy} * t_.lanes), t_.lanes);
    }
  }
}

// What 128 more in each value of the vectors adds to a row's sums, to be taken out of them.
void Packing::pack_corrections(Value* tile, int height) {
  Value* slot = scalars_slot(tile);
  Value* first = b_.CreateMul(b_.CreateSub(tile, row_begin_), f_.i64(t_.tall));
  Value* place = f_.element(packed_, f_.scratch_at(corrections_at_), first);
  Value* steps = steps_of_block();
  Value* bias = f_.splat(f_.constant(packed_, 0x80808080), t_.lanes);
  const Values none{f_.splat(f_.constant(packed_, 0), t_.lanes)};
  if (rows_lie_along_depth()) {
    f_.loop(f_.i64(0), f_.i64(height), 1, [&](Value* i) {
      Value* row = f_.element(packed_, slot, b_.CreateMul(i, f_.i64(row_stride())));
      Values sums = f_.loop(f_.i64(0), steps, t_.lanes, none, [&](Value* u, const Values& carried) {
        Value* units = f_.load(packed_, f_.element(packed_, row, u), t_.lanes, t_.lanes);
        return Values{add_products(carried[0], bias, units)};
      });
      Value* sum = t_.lanes == 1 ? sums[0] : b_.CreateAddReduce(sums[0]);
      f_.store(packed_, b_.CreateNeg(sum), f_.element(packed_, place, i), 1);
    });
    return;
  }
  const VectorShape shape = VectorShape::holding(t_.lanes, height);
  for (int copy = 0; copy < shape.copies; ++copy) {
    const int active = shape.active(copy);
    Values sums = f_.loop(f_.i64(0), steps, 1, none, [&](Value* u, const Values& carried) {
      Value* pointer = packed_pointer(slot, u, t_.tall, int64_t{copy} * t_.lanes);
      return Values{add_products(carried[0], bias, f_.load(packed_, pointer, t_.lanes, active))};
    });
    f_.store(packed_, b_.CreateNeg(sums[0]),
             f_.element(packed_, place, f_.i64(int64_t{copy} * t_.lanes)), active);
  }
}

Value* Packing::correction(Value* tile, int i) {
  if (!units_.biased) return nullptr;
  Value* index = b_.CreateMul(b_.CreateSub(tile, row_begin_), f_.i64(t_.tall));
  Value* place = f_.element(packed_, f_.scratch_at(corrections_at_), index);
  return f_.splat(f_.load(packed_, f_.element(packed_, place, f_.i64(i)), 1, 1), t_.lanes);
}

Value* Packing::add_products(Value* sums, Value* vectors, Value* scalars) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(sums->getType());
  const int lanes = type == nullptr ? 1 : static_cast<int>(type->getNumElements());
  const int widest = f_.features.vector_bytes / 4;
  if (lanes < 4) {
    // The narrowest instruction has four lanes.
    const auto widened = [&](Value* value) {
      if (lanes == 1) {
        auto* four = llvm::FixedVectorType::get(value->getType(), 4);
        return b_.CreateInsertElement(llvm::Constant::getNullValue(four), value, uint64_t{0});
      }
      return b_.CreateShuffleVector(value, llvm::Constant::getNullValue(value->getType()),
                                    {0, 1, 2, 3});
    };
    Value* all = add_products(widened(sums), widened(vectors), widened(scalars));
    return lanes == 1 ? b_.CreateExtractElement(all, uint64_t{0})
                      : b_.CreateShuffleVector(all, {0, 1});
  }
  if (lanes > widest) {
    llvm::SmallVector<int, 32> low, high, both;
    for (int i = 0; i < lanes; ++i) {
      (i < lanes / 2 ? low : high).push_back(i);
      both.push_back(i);
    }
    const auto part = [&](const llvm::SmallVector<int, 32>& mask) {
      return add_products(b_.CreateShuffleVector(sums, mask), b_.CreateShuffleVector(vectors, mask),
                          b_.CreateShuffleVector(scalars, mask));
    };
    return b_.CreateShuffleVector(part(low), part(high), both);
  }
  const auto by_width = [&](llvm::Intrinsic::ID x128, llvm::Intrinsic::ID x256,
                            llvm::Intrinsic::ID x512) {
    return lanes == 4 ? x128 : lanes == 8 ? x256 : x512;
  };
  const auto as = [&](llvm::Type* element, int per_lane, Value* value) {
    return b_.CreateBitCast(
        value, llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes * per_lane)));
  };
  namespace x86 = llvm::Intrinsic;
  if (units_.element == DType::BF16) {
    const auto id = by_width(x86::x86_avx512bf16_dpbf16ps_128, x86::x86_avx512bf16_dpbf16ps_256,
                             x86::x86_avx512bf16_dpbf16ps_512);
    llvm::Type* half = b_.getBFloatTy();
    return b_.CreateIntrinsic(id, {}, {sums, as(half, 2, vectors), as(half, 2, scalars)});
  }
  if (units_.element == DType::I8) {
    const auto id = by_width(x86::x86_avx512_vpdpbusd_128, x86::x86_avx512_vpdpbusd_256,
                             x86::x86_avx512_vpdpbusd_512);
    return b_.CreateIntrinsic(id, {}, {sums, vectors, scalars});
  }
  if (f_.features.vnni) {
    const auto id = by_width(x86::x86_avx512_vpdpwssd_128, x86::x86_avx512_vpdpwssd_256,
                             x86::x86_avx512_vpdpwssd_512);
    return b_.CreateIntrinsic(id, {}, {sums, vectors, scalars});
  }
  const auto id =
      by_width(x86::x86_sse2_pmadd_wd, x86::x86_avx2_pmadd_wd, x86::x86_avx512_pmaddw_d_512);
  llvm::Type* half = b_.getInt16Ty();
  return b_.CreateAdd(sums,
                      b_.CreateIntrinsic(id, {}, {as(half, 2, vectors), as(half, 2, scalars)}));
}

}  // namespace reprise::codegen
