// A floor with a value of its own.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  return b.where(b.binary(Op::LessEqual, x[0], x[1]), x[2], x[0]);
}

}  // namespace

const OpDef& threshold_def() {
  static constexpr OpDef def{
      .name = "threshold",
      .kind = OpKind::Composite,
      .min_operands = 3,
      .max_operands = 3,
      .doc = "threshold(x, bound, value): x above the bound, else the value; NaN stays.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = [] { return ternary_samples(DType::F32, Fill::Normal, Fill::Normal); },
  };
  return def;
}

}  // namespace reprise
