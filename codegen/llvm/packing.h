// Copies of a contraction's factors in the order in which its micro-kernel reads them.
#pragma once

#include "codegen/llvm/depth_loops.h"

namespace reprise::codegen {

/// The factor that is read as vectors is packed in panels, a slot each: step k of the depth holds
/// the columns. The other one is packed in row tiles: step k holds the rows. Where the target
/// multiplies units, a step is a unit of several k, and rows that lie along the depth stay so.
class Packing : protected DepthLoops {
 protected:
  Packing(FunctionEmitter& f, const Stage& stage, const ContractionTiling& tiling,
          const LocalLayout& locals, const Scope& grid, Value* row_begin);

  /// Panels [first, end) of the vector factor.
  void pack_panels(Value* first, Value* end, const VectorShape& shape);
  /// One row tile of the scalar factor.
  void pack_scalars(Value* tile, const Variable& row, int height);

  /// Slot `number` of the packed panels.
  Value* packed_slot(Value* number);
  /// The vectors of a panel at one step, which may be a unit.
  Values packed_vectors(Value* slot, const Variable& step, const VectorShape& shape);
  /// The scalar of row `i` of a tile at one step.
  Value* packed_scalar(Value* tile, const Variable& step, int i);
  /// What the sums of row `i` of a tile begin each block with; null: nothing.
  Value* correction(Value* tile, int i);

  /// Reads along k, turns it: for each of `count` k one vector along `variable`, those of a copy.
  Values turned_square(ScalarId root, const Depth& depth, int count, int variable,
                       const Variable& from, const VectorShape& shape, int copy);
  /// Steps of the block that runs.
  Value* steps_of_block();
  /// The products of units, added to sums. A unit of `vectors` may be in each lane.
  Value* add_products(Value* sums, Value* vectors, Value* scalars);

  const LocalLayout& locals_;
  const Reduction& dot_;
  const DotUnits& units_;
  DType packed_;       ///< of what a step holds for each row or column: a value, or a unit
  int64_t steps_;      ///< of a block
  Scope base_;         ///< the point of the grid, and of the outer loops
  Value* row_begin_;   ///< the task's first row tile
  int64_t group_ = 1;  ///< panels that are packed together

 private:
  Value* packed_pointer(Value* pointer, const Variable& index, int64_t stride, int64_t more);
  Value* scalars_slot(Value* tile);
  void each_panel(Value* first, Value* end,
                  const std::function<void(Value*, const Variable&)>& body);
  void pack_row(ScalarId root, const Depth& depth, int variable, const Variable& from,
                const VectorShape& shape, Value* slot, int64_t stride, int least);
  void pack_square(ScalarId root, const Depth& depth, int count, int variable, const Variable& from,
                   const VectorShape& shape, Value* slot, int64_t stride, int least);
  void transpose(Values& square);

  // Units.
  enum class Side : uint8_t { Scalars, Vectors };
  void pack_unit_panels(Value* first, Value* end, const VectorShape& shape);
  void pack_unit_scalars(Value* tile, const Variable& row, int height);
  [[nodiscard]] bool rows_lie_along_depth() const;
  Value* unit_value(Side side, Value* value);
  void pack_unit_row(Side side, const Depth& depth, int variable, const Variable& from,
                     const VectorShape& shape, Value* slot, int64_t stride, int least);
  void pack_unit_element(Side side, const Depth& depth, int variable, const Variable& from,
                         const VectorShape& shape, Value* slot, int64_t stride, int least);
  Value* units_along_depth(Side side, const Depth& depth, int count, int variable,
                           const Variable& at);
  void pack_unit_square(const Depth& depth, int count, const Variable& from,
                        const VectorShape& shape, Value* slot);
  void pack_corrections(Value* tile, int height);
  Variable step_of(const Variable& packed);

  [[nodiscard]] int unit_bits() const { return 32 / units_.group; }
  [[nodiscard]] int64_t row_stride() const { return round_up(steps_, t_.lanes); }
  static int64_t round_up(int64_t value, int64_t by) { return divide_up(value, by) * by; }

  /// How far a factor is fetched before it is packed: rows, or iterations of the outermost loop.
  static constexpr int64_t kRowsAhead = 16, kOuterAhead = 2;
  static constexpr int64_t kGroupBytes = 128 << 10;
  static constexpr int64_t kLargestGroup = 16;

  int64_t vectors_at_ = 0, scalars_at_ = 0, corrections_at_ = 0;
};

}  // namespace reprise::codegen
