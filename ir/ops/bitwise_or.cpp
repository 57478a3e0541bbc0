// Bits of both, by or.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& bitwise_or_def() {
  static constexpr OpDef def{
      .name = "bitwise_or",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "Bitwise or; logical or for bool.",
      .infer = elementwise<Accepts::Bits>,
      .lower = lower_binary<ScalarOp::Or>,
      .samples = binary_samples_of<Fill::Extremes, Fill::Extremes, DType::I32>,
  };
  return def;
}

}  // namespace reprise
