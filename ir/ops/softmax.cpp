// exp(x), scaled to sum to 1 along an axis.
#include "ir/ops/row.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType& type = *ctx.result;
  if (type.shape.numel() == 0) return operands[0];  // a row may have no largest value
  const int axis = static_cast<int>(ctx.attrs.word(0));
  const Value x = b.cast(operands[0], wide_dtype(type.dtype));
  const Value exps = b.unary(Op::Exp, minus_max(b, x, axis));
  const Value sum = b.reduce(Op::Sum, exps, 1u << axis, true);
  return b.cast(b.div(exps, sum), type.dtype);
}

}  // namespace

const OpDef& softmax_def() {
  static constexpr OpDef def{
      .name = "softmax",
      .kind = OpKind::Composite,
      .attrs = kAxisAttrs,
      .doc =
          "exp(x - max) / sum(exp(x - max)) along `axis`. -inf entries get 0; a row of nothing but "
          "-inf is NaN, as the formula says. f16 and bf16 are computed in f32.",
      .infer = infer_row,
      .compose = compose,
      .samples = [] { return axis_samples(Fill::Normal); },
  };
  return def;
}

}  // namespace reprise
