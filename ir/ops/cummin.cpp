// Running minima.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& cummin_def() {
  static constexpr OpDef def = running_extremum<ScalarOp::Min>(
      "cummin",
      "Element i of `axis` is the smallest of elements 0 to i; NaN from the first NaN on; -0 "
      "orders below +0. The gradient goes to the last element that is equal to it.");
  return def;
}

}  // namespace reprise
