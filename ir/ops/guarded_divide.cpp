// A cotangent over a divisor.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& guarded_divide_def() {
  static constexpr OpDef def{
      .name = "guarded_divide",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a / b, but 0 wherever a is 0, whatever b is: see guarded_multiply.",
      .infer = elementwise<Accepts::Float>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            const ScalarId zero = b.constant(0, b.dtype(x[0]));
            return b.select(b.eq(x[0], zero), zero, b.div(x[0], x[1]));
          },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            if (!ctx.wants(0) && !ctx.wants(1)) return;
            const Value over = guarded_div(b, ctx.cotangent, ctx.operand(1));
            ctx.accumulate(0, over);
            if (ctx.wants(1)) ctx.accumulate(1, b.neg(guarded_mul(b, over, ctx.result)));
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
