// A smooth activation, by tanh of softplus.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const Value gate = b.unary(Op::Tanh, b.unary(Op::Softplus, x[0]));
  return b.mul(b.binary(Op::Maximum, x[0], lowest(b, b.dtype(x[0]))), gate);
}

}  // namespace

const OpDef& mish_def() {
  static constexpr OpDef def{
      .name = "mish",
      .kind = OpKind::Composite,
      .doc = "x tanh(softplus(x)); 0 at -infinity.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
