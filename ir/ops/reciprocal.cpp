// 1/x.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& reciprocal_def() {
  static constexpr OpDef def{
      .name = "reciprocal",
      .doc = "1/x, correctly rounded; infinity of x's sign at 0.",
      .infer = elementwise<Accepts::Float>,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.div(b.constant(1, b.dtype(x[0])), x[0]); },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            const Value y = ctx.result;
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, b.neg(b.mul(y, y))));
          },
      .samples = unary_samples_of<Fill::Nonzero>,
  };
  return def;
}

}  // namespace reprise
