// Where the largest value over axes is.
#include "ir/ops/extremum.h"

namespace reprise {

const OpDef& argmax_def() {
  static constexpr OpDef def =
      extremum_position("argmax", ReduceKind::ArgMax,
                        "The index of the first NaN, else of the first largest value, as i64: "
                        "row-major over the folded axes. Over no element it throws, unless the "
                        "result is empty too. Not differentiable.");
  return def;
}

}  // namespace reprise
