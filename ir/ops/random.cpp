// What uniform and normal share.
#include "ir/ops/random.h"

#include <cmath>

namespace reprise {

TensorType infer_random(const OpContext& ctx) {
  for (const TensorType& operand : ctx.operands) {
    if (operand != TensorType{DType::U64, {}}) {
      throw DTypeError(str(name_of(ctx), ": key and counter are u64[], got ", operand));
    }
  }
  const TensorType& result = given_result(ctx);
  if (!is_float(result.dtype)) {
    throw DTypeError(str(name_of(ctx), ": gives a float dtype, not ", result));
  }
  return result;
}

Value random_integers(Builder& b, Value key, Value counter, const TensorType& type, int bits) {
  const auto shifted = [&b](Value words, int count) {
    return b.binary(Op::RightShift, words, b.constant(count, DType::U32));
  };
  if (type.dtype == DType::F32) {
    const TensorType words{DType::U32, type.shape};
    return b.cast(shifted(b.record(Op::RandomBits, {key, counter}, {}, &words), 32 - bits),
                  DType::F32);
  }
  // Two consecutive words an element: the first gives the upper 27 bits, the second the other 26.
  const int64_t count = type.shape.numel();
  const TensorType words{DType::U32, {count, 2}};
  const Value both = b.record(Op::RandomBits, {key, counter}, {}, &words);
  const int64_t steps[] = {1, 1};
  const auto column = [&](int64_t which, int shift) {
    const int64_t starts[] = {0, which};
    const Value word = b.reshape(b.slice(both, starts, steps, {count, 1}), type.shape);
    return b.cast(shifted(word, shift), DType::F64);
  };
  return b.add(scaled(b, column(0, 32 - (bits - 26)), std::ldexp(1.0, 26)), column(1, 6));
}

}  // namespace reprise
