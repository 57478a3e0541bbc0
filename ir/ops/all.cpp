// Whether all elements are not 0.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Any);
  return infer_reduction(ctx, DType::Bool);
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  if (ctx.operands[0].shape.numel() == 0) {
    return b.broadcast_to(b.constant(1, DType::Bool), ctx.result->shape);
  }
  const Value truth = b.cast(operands[0], DType::Bool);
  return b.reduce(Op::Min, truth, static_cast<uint32_t>(ctx.attrs.word(0)), ctx.attrs.word(1) != 0);
}

}  // namespace

const OpDef& all_def() {
  static constexpr OpDef def{
      .name = "all",
      .kind = OpKind::Composite,
      .attrs = kReductionAttrs,
      .doc = "Whether every element over `axes` is not 0; true over no element. NaN is not 0.",
      .infer = infer,
      .compose = compose,
      .samples = [] { return reduction_samples(Fill::Binary, EmptyFold::Allowed); },
  };
  return def;
}

}  // namespace reprise
