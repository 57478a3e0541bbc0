// The true quotient of two float tensors.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& divide_def() {
  static constexpr OpDef def{
      .name = "divide",
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "a / b of floats, correctly rounded; division by 0 gives an infinity or NaN as IEEE 754 "
          "says.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_binary<ScalarOp::Div>,
      .gradient =
          [](GradientContext& ctx) {
            // The quotient is at hand: d(a/b)/db = -(a/b)/b.
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
