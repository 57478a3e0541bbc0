// Loops over the depth of a contraction, or over one block of it.
#pragma once

#include <functional>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

/// A place along the depth: the reduce variables are in the scope, `packed` counts from the
/// beginning of the block.
struct Depth {
  Scope scope;
  Variable packed;
};

class DepthLoops {
 protected:
  using Value = llvm::Value;
  using Values = FunctionEmitter::Values;

  /// `first_reduce` is the number of the outermost reduce variable.
  DepthLoops(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
             size_t first_reduce)
      : f_(f), b_(f.b), stage_(stage), t_(tiling), first_reduce_(first_reduce) {}

  /// Runs `whole` for every k of the block, `by` at a time as long as that many are left, then
  /// `single` one by one; or `rest` for several that are left, where it is given.
  using Rest = std::function<Values(const Depth&, int, const Values&)>;
  template <class Whole, class Single>
  Values along_depth(const Scope& scope, int64_t by, const Values& init, const Whole& whole,
                     const Single& single, const Rest& rest = {}) {
    Depth depth{scope, Variable(f_.i64(0))};
    return level(0, depth, f_.i64(0), by, init, whole, single, rest);
  }

  Depth deeper(const Depth& depth, int64_t by) const {
    Depth result = depth;
    if (!stage_.reduce.empty()) {
      Variable& last = result.scope.variables.back();
      last = last.plus(by);
    }
    result.packed = depth.packed.plus(by);
    return result;
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const Stage& stage_;
  const ContractionTiling& t_;
  size_t first_reduce_;
  // The block that runs.
  Value* block_begin_ = nullptr;
  Value* block_length_ = nullptr;

 private:
  template <class Whole, class Single>
  Values level(size_t level_index, Depth& depth, Value* linear, int64_t by, const Values& init,
               const Whole& whole, const Single& single, const Rest& rest) {
    const size_t variable = first_reduce_ + level_index;
    if (level_index == stage_.reduce.size()) return single(depth, init);
    if (level_index + 1 < stage_.reduce.size()) {
      int64_t inner = 1;
      for (size_t l = level_index + 1; l < stage_.reduce.size(); ++l) inner *= stage_.reduce[l];
      // Blocks are whole iterations of the outermost loop.
      const bool blocks = level_index == 0 && t_.block_count > 1;
      Value* first = blocks ? b_.CreateUDiv(block_begin_, f_.i64(inner)) : f_.i64(0);
      Value* count =
          blocks ? b_.CreateUDiv(block_length_, f_.i64(inner)) : f_.i64(stage_.reduce[level_index]);
      return f_.loop(f_.i64(0), count, 1, init, [&](Value* k, const Values& carried) {
        depth.scope.variables[variable] = b_.CreateAdd(first, k);
        Value* next = b_.CreateAdd(linear, b_.CreateMul(k, f_.i64(inner)));
        return level(level_index + 1, depth, next, by, carried, whole, single, rest);
      });
    }
    const bool only = stage_.reduce.size() == 1;
    Value* begin = only ? block_begin_ : f_.i64(0);
    Value* length = only ? block_length_ : f_.i64(stage_.reduce.back());
    const auto at = [&](Value* k) {
      depth.scope.variables[variable] = b_.CreateAdd(begin, k);
      depth.packed = b_.CreateAdd(linear, k);
    };
    // A short inner loop is unrolled: what lies inside or outside is known then, not computed.
    auto* short_length = llvm::dyn_cast<llvm::ConstantInt>(length);
    if (!only && by == 1 && short_length != nullptr && short_length->getSExtValue() <= kShortLoop) {
      Values sums = init;
      for (int64_t k = 0; k < short_length->getSExtValue(); ++k) {
        at(f_.i64(k));
        sums = single(depth, sums);
      }
      return sums;
    }
    Value* main = b_.CreateAnd(length, f_.i64(-by));
    Values sums = f_.loop(f_.i64(0), main, by, init, [&](Value* k, const Values& carried) {
      at(k);
      return whole(depth, carried);
    });
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(length);
        known != nullptr && (by <= kShortLoop || rest)) {
      const int64_t end = known->getSExtValue();
      const int64_t left = end & (by - 1);
      if (rest && left > 1) {
        at(f_.i64(end - left));
        return rest(depth, static_cast<int>(left), sums);
      }
      for (int64_t k = end & -by; k < end; ++k) {
        at(f_.i64(k));
        sums = single(depth, sums);
      }
      return sums;
    }
    return f_.loop(main, length, 1, sums, [&](Value* k, const Values& carried) {
      at(k);
      return single(depth, carried);
    });
  }

  static constexpr int64_t kShortLoop = 8;
};

}  // namespace reprise::codegen
