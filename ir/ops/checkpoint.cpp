// What a checkpoint returns: x, whose gradient computes anew what x was computed from.
#include "ir/ops/pass_through.h"

namespace reprise {

// The gradient pass looks at the operands after the first (passes/gradient.cpp).
const OpDef& checkpoint_def() {
  static constexpr OpDef def = pass_through(
      "checkpoint", 1, -1,
      "Operand 0 itself. Gradients do not read what lies between it and the other operands: they "
      "compute it anew from those.",
      [] {
        return std::vector{pass_through_sample({}), pass_through_sample({Shape{7}, Shape{5, 13}})};
      });
  return def;
}

}  // namespace reprise
