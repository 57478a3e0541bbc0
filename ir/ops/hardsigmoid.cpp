// A sigmoid of straight lines.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value shifted = b.add(x[0], b.constant(3, dtype));
  const Value part = b.record(Op::Clip, {shifted, b.constant(0, dtype), b.constant(6, dtype)});
  return b.div(part, b.constant(6, dtype));
}

}  // namespace

const OpDef& hardsigmoid_def() {
  static constexpr OpDef def{
      .name = "hardsigmoid",
      .kind = OpKind::Composite,
      .doc = "min(max(x + 3, 0), 6) / 6.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
