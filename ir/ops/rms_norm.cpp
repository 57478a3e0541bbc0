// Normalization by the root of the mean square over axes, then scaled.
#include "ir/ops/row.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  return normalized(b, b.cast(operands[0], wide_dtype(ctx.result->dtype)), operands, ctx);
}

}  // namespace

const OpDef& rms_norm_def() {
  static constexpr OpDef def{
      .name = "rms_norm",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 3,
      .attrs = kNormAttrs,
      .doc =
          "rms_norm(x, eps, gamma): x * rsqrt(mean(x * x) + eps) * gamma, the mean over `axes`; "
          "gamma, which may be left out, has x's extents along those. f16 and bf16 are computed in "
          "f32.",
      .infer = infer_norm,
      .compose = compose,
      .samples = [] { return norm_samples(1); },
  };
  return def;
}

}  // namespace reprise
