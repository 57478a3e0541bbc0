// x, as a value that is not there before another one is.
#include "ir/ops/pass_through.h"

namespace reprise {

const OpDef& after_def() {
  static constexpr OpDef def = pass_through(
      "after", 2, 2,
      "Operand 0 itself, but another value to the compiler, and computed from only once operand 1 "
      "is known: what a checkpoint computes anew is neither merged with what it computed first nor "
      "moved there.",
      [] {
        return std::vector{pass_through_sample({Shape{}}), pass_through_sample({Shape{7}})};
      });
  return def;
}

}  // namespace reprise
