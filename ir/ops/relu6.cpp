// A relu that ends at 6.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  return b.record(Op::Clip, {x[0], b.constant(0, dtype), b.constant(6, dtype)});
}

}  // namespace

const OpDef& relu6_def() {
  static constexpr OpDef def{
      .name = "relu6",
      .kind = OpKind::Composite,
      .doc = "min(max(x, 0), 6); NaN stays.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
