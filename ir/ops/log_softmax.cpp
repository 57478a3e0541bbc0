// The logarithm of softmax, without its underflow.
#include "ir/ops/row.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType& type = *ctx.result;
  if (type.shape.numel() == 0) return operands[0];
  const int axis = static_cast<int>(ctx.attrs.word(0));
  const Value x = b.cast(operands[0], wide_dtype(type.dtype));
  // The gradient that follows is g - exp(x - max) * (sum(g) / sum): one more row sum, no exp.
  const Value below_max = minus_max(b, x, axis);
  const Value sum = b.reduce(Op::Sum, b.unary(Op::Exp, below_max), 1u << axis, true);
  return b.cast(b.sub(below_max, b.unary(Op::Log, sum)), type.dtype);
}

}  // namespace

const OpDef& log_softmax_def() {
  static constexpr OpDef def{
      .name = "log_softmax",
      .kind = OpKind::Composite,
      .attrs = kAxisAttrs,
      .doc =
          "x - max - log(sum(exp(x - max))) along `axis`. -inf entries stay -inf; a row of nothing "
          "but -inf is NaN. f16 and bf16 are computed in f32.",
      .infer = infer_row,
      .compose = compose,
      .samples = [] { return axis_samples(Fill::Normal); },
  };
  return def;
}

}  // namespace reprise
