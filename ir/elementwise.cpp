// A table filled from the ops' own inference as it is asked for.
#include "ir/elementwise.h"

#include <array>
#include <atomic>
#include <vector>

#include "ir/error.h"

namespace reprise {

namespace {

constexpr int kBuiltinOps = 0
#define REPRISE_OP(Name, file) +1
#include "ir/ops/ops.def"
#undef REPRISE_OP
    ;
// An answer: the dtype's number and one, and above it how many operands the op takes.
constexpr uint8_t kUnknown = 0, kRefused = 255;
constexpr int kCountShift = 5;
static_assert(kNumDTypes < 1 << kCountShift);

uint8_t ask(Op op, DType dtype) {
  const OpDef& def = op_def(op);
  if (def.kind != OpKind::Elementwise || def.min_operands != def.max_operands ||
      def.min_operands > 3 || !def.attrs.empty()) {
    return kRefused;
  }
  const std::vector<TensorType> operands(static_cast<size_t>(def.min_operands), {dtype, {}});
  try {
    const TensorType type = def.infer({.op = op, .operands = operands, .attrs = Attrs()});
    return static_cast<uint8_t>(def.min_operands << kCountShift |
                                (static_cast<int>(type.dtype) + 1));
  } catch (const Error&) {
    return kRefused;
  }
}

}  // namespace

std::optional<DType> elementwise_result(Op op, int operands, DType dtype) {
  static std::array<std::array<std::atomic<uint8_t>, kNumDTypes>, kBuiltinOps> table{};
  if (static_cast<int>(op) >= kBuiltinOps) return std::nullopt;
  std::atomic<uint8_t>& entry = table[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
  uint8_t answer = entry.load(std::memory_order_relaxed);
  if (answer == kUnknown) entry.store(answer = ask(op, dtype), std::memory_order_relaxed);
  if (answer == kRefused || answer >> kCountShift != operands) return std::nullopt;
  return static_cast<DType>((answer & ((1 << kCountShift) - 1)) - 1);
}

}  // namespace reprise
