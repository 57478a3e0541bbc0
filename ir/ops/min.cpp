// The smallest value over axes.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& min_def() {
  static constexpr OpDef def =
      extremum_over_axes("min", ReduceKind::Min,
                         "The smallest value over `axes`; NaN if there is one, -0 orders below +0; "
                         "for bool it is and. Over no element it throws, unless the result is "
                         "empty too. The gradient is shared equally among equal elements, or "
                         "among those that are NaN.");
  return def;
}

}  // namespace reprise
