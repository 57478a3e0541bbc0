// The sigmoid linear unit.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  return b.mul(b.binary(Op::Maximum, x[0], lowest(b, b.dtype(x[0]))), b.unary(Op::Sigmoid, x[0]));
}

}  // namespace

const OpDef& silu_def() {
  static constexpr OpDef def{
      .name = "silu",
      .kind = OpKind::Composite,
      .doc = "x times sigmoid(x); 0 at -infinity.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
