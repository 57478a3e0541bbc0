// Bits of both, by and.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& bitwise_and_def() {
  static constexpr OpDef def{
      .name = "bitwise_and",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "Bitwise and; logical and for bool.",
      .infer = elementwise<Accepts::Bits>,
      .lower = lower_binary<ScalarOp::And>,
      .samples = binary_samples_of<Fill::Extremes, Fill::Extremes, DType::I32>,
  };
  return def;
}

}  // namespace reprise
