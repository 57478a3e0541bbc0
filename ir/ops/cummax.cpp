// Running maxima.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& cummax_def() {
  static constexpr OpDef def = running_extremum<ScalarOp::Max>(
      "cummax",
      "Element i of `axis` is the largest of elements 0 to i; NaN from the first NaN on; -0 orders "
      "below +0. The gradient goes to the last element that is equal to it.");
  return def;
}

}  // namespace reprise
