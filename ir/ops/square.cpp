// x*x.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
const OpDef& square_def() {
  static constexpr OpDef def{
      .name = "square",
      .doc = "x*x, rounded once; integers wrap.",
      .infer = elementwise<Accepts::Number>,
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.mul(x[0], x[0]); },
      .gradient =
          [](GradientContext& ctx) {
            Builder& b = ctx.builder;
            ctx.accumulate(0, guarded_mul(b, ctx.cotangent, scaled(b, ctx.operand(0), 2)));
          },
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
