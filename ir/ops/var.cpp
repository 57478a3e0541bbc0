// The variance over axes.
#include <algorithm>

#include "ir/ops/row.h"
#include "ir/ops/samples.h"
#include "ir/ops/variance.h"

namespace reprise {

TensorType infer_variance(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  if (ctx.attrs.word(2) < 0) {
    throw Error(str(name_of(ctx), ": ddof is 0 or more, not ", ctx.attrs.word(2)));
  }
  const DType dtype = ctx.operands[0].dtype;
  return infer_reduction(ctx, is_float(dtype) ? dtype : DType::F32);
}

Value wide_variance(Builder& b, Value x, const OpContext& ctx) {
  const auto axes = static_cast<uint32_t>(ctx.attrs.word(0));
  const DType given = ctx.operands[0].dtype;
  const DType wide = is_float(given) ? wide_dtype(given) : DType::F64;
  const Value deviation = minus_mean(b, b.cast(x, wide), axes);
  const Value sum = b.reduce(Op::Sum, b.mul(deviation, deviation), axes, ctx.attrs.word(1) != 0);
  // Fewer elements than are taken off leave none, as in NumPy: x/0 is infinite, 0/0 is NaN.
  const int64_t count =
      std::max<int64_t>(0, num_folded(ctx.operands[0].shape, axes) - ctx.attrs.word(2));
  return b.div(sum, b.constant(static_cast<double>(count), wide));
}

std::vector<Sample> variance_samples() {
  std::vector<Sample> all;
  for (const Sample& sample : reduction_samples(Fill::Normal, EmptyFold::Allowed)) {
    const int64_t count =
        num_folded(sample.operands[0].type.shape, static_cast<uint32_t>(sample.attrs.word(0)));
    for (const int64_t ddof : {0, 1}) {
      if (count == ddof && count > 0) continue;  // NaN, whose slope no difference shows
      all.push_back(sample);
      all.back().attrs.add_int(ddof);
    }
  }
  return all;
}

namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  return b.cast(wide_variance(b, operands[0], ctx), ctx.result->dtype);
}

}  // namespace

const OpDef& var_def() {
  static constexpr OpDef def{
      .name = "var",
      .kind = OpKind::Composite,
      .attrs = kVarianceAttrs,
      .doc =
          "The sum of (x - mean)^2 over `axes`, divided by the number of elements less `ddof`; "
          "where none are left, infinity, or NaN for a sum of 0. Bool and integers are computed in "
          "f64 and give f32; f16 and bf16 are computed in f32.",
      .infer = infer_variance,
      .compose = compose,
      .samples = variance_samples,
  };
  return def;
}

}  // namespace reprise
