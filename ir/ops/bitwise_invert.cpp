// Every bit flipped.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& bitwise_invert_def() {
  static constexpr OpDef def{
      .name = "bitwise_invert",
      .doc = "Every bit flipped; logical not for bool.",
      .infer = elementwise<Accepts::Bits>,
      .lower = lower_unary<ScalarOp::Not>,
      .samples = unary_samples_of<Fill::Extremes, DType::I32>,
  };
  return def;
}

}  // namespace reprise
