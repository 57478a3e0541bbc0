// Normally distributed random numbers.
#include <cmath>

#include "ir/ops/random.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  constexpr double kRootTwo = 1.4142135623730950488;
  const TensorType& type = *ctx.result;
  const DType dtype = type.dtype == DType::F64 ? DType::F64 : DType::F32;
  const int bits = dtype == DType::F64 ? 53 : 24;
  const Value whole = random_integers(b, operands[0], operands[1], {dtype, type.shape}, bits);
  // The midpoints of 2^bits intervals of (-1, 1): symmetric, exact, and never an end, where the
  // inverse is infinite.
  const double half = std::ldexp(1.0, bits - 1);
  const Value centered = b.add(b.sub(whole, b.constant(half, dtype)), b.constant(0.5, dtype));
  const Value inverse = b.unary(Op::Erfinv, scaled(b, centered, 1 / half));
  return b.cast(scaled(b, inverse, kRootTwo), type.dtype);
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{5, 13}, Shape{1009}}) {
    all.push_back({.operands = {{{DType::U64, {}}, Fill::Index, int64_t{1} << 62},
                                {{DType::U64, {}}, Fill::Index, int64_t{1} << 40}},
                   .attrs = {},
                   .result = {DType::F32, shape}});
  }
  return all;
}

}  // namespace

const OpDef& normal_def() {
  static constexpr OpDef def{
      .name = "normal",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "normal(key, counter): mean 0, variance 1, always finite: sqrt(2) * erfinv of a uniform "
          "number in (-1, 1). Takes as many random words as uniform; f16 and bf16 are computed in "
          "f32.",
      .infer = infer_random,
      .compose = compose,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
