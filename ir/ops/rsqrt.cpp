// 1/sqrt(x).
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

ScalarId lower(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.div(b.constant(1, b.dtype(x[0])), b.unary(ScalarOp::Sqrt, x[0]));
}

}  // namespace

const OpDef& rsqrt_def() {
  static constexpr OpDef def{
      .name = "rsqrt",
      .doc = "1/sqrt(x) in two correctly rounded steps; infinity at 0, NaN below.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_wide<lower>,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            const Value y = ctx.result;
            ctx.accumulate(0,
                           guarded_mul(b, ctx.cotangent, b.mul(b.mul(y, y), scaled(b, y, -0.5))));
          },
      .samples = unary_samples_of<Fill::Positive>,
  };
  return def;
}

}  // namespace reprise
