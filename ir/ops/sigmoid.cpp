// 1/(1+exp(-x)).
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  // exp overflows to infinity below -88, where 1/infinity is the right 0.
  const ScalarId one = b.constant(1, b.dtype(x[0]));
  return b.div(one, b.add(one, b.unary(ScalarOp::Exp, b.unary(ScalarOp::Neg, x[0]))));
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
