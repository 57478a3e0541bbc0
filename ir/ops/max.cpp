// The largest value over axes.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& max_def() {
  static constexpr OpDef def =
      extremum_over_axes("max", ReduceKind::Max,
                         "The largest value over `axes`; NaN if there is one, -0 orders below +0; "
                         "for bool it is or. Over no element it throws, unless the result is empty "
                         "too. The gradient is shared equally among equal elements, or "
                         "among those that are NaN.");
  return def;
}

}  // namespace reprise
