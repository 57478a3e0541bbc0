// A rational sigmoid.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value y = b.div(x[0], b.add(b.constant(1, dtype), b.unary(Op::Abs, x[0])));
  return b.where(b.unary(Op::IsInf, x[0]), b.unary(Op::Sign, x[0]), y);
}

}  // namespace

const OpDef& softsign_def() {
  static constexpr OpDef def{
      .name = "softsign",
      .kind = OpKind::Composite,
      .doc = "x / (1 + |x|); -1 and 1 at the infinities.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = unary_samples_of<Fill::Normal>,
  };
  return def;
}

}  // namespace reprise
