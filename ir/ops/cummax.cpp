// Running maxima.
#include "ir/ops/scanning.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  return infer_scan(ctx, ctx.operands[0].dtype);
}

}  // namespace

const OpDef& cummax_def() {
  static constexpr OpDef def{
      .name = "cummax",
      .kind = OpKind::Scan,
      .attrs = kScanAttrs,
      .doc =
          "Element i of `axis` is the largest of elements 0 to i; NaN from the first NaN on; -0 "
          "orders "
          "below +0. The gradient goes to the last element that is equal to it.",
      .infer = infer,
      .lower = lower_binary<ScalarOp::Max>,
      .gradient = extremum_gradient,
      .samples = [] { return scan_samples(Fill::Extremes); },
  };
  return def;
}

}  // namespace reprise
