// Matrix instructions: fragments of two factors and of their sums that a subgroup holds together.
#pragma once

#include <vector>

#include "codegen/spirv/function.h"
#include "codegen/spirv/layout.h"
#include "codegen/spirv/memory.h"

namespace reprise::spirv {

/// One shape of such an instruction, in the form that the target asks for. Fragments are loaded
/// from and stored to quads of workgroup memory. All invocations of a subgroup must come here
/// together.
class Matrices {
 public:
  Matrices(Function& f, PartMemory& memory, const MatrixPlan& plan, Value invocation);

  /// Which subgroup of the workgroup this is.
  [[nodiscard]] Value subgroup() const { return subgroup_; }

  /// M rows (N columns) from quad `first` on, K of the depth of each, kMatrixStride quads apart.
  Value load_rows(Value first) { return load(first, true); }
  Value load_columns(Value first) { return load(first, false); }
  /// M x N sums, in variables; 0 at first.
  Value make_sums();
  void multiply_add(Value sums, Value rows, Value columns);
  /// Row by row from quad `first` on, kTile words apart.
  void store(Value sums, Value first);

 private:
  [[nodiscard]] bool emulated() const { return form_ == MatrixForm::Emulated; }
  Value element_type(DType dtype);
  Value matrix_type(DType dtype, int rows, int columns, uint32_t use);
  Value load(Value first, bool rows);
  /// body(pointer, row, column) for what an invocation holds of `sums` where they are emulated.
  template <class F>
  void for_own_sums(Value sums, const F& body);

  Function& f_;
  PartMemory& memory_;
  const MatrixShape shape_;
  const MatrixForm form_;
  Value subgroup_ = 0;
  Value rows_ = 0, columns_ = 0, sums_ = 0;  ///< types
  // Emulated:
  Value lane_ = 0;
  uint32_t lanes_ = 0;
};

}  // namespace reprise::spirv
