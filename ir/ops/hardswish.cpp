// A silu of straight lines.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value gate = b.unary(Op::HardSigmoid, x[0]);
  return b.mul(b.binary(Op::Maximum, x[0], lowest(b, dtype)), gate);
}

}  // namespace

const OpDef& hardswish_def() {
  static constexpr OpDef def{
      .name = "hardswish",
      .kind = OpKind::Composite,
      .doc = "x min(max(x + 3, 0), 6) / 6; 0 at -infinity.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
