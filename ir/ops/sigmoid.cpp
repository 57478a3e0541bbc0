// 1/(1+exp(-x)).
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  // On either side by the exponential that does not overflow: the small values keep their digits
  // down to the denormals.
  const ScalarId zero = b.constant(0, b.dtype(x[0]));
  const ScalarId one = b.constant(1, b.dtype(x[0]));
  const ScalarId small =
      b.unary(ScalarOp::Exp, b.unary(ScalarOp::Neg, b.unary(ScalarOp::Abs, x[0])));
  return b.div(b.select(b.lt(x[0], zero), small, one), b.add(one, small));
}

}  // namespace

const OpDef& sigmoid_def() {
  static constexpr OpDef def{
      .name = "sigmoid",
      .doc = "1/(1+exp(-x)): 0 and 1 at the infinities, accurate in the tail of small values.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            const Value y = ctx.result;
            const Value one = b.constant(1, b.dtype(y));
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.mul(y, b.sub(one, y))));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
