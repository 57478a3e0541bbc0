// The standard deviation over axes.
#include "ir/ops/variance.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  return b.cast(b.unary(Op::Sqrt, wide_variance(b, operands[0], ctx)), ctx.result->dtype);
}

}  // namespace

const OpDef& std_def() {
  static constexpr OpDef def{
      .name = "std",
      .kind = OpKind::Composite,
      .attrs = kVarianceAttrs,
      .doc = "The square root of `var` with the same attributes; its gradient at 0 is 0.",
      .infer = infer_variance,
      .compose = compose,
      .samples = variance_samples,
  };
  return def;
}

}  // namespace reprise
