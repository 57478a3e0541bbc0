// The logarithm of the sigmoid.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  return b.neg(b.unary(Op::Softplus, b.neg(x[0])));
}

}  // namespace

const OpDef& logsigmoid_def() {
  static constexpr OpDef def{
      .name = "logsigmoid",
      .kind = OpKind::Composite,
      .doc = "log(sigmoid(x)) = -softplus(-x), accurate at both ends.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
