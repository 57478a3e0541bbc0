// The product over axes.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  return infer_reduction(ctx, sum_dtype(ctx.operands[0].dtype));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  // The product of the others: that of all nonzero elements over the element itself, where no other
  // element is 0.
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const DType dtype = b.dtype(x);
  const uint32_t axes = static_cast<uint32_t>(ctx.attrs().word(0));
  const Value zero = b.constant(0, dtype);
  const Value one = b.constant(1, dtype);
  const Value is_zero = b.binary(Op::Equal, x, zero);
  const Value nonzero = b.where(is_zero, one, x);
  const Value product = b.reduce(Op::Prod, nonzero, axes, true);
  const Value zeros = b.reduce(Op::Sum, is_zero, axes, true);
  const Value other_zeros = b.sub(zeros, b.cast(is_zero, DType::I64));
  const Value others = b.where(b.binary(Op::Equal, other_zeros, b.constant(0, DType::I64)),
                               b.div(product, nonzero), zero);
  const Value cotangent = b.reshape(ctx.cotangent, keep_axes(b.shape(x), axes));
  ctx.accumulate(0, guarded_mul(b, cotangent, others));
}

}  // namespace

const OpDef& prod_def() {
  static constexpr OpDef def{
      .name = "prod",
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc =
          "The product over `axes`; 1 over no element. Bool and integers are multiplied in 64 bits "
          "and give i64 or u64; f16 and bf16 accumulate in f32. The gradient of an element is the "
          "product of the others, zeros included.",
      .infer = infer,
      .reduce = ReduceKind::Prod,
      .gradient = gradient,
      .samples = [] { return reduction_samples(Fill::Unit, EmptyFold::Allowed); },
  };
  return def;
}

}  // namespace reprise
