// What uniform and normal share: whole numbers of the dtype's precision from random words.
#pragma once

#include "ir/ops/inference.h"

namespace reprise {

/// Key and counter are u64 scalars, the result is a float type that the recorder gives.
[[nodiscard]] TensorType infer_random(const OpContext& ctx);

/// Uniform whole numbers in [0, 2^bits), of `dtype` (f32 or f64), exact: bits is at most 24 for f32
/// and 53 for f64, which takes two words an element.
[[nodiscard]] Value random_integers(Builder& b, Value key, Value counter, const TensorType& type,
                                    int bits);

}  // namespace reprise
