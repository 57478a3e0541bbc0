// Sets of sample inputs that ops share: extents 0, 1, odd, prime, and larger than a tile.
//
// Dtypes are written as f32 where the tests may vary them over what the op's infer accepts, i32
// where only over integers; any other dtype (a condition, an index, a key) is meant as it stands.
#pragma once

#include <vector>

#include "ir/op.h"

namespace reprise {

using Fill = SampleOperand::Fill;

/// One operand over all shapes.
[[nodiscard]] std::vector<Sample> unary_samples(Fill fill, DType dtype = DType::F32,
                                                const Attrs& attrs = {});
/// Two operands: equal shapes, broadcast either way and both ways, empty ones, scalars.
[[nodiscard]] std::vector<Sample> binary_samples(Fill left, Fill right, DType dtype = DType::F32);
/// Three operands that broadcast to each other; the first has dtype `first`.
[[nodiscard]] std::vector<Sample> ternary_samples(DType first, Fill first_fill, Fill fill);
/// Reductions over inner, outer, middle and all axes, with and without keepdims. `empty`: whether
/// folding no element has an answer.
enum class EmptyFold : uint8_t { Allowed, Refused };
[[nodiscard]] std::vector<Sample> reduction_samples(Fill fill, EmptyFold empty);
/// One operand with an axis attribute, as softmax has it.
[[nodiscard]] std::vector<Sample> axis_samples(Fill fill);

template <Fill fill, DType dtype = DType::F32>
std::vector<Sample> unary_samples_of() {
  return unary_samples(fill, dtype);
}
template <Fill left, Fill right = left, DType dtype = DType::F32>
std::vector<Sample> binary_samples_of() {
  return binary_samples(left, right, dtype);
}

}  // namespace reprise
