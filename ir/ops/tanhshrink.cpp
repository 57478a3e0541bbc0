// What tanh takes away.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  return b.sub(x[0], b.unary(Op::Tanh, x[0]));
}

}  // namespace

const OpDef& tanhshrink_def() {
  static constexpr OpDef def{
      .name = "tanhshrink",
      .kind = OpKind::Composite,
      .doc = "x - tanh(x).",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
