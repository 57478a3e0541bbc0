// The mean over axes.
#include "ir/ops/row.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  const DType dtype = ctx.operands[0].dtype;
  return infer_reduction(ctx, is_float(dtype) ? dtype : DType::F32);
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const Shape& shape = ctx.operands[0].shape;
  const uint32_t axes = static_cast<uint32_t>(ctx.attrs.word(0));
  int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axes >> axis & 1) count *= shape[axis];
  }
  // Half types and integers are widened first: their sum may overflow where the mean does not.
  const DType dtype = ctx.result->dtype;
  const DType wide = is_float(ctx.operands[0].dtype) ? wide_dtype(dtype) : DType::F64;
  const Value sum = b.reduce(Op::Sum, b.cast(operands[0], wide), axes, ctx.attrs.word(1) != 0);
  return b.cast(b.div(sum, b.constant(static_cast<double>(count), wide)), dtype);
}

}  // namespace

const OpDef& mean_def() {
  static constexpr OpDef def{
      .name = "mean",
      .kind = OpKind::Composite,
      .attrs = kReductionAttrs,
      .doc =
          "sum / count over `axes`; NaN over no element. Bool and integers are computed in f64 and "
          "give f32; f16 and bf16 are computed in f32.",
      .infer = infer,
      .compose = compose,
      .samples = [] { return reduction_samples(Fill::Normal, EmptyFold::Allowed); },
  };
  return def;
}

}  // namespace reprise
