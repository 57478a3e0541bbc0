// The smallest of a tensor's slices and updates to them.
#include "ir/ops/scattering.h"

namespace reprise {

const OpDef& scatter_minimum_def() {
  static constexpr OpDef def{
      .name = "scatter_minimum",
      .kind = OpKind::Scatter,
      .min_operands = 3,
      .max_operands = 3,
      .attrs = kScatterAttrs,
      .doc =
          "scatter_add with the smaller of two values in place of their sum; NaN stays. Equal ones "
          "share the gradient equally.",
      .infer = [](const OpContext& ctx) { return infer_scatter(ctx, Accepts::Real); },
      .lower = lower_binary<ScalarOp::Min>,
      .gradient = scattered_extremum_gradient,
      .samples = scatter_samples,
  };
  return def;
}

}  // namespace reprise
