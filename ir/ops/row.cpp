// Composites over one axis.
#include "ir/ops/row.h"

namespace reprise {

TensorType infer_row(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  (void)checked_axis(ctx, 0);
  return ctx.operands[0];
}

DType wide_dtype(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

Value minus_max(Builder& b, Value x, int axis) {
  const Value largest = b.reduce(Op::Max, x, 1u << axis, true);
  return b.sub(x, b.unary(Op::StopGradient, largest));
}

}  // namespace reprise
