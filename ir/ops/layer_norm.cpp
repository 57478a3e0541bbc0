// Layer normalization: mean 0 and variance 1 over axes, then scaled and shifted.
#include "ir/ops/row.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  // The centered values are shared by variance and result, so that a gradient passes the mean once.
  const Value x = b.cast(operands[0], wide_dtype(ctx.result->dtype));
  const auto axes = static_cast<uint32_t>(ctx.attrs.word(0));
  return normalized(b, minus_mean(b, x, axes), operands, ctx);
}

}  // namespace

const OpDef& layer_norm_def() {
  static constexpr OpDef def{
      .name = "layer_norm",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 4,
      .attrs = kNormAttrs,
      .doc =
          "layer_norm(x, eps, gamma, beta): (x - mean) * rsqrt(variance + eps) * gamma + beta, "
          "mean "
          "and variance over `axes`; gamma and beta, which may be left out, have x's extents along "
          "those. f16 and bf16 are computed in f32.",
      .infer = infer_norm,
      .compose = compose,
      .samples = [] { return norm_samples(2); },
  };
  return def;
}

}  // namespace reprise
