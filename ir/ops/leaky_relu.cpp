// A relu with a slope below 0.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value positive = b.binary(Op::Greater, x[0], b.constant(0, dtype));
  return b.where(positive, x[0], b.mul(x[0], x[1]));
}

}  // namespace

const OpDef& leaky_relu_def() {
  static constexpr OpDef def{
      .name = "leaky_relu",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 2,
      .doc = "x above 0, else x times the slope.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = binary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
