// A table filled as it is asked for.
#include "ir/elementwise.h"

#include <vector>

#include "ir/error.h"

namespace reprise {

constinit std::array<std::array<std::atomic<uint8_t>, kNumDTypes>, ElementwiseResults::kBuiltinOps>
    ElementwiseResults::table_{};

uint8_t ElementwiseResults::ask(Op op, DType dtype) {
  const OpDef& def = op_def(op);
  uint8_t answer = kRefused;
  if (def.kind == OpKind::Elementwise && def.min_operands == def.max_operands &&
      def.min_operands <= 3 && def.attrs.empty()) {
    const std::vector<TensorType> operands(static_cast<size_t>(def.min_operands), {dtype, {}});
    try {
      const TensorType type = def.infer({.op = op, .operands = operands, .attrs = Attrs()});
      answer = static_cast<uint8_t>(def.min_operands << kCountShift |
                                    (static_cast<int>(type.dtype) + 1));
    } catch (const Error&) {
      // Refused: the caller's slow path gives the reason.
    }
  }
  table_[static_cast<size_t>(op)][static_cast<size_t>(dtype)].store(answer,
                                                                    std::memory_order_relaxed);
  return answer;
}

}  // namespace reprise
