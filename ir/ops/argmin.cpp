// Where the smallest value over axes is.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& argmin_def() {
  static constexpr OpDef def =
      extremum_position("argmin", ReduceKind::ArgMin,
                        "The index of the first NaN, else of the first smallest value, as i64: "
                        "row-major over the folded axes. Over no element it throws, unless the "
                        "result is empty too. Not differentiable.");
  return def;
}

}  // namespace reprise
