// Values that the invocations of a subgroup hand each other without memory.
#pragma once

#include <cstdint>

#include "codegen/spirv/function.h"

namespace reprise::spirv {

/// The subgroups of a workgroup of kGroupInvocations. Nothing is assumed of their size: the shader
/// asks, and where they are not all full each invocation counts as alone.
class Subgroup {
 public:
  explicit Subgroup(Function& f);

  /// How many invocations of consecutive lanes reach each other: a power of two, the same for all
  /// invocations; 1: none.
  [[nodiscard]] Value width() const { return width_; }
  /// Below the width.
  [[nodiscard]] Value lane() const { return lane_; }
  /// What lane ^ `mask` has. All invocations must come here together.
  Value exchanged(DType dtype, Value a, uint32_t mask);
  /// What the first lane has.
  Value first(DType dtype, Value a);

 private:
  Value moved(spv::Op op, DType dtype, Value a, uint32_t operand);

  Function& f_;
  Value width_ = 0, lane_ = 0;
};

}  // namespace reprise::spirv
