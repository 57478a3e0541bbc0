// A table filled as it is asked for.
#include "ir/elementwise.h"

#include <vector>

#include "ir/error.h"

namespace reprise {

constinit std::array<std::array<std::atomic<uint8_t>, kNumDTypes>, ElementwiseResults::kBuiltinOps>
    ElementwiseResults::table_{};

namespace {

/// What an op makes of operands of rank 0 and this dtype, its attributes all 0; nothing where it
/// refuses them.
std::optional<DType> inferred(Op op, DType dtype) {
  const OpDef& def = op_def(op);
  Attrs attrs;
  for (size_t i = 0; i < def.attrs.size(); ++i) attrs.add_int(0);
  const std::vector<TensorType> operands(static_cast<size_t>(def.min_operands), {dtype, {}});
  try {
    return def.infer({.op = op, .operands = operands, .attrs = attrs}).dtype;
  } catch (const Error&) {
    return std::nullopt;  // the caller's slow path gives the reason
  }
}

}  // namespace

DType computed_in(Op op, DType dtype) {
  if (!is_integer(dtype) && dtype != DType::Bool) return dtype;
  return !inferred(op, DType::I32) && inferred(op, DType::F32) ? DType::F32 : dtype;
}

uint8_t ElementwiseResults::ask(Op op, DType dtype) {
  const OpDef& def = op_def(op);
  uint8_t answer = kRefused;
  if (def.kind == OpKind::Elementwise && def.min_operands == def.max_operands &&
      def.min_operands <= 3 && def.attrs.empty()) {
    if (const std::optional<DType> result = inferred(op, dtype)) {
      answer =
          static_cast<uint8_t>(def.min_operands << kCountShift | (static_cast<int>(*result) + 1));
    }
  }
  table_[static_cast<size_t>(op)][static_cast<size_t>(dtype)].store(answer,
                                                                    std::memory_order_relaxed);
  return answer;
}

}  // namespace reprise
