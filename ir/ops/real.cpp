// The real part of pairs.
#include "ir/ops/pairs.h"

namespace reprise {

const OpDef& real_def() {
  static constexpr OpDef def{
      .name = "real",
      .doc =
          "The real parts of complex numbers (c64 gives f32, c128 f64) or of complex integers. The "
          "gradient is that of the real part, its imaginary part 0.",
      .infer = infer_part,
      .gradient =
          [](GradientContext& ctx) {
            if (!ctx.wants(0)) return;
            Builder& b = ctx.builder;
            ctx.accumulate(0, b.record(Op::Complex, {ctx.cotangent, zero_like(b, ctx.cotangent)}));
          },
      .samples = part_samples,
  };
  return def;
}

}  // namespace reprise
