// The largest value over axes.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  return infer_nonempty_reduction(ctx, ctx.operands[0].dtype);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const DType dtype = b.dtype(x);
  const uint32_t axes = static_cast<uint32_t>(ctx.attrs().word(0));
  const Shape kept = keep_axes(b.shape(x), axes);
  const Value chosen = b.binary(Op::Equal, x, b.reshape(ctx.result, kept));
  const Value ties = b.reduce(Op::Sum, b.cast(chosen, DType::F32), axes, true);
  const Value share = guarded_div(b, b.reshape(ctx.cotangent, kept), b.cast(ties, dtype));
  ctx.accumulate(0, b.where(chosen, share, b.constant(0, dtype)));
}

}  // namespace

const OpDef& max_def() {
  static constexpr OpDef def{
      .name = "max",
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc =
          "The largest value over `axes`; NaN if there is one, -0 orders below +0; for bool it is "
          "or. Over no element it throws, unless the result is empty too. The gradient is shared "
          "equally among equal elements.",
      .infer = infer,
      .reduce = ReduceKind::Max,
      .gradient = gradient,
      .samples = [] { return reduction_samples(Fill::Extremes, EmptyFold::Refused); },
  };
  return def;
}

}  // namespace reprise
