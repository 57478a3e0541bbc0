// Bits of both, by xor.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& bitwise_xor_def() {
  static constexpr OpDef def{
      .name = "bitwise_xor",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "Bitwise xor; logical xor for bool.",
      .infer = elementwise<Accepts::Bits>,
      .lower = lower_binary<ScalarOp::Xor>,
      .samples = binary_samples_of<Fill::Extremes, Fill::Extremes, DType::I32>,
  };
  return def;
}

}  // namespace reprise
