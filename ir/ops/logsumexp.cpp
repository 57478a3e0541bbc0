// The logarithm of a sum of exponentials.
#include <limits>

#include "ir/ops/row.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  return infer_reduction(ctx, ctx.operands[0].dtype);
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType& type = *ctx.result;
  const Shape& shape = ctx.operands[0].shape;
  const uint32_t axes = static_cast<uint32_t>(ctx.attrs.word(0));
  const DType dtype = wide_dtype(type.dtype);
  const Value x = b.cast(operands[0], dtype);
  const Value zero = b.constant(0, dtype);
  // Only a finite maximum is taken out: -inf less -inf would be NaN, and so would inf less inf.
  Value shift = zero;
  if (shape.numel() != 0) {
    const Value largest = b.reduce(Op::Max, x, axes, true);
    shift = b.unary(Op::StopGradient, b.where(b.unary(Op::IsFinite, largest), largest, zero));
  }
  const Value sum = b.reduce(Op::Sum, b.unary(Op::Exp, b.sub(x, shift)), axes, true);
  // The gradient is softmax: NaN where an element is inf. Of log(sum) alone it would be a cotangent
  // 1 / inf, which is exactly 0 and so hides the elements; through exp(log(sum)) it is inf / inf.
  const Value log_sum = b.unary(Op::Log, sum);
  const Value is_inf = b.binary(Op::Equal, log_sum, b.constant(kInfinity, dtype));
  const Value passed = b.where(is_inf, b.unary(Op::Exp, log_sum), log_sum);
  const Value result = b.add(passed, shift);
  return b.cast(b.reshape(result, type.shape), type.dtype);
}

}  // namespace

const OpDef& logsumexp_def() {
  static constexpr OpDef def{
      .name = "logsumexp",
      .kind = OpKind::Composite,
      .attrs = kReductionAttrs,
      .doc =
          "log(sum(exp(x))) over `axes`, with the largest finite value taken out first. Nothing "
          "but "
          "-inf, or no element at all, gives -inf; an infinity gives infinity. The gradient is "
          "softmax's value, NaN in a row where that is. f16 and bf16 are "
          "computed in f32.",
      .infer = infer,
      .compose = compose,
      .samples = [] { return reduction_samples(Fill::Normal, EmptyFold::Allowed); },
  };
  return def;
}

}  // namespace reprise
