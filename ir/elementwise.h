// What an elementwise op makes of operands that agree, without asking its inference each time.
#pragma once

#include <optional>

#include "ir/op.h"

namespace reprise {

/// The dtype of an elementwise op's result when all its operands are of `dtype`; nothing when the
/// op does not take that, is not elementwise, has attributes, or not exactly `operands` operands.
[[nodiscard]] std::optional<DType> elementwise_result(Op op, int operands, DType dtype);

}  // namespace reprise
