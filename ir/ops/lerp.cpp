// Between two values.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value span = b.sub(x[1], x[0]);
  const Value near_end = b.binary(Op::GreaterEqual, x[2], b.constant(0.5, dtype));
  const Value from_start = b.add(x[0], b.mul(x[2], span));
  const Value from_end = b.sub(x[1], b.mul(span, b.sub(b.constant(1, dtype), x[2])));
  return b.where(near_end, from_end, from_start);
}

}  // namespace

const OpDef& lerp_def() {
  static constexpr OpDef def{
      .name = "lerp",
      .kind = OpKind::Composite,
      .min_operands = 3,
      .max_operands = 3,
      .doc = "a + t (b - a), from the nearer end: exactly a at 0 and b at 1.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = [] { return ternary_samples(DType::F32, Fill::Normal, Fill::Normal); },
  };
  return def;
}

}  // namespace reprise
