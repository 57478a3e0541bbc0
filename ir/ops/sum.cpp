// The sum over axes.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Summand);
  return infer_reduction(ctx, sum_dtype(ctx.operands[0].dtype));
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Shape shape = b.shape(ctx.operand(0));
  const Shape kept = keep_axes(shape, static_cast<uint32_t>(ctx.attrs().word(0)));
  ctx.accumulate(0, b.broadcast_to(b.reshape(ctx.cotangent, kept), shape));
}

}  // namespace

const OpDef& sum_def() {
  static constexpr OpDef def{
      .name = "sum",
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc =
          "The sum over `axes`; 0 over no element. Bool and integers are summed in 64 bits and "
          "give i64 or u64; f16 and bf16 accumulate in f32 and are rounded once. The order is that "
          "of docs/SEMANTICS.md.",
      .infer = infer,
      .reduce = ReduceKind::Sum,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = [] { return reduction_samples(Fill::Normal, EmptyFold::Allowed); },
  };
  return def;
}

}  // namespace reprise
