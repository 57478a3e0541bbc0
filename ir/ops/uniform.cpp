// Random numbers in [0, 1).
#include <cmath>

#include "ir/ops/random.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

/// Bits of the significand: that many random bits are a multiple of 2^-bits below 1, exactly.
int precision(DType dtype) {
  return dtype == DType::F64 ? 53 : dtype == DType::F32 ? 24 : dtype == DType::F16 ? 11 : 8;
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType& type = *ctx.result;
  const int bits = precision(type.dtype);
  const DType dtype = type.dtype == DType::F64 ? DType::F64 : DType::F32;
  const Value whole = random_integers(b, operands[0], operands[1], {dtype, type.shape}, bits);
  return b.cast(scaled(b, whole, std::ldexp(1.0, -bits)), type.dtype);
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

const OpDef& uniform_def() {
  static constexpr OpDef def{
      .name = "uniform",
      .kind = OpKind::Composite,
      .min_operands = 2,
      .max_operands = 2,
      .doc =
          "uniform(key, counter): [0, 1), never 1. The top 24 bits of a random word times 2^-24 in "
          "f32, 11 in f16, 8 in bf16; f64 takes 53 bits from two consecutive words.",
      .infer = infer_random,
      .compose = compose,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
