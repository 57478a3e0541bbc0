// First-order linear recurrences: running sums that decay.
#include "ir/ops/scanning.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Number);
  return infer_scan(ctx, ctx.operands[0].dtype);
}

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.add(b.mul(x[1], x[0]), x[2]);
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0) && !ctx.wants(1)) return;
  Builder& b = ctx.builder;
  const int axis = scan_axis(ctx);
  const Value sums = transposed_recurrence(b, ctx.operand(0), ctx.cotangent, axis);
  if (ctx.wants(1)) ctx.accumulate(1, sums);
  if (ctx.wants(0)) ctx.accumulate(0, guarded_mul(b, sums, shifted(b, ctx.result, axis, 0)));
}

}  // namespace

const OpDef& linear_recurrence_def() {
  static constexpr OpDef def{
      .name = "linear_recurrence",
      .kind = OpKind::Scan,
      .min_operands = 2,
      .max_operands = 2,
      .attrs = kScanAttrs,
      .doc =
          "linear_recurrence(a, b): y[0] = b[0], y[i] = a[i] * y[i-1] + b[i] along `axis`, product "
          "and sum rounded each, one after the other; half types are computed in f32 and rounded "
          "once for each element.",
      .infer = infer,
      .lower = lower,
      .gradient = gradient,
      .samples = [] { return scan_samples(Fill::Unit, 2); },
  };
  return def;
}

}  // namespace reprise
