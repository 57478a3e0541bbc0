// The smaller of two values.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& minimum_def() {
  static constexpr OpDef def = extremum_of_two<Op::Less, ScalarOp::Min, ScalarOp::And>(
      "minimum",
      "The smaller of two values. NaN in either gives NaN; -0 orders below +0; for bool it is and. "
      "The gradient goes to the chosen operand, and half to each where they are equal or both "
      "NaN.");
  return def;
}

}  // namespace reprise
