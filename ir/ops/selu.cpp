// The scaled exponential linear unit.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr double kAlpha = 1.67326324235437728481704297881;
constexpr double kScale = 1.05070098735548049341933498703;

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value zero = b.constant(0, dtype);
  const Value positive = b.binary(Op::Greater, x[0], zero);
  const Value below = b.unary(Op::Expm1, b.where(positive, zero, x[0]));
  return b.where(positive, scaled(b, x[0], kScale), scaled(b, below, kScale * kAlpha));
}

}  // namespace

const OpDef& selu_def() {
  static constexpr OpDef def{
      .name = "selu",
      .kind = OpKind::Composite,
      .doc =
          "1.0507 x above 0, else 1.0507 * 1.6733 (exp(x) - 1): what keeps a mean of 0 and a "
          "variance of 1.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
