// The magnitude of one value with the sign of another.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& copysign_def() {
  static constexpr OpDef def{
      .name = "copysign",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "|a| with the sign of b, of zeros and NaN too.",
      .infer = elementwise<Accepts::Float>,
      .lower = lower_binary<ScalarOp::CopySign>,
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            if (!ctx.wants(0)) return;
            // 1 where the signs agree, else -1.
            const Value one = b.constant(1, b.dtype(ctx.result));
            const Value flip = b.mul(b.binary(Op::CopySign, one, ctx.operand(0)),
                                     b.binary(Op::CopySign, one, ctx.operand(1)));
            ctx.accumulate(0, b.mul(ctx.cotangent, flip));
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
