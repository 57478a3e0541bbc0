// Running sums.
#include "ir/ops/scanning.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Summand);
  return infer_scan(ctx, sum_dtype(ctx.operands[0].dtype));
}

/// Each element is in all sums from its own on.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const int axis = scan_axis(ctx);
  const Value sums = b.record(Op::CumSum, {reversed(b, ctx.cotangent, axis)}, ctx.attrs());
  ctx.accumulate(0, reversed(b, sums, axis));
}

}  // namespace

const OpDef& cumsum_def() {
  static constexpr OpDef def{
      .name = "cumsum",
      .kind = OpKind::Scan,
      .attrs = kScanAttrs,
      .doc =
          "Element i of `axis` is the sum of elements 0 to i, added one after the other in blocks "
          "of 1024, and the blocks' sums likewise. Bool and integers are summed in 64 bits and "
          "give i64 or u64; f16 and bf16 accumulate in f32.",
      .infer = infer,
      .lower = lower_binary<ScalarOp::Add>,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = [] { return scan_samples(Fill::Normal); },
  };
  return def;
}

}  // namespace reprise
