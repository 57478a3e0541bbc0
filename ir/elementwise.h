// What an elementwise op makes of operands that agree, without asking its inference each time.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include "ir/op.h"

namespace reprise {

/// Answers that the ops' own inference gave, by op and dtype.
class ElementwiseResults {
 public:
  /// The dtype of an elementwise op's result when all its operands are of `dtype`; nothing when the
  /// op does not take that, is not elementwise, has attributes, or not exactly `operands` operands.
  [[nodiscard]] static std::optional<DType> find(Op op, int operands, DType dtype) {
    if (static_cast<int>(op) >= kBuiltinOps) return std::nullopt;
    uint8_t answer =
        table_[static_cast<size_t>(op)][static_cast<size_t>(dtype)].load(std::memory_order_relaxed);
    if (answer == kUnknown) [[unlikely]]
      answer = ask(op, dtype);
    if (answer >> kCountShift != operands) return std::nullopt;
    return static_cast<DType>((answer & kTypeMask) - 1);
  }

 private:
  static constexpr int kBuiltinOps = [] {
    int count = 0;
#define REPRISE_OP(Name, file) ++count;
#include "ir/ops/ops.def"
#undef REPRISE_OP
    return count;
  }();
  // An answer: the dtype's number and one, and above it how many operands the op takes. What is
  // refused takes a number of operands that nobody gives.
  static constexpr int kCountShift = 5;
  static constexpr int kTypeMask = (1 << kCountShift) - 1;
  static constexpr uint8_t kUnknown = 0, kRefused = 7 << kCountShift;
  static_assert(kNumDTypes < kTypeMask);

  static uint8_t ask(Op op, DType dtype);
  static constinit std::array<std::array<std::atomic<uint8_t>, kNumDTypes>, kBuiltinOps> table_;
};

/// The dtype in which an op computes whose operands have `dtype`: f32 for bool and integers where
/// it takes floats only, else `dtype` itself, which it may refuse.
[[nodiscard]] DType computed_in(Op op, DType dtype);

}  // namespace reprise
