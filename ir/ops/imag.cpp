// The imaginary part of pairs.
#include "ir/ops/pairs.h"

namespace reprise {

const OpDef& imag_def() {
  static constexpr OpDef def{
      .name = "imag",
      .doc =
          "The imaginary parts of complex numbers (c64 gives f32, c128 f64) or of complex "
          "integers. "
          "The gradient's real part is 0.",
      .infer = infer_part,
      .gradient =
          [](GradientContext& ctx) {
            if (!ctx.wants(0)) return;
            Builder& b = ctx.builder;
            ctx.accumulate(0, b.record(Op::Complex, {zero_like(b, ctx.cotangent), ctx.cotangent}));
          },
      .samples = part_samples,
  };
  return def;
}

}  // namespace reprise
