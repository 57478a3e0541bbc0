// Logarithms of running sums of exponentials.
#include <cmath>

#include "ir/ops/elementary.h"
#include "ir/ops/row.h"
#include "ir/ops/scanning.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  return infer_scan(ctx, ctx.operands[0].dtype);
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return log_add_exp(b, x[0], x[1]);
}

/// Sums of cotangent[j] * exp(x[i] - y[j]) over j >= i: the sums relative to y[i] are a recurrence
/// whose coefficients exp(y[i-1] - y[i]) do not exceed 1.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const int axis = scan_axis(ctx);
  const DType dtype = b.dtype(ctx.operand(0)), wide = wide_dtype(dtype);
  const Value x = b.cast(ctx.operand(0), wide);
  const Value y = b.record(Op::LogCumSumExp, {x}, ctx.attrs());
  // Two infinities of one sign differ by nothing.
  const auto exp_difference = [&](Value larger_by, Value than) {
    const Value same = b.binary(Op::Equal, larger_by, than);
    return b.unary(Op::Exp, b.where(same, b.constant(0, wide), b.sub(larger_by, than)));
  };
  const Value decay = exp_difference(shifted(b, y, axis, -HUGE_VAL), y);
  const Value sums = transposed_recurrence(b, decay, b.cast(ctx.cotangent, wide), axis);
  ctx.accumulate(0, b.cast(guarded_mul(b, sums, exp_difference(x, y)), dtype));
}

}  // namespace

const OpDef& logcumsumexp_def() {
  static constexpr OpDef def{
      .name = "logcumsumexp",
      .kind = OpKind::Scan,
      .attrs = kScanAttrs,
      .doc =
          "Element i of `axis` is log(exp(x[0]) + .. + exp(x[i])) without overflow, in the order "
          "of cumsum; f16 and bf16 accumulate in f32.",
      .infer = infer,
      .lower = lower,
      .gradient = gradient,
      .samples = [] { return scan_samples(Fill::Normal); },
  };
  return def;
}

}  // namespace reprise
