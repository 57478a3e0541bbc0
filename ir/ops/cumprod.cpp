// Running products.
#include "ir/ops/row.h"
#include "ir/ops/scanning.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  return infer_scan(ctx, sum_dtype(ctx.operands[0].dtype));
}

/// The product of what comes before an element, times the sum over what comes after of the
/// products in between: no division, so that zeros are elements like others.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const int axis = scan_axis(ctx);
  const DType dtype = b.dtype(ctx.operand(0));
  const Value x = b.cast(ctx.operand(0), wide_dtype(dtype));
  const Value products = b.record(Op::CumProd, {x}, ctx.attrs());
  const Value before = shifted(b, products, axis, 1);
  const Value after = transposed_recurrence(b, x, b.cast(ctx.cotangent, wide_dtype(dtype)), axis);
  ctx.accumulate(0, b.cast(guarded_mul(b, after, before), dtype));
}

}  // namespace

const OpDef& cumprod_def() {
  static constexpr OpDef def{
      .name = "cumprod",
      .kind = OpKind::Scan,
      .attrs = kScanAttrs,
      .doc =
          "Element i of `axis` is the product of elements 0 to i, in the order of cumsum. Bool and "
          "integers are multiplied in 64 bits and give i64 or u64; f16 and bf16 accumulate in f32. "
          "The gradient takes zeros as elements like others.",
      .infer = infer,
      .lower = lower_binary<ScalarOp::Mul>,
      .gradient = gradient,
      .samples = [] { return scan_samples(Fill::Unit); },
  };
  return def;
}

}  // namespace reprise
