// A cotangent times a derivative.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& guarded_multiply_def() {
  static constexpr OpDef def{
      .name = "guarded_multiply",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "a * b, but 0 wherever a is 0, whatever b is: the product of a cotangent with a "
          "derivative, through which a branch not taken contributes nothing.",
      .infer = elementwise<Accepts::Float>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            const ScalarId zero = b.constant(0, b.dtype(x[0]));
            return b.select(b.eq(x[0], zero), zero, b.mul(x[0], x[1]));
          },
      .gradient =
          [](GradientContext& ctx) {
            // Differentiated as the product it is: at a = 0 too, so that second derivatives are
            // right there.
            Builder& b = ctx.builder;
            if (ctx.wants(0)) ctx.accumulate(0, guarded_mul(b, ctx.cotangent, ctx.operand(1)));
            if (ctx.wants(1)) ctx.accumulate(1, guarded_mul(b, ctx.cotangent, ctx.operand(0)));
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
