// The sum of two tensors.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& add_def() {
  static constexpr OpDef def{
      .name = "add",
      .min_operands = 2,
      .max_operands = 2,
      .doc = "a + b. Integers wrap; for bool it is or.",
      .infer = elementwise<Accepts::Summand>,
      .lower =
          [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
            return b.binary(b.dtype(x[0]) == DType::Bool ? ScalarOp::Or : ScalarOp::Add, x[0],
                            x[1]);
          },
      .pairs = OnPairs::EachPart,
      .gradient =
          [](GradientContext& ctx) {
            ctx.accumulate(0, ctx.cotangent);
            ctx.accumulate(1, ctx.cotangent);
          },
      .samples = binary_samples_of<Fill::Extremes>,
  };
  return def;
}

}  // namespace reprise
