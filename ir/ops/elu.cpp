// The exponential linear unit.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value zero = b.constant(0, dtype);
  const Value positive = b.binary(Op::Greater, x[0], zero);
  const Value below = b.unary(Op::Expm1, b.where(positive, zero, x[0]));
  return b.where(positive, x[0], b.mul(x[1], below));
}

}  // namespace

const OpDef& elu_def() {
  static constexpr OpDef def{
      .name = "elu",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 2,
      .doc = "x above 0, else alpha (exp(x) - 1).",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = binary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
