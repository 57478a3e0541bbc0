// Numbers for what is none.
#include <limits>

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> x, const OpContext&) {
  const DType dtype = b.dtype(x[0]);
  const Value infinity = b.constant(std::numeric_limits<double>::infinity(), dtype);
  const Value below = b.where(b.binary(Op::Equal, x[0], b.neg(infinity)), x[3], x[0]);
  const Value finite = b.where(b.binary(Op::Equal, x[0], infinity), x[2], below);
  return b.where(b.unary(Op::IsNan, x[0]), x[1], finite);
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{17}, Shape{5, 13}}) {
    const SampleOperand number{{DType::F32, {}}, Fill::Normal};
    all.push_back({.operands = {{{DType::F32, shape}, Fill::Extremes}, number, number, number},
                   .attrs = {},
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& nan_to_num_def() {
  static constexpr OpDef def{
      .name = "nan_to_num",
      .kind = OpKind::Composite,
      .min_operands = 4,
      .max_operands = 4,
      .doc = "nan_to_num(x, nan, posinf, neginf): x with NaN and the infinities replaced.",
      .infer = elementwise<Accepts::Float>,
      .compose = compose_wide<compose>,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
