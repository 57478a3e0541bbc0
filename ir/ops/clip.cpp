// x limited to an interval.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& clip_def() {
  static constexpr OpDef def{
      .name = "clip",
      .min_operands = 3,
      .max_operands = 3,
      .doc =
          "clip(x, low, high) = min(max(x, low), high), broadcast; NaN anywhere gives NaN. The "
          "gradient with respect to x passes inside the interval, its ends included; the bounds "
          "have none.",
      .infer = elementwise<Accepts::Number>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return b.binary(ScalarOp::Min, b.binary(ScalarOp::Max, x[0], x[1]), x[2]);
          },
      .gradient =
          [](GradientContext& ctx) {
            if (!ctx.wants(0)) return;
            Builder& b = ctx.builder;
            const Value inside =
                b.binary(Op::BitwiseAnd, b.binary(Op::LessEqual, ctx.operand(1), ctx.operand(0)),
                         b.binary(Op::LessEqual, ctx.operand(0), ctx.operand(2)));
            ctx.accumulate(0, b.where(inside, ctx.cotangent, b.constant(0, b.dtype(ctx.result))));
          },
      .samples = [] { return ternary_samples(DType::F32, Fill::Normal, Fill::Unit); },
  };
  return def;
}

}  // namespace reprise
