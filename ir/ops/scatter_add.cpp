// Updates added to slices of a tensor picked by indices: the transpose of gather.
#include "ir/ops/scattering.h"

namespace reprise {

const OpDef& scatter_add_def() {
  static constexpr OpDef def{
      .name = "scatter_add",
      .kind = OpKind::Scatter,
      .min_operands = 3,
      .max_operands = 3,
      .attrs = kScatterAttrs,
      .doc =
          "scatter_add(x, indices, updates): x with updates[.., j, ..] added at "
          "x[.., indices[j], ..]; updates have the shape of gather(x, indices). Repeated indices "
          "add up in the order of j, one rounding each; half types are summed in f32 and rounded "
          "once. A negative index counts from the end; one out of range is clamped and reported, "
          "the next read throws IndexError.",
      .infer = [](const OpContext& ctx) { return infer_scatter(ctx, Accepts::SignedNumber); },
      .lower = lower_binary<ScalarOp::Add>,
      .pairs = OnPairs::EachPart,
      .gradient =
          [](GradientContext& ctx) {
            if (ctx.wants(0)) ctx.accumulate(0, ctx.cotangent);
            if (ctx.wants(2)) ctx.accumulate(2, gather_as_scattered(ctx, ctx.cotangent));
          },
      .samples = scatter_samples,
  };
  return def;
}

}  // namespace reprise
