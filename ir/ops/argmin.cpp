// Where the smallest value over axes is.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Real);
  return infer_nonempty_reduction(ctx, DType::I64);
}

}  // namespace

const OpDef& argmin_def() {
  static constexpr OpDef def{
      .name = "argmin",
      .kind = OpKind::Reduction,
      .attrs = kReductionAttrs,
      .doc =
          "The index of the first NaN, else of the first smallest value, as i64: row-major over "
          "the folded axes. Over no element it throws, unless the result is empty too. Not "
          "differentiable.",
      .infer = infer,
      .reduce = ReduceKind::ArgMin,

      .samples = [] { return reduction_samples(Fill::Extremes, EmptyFold::Refused); },
  };
  return def;
}

}  // namespace reprise
