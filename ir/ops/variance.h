// What variance and standard deviation share.
#pragma once

#include <vector>

#include "ir/ops/inference.h"

namespace reprise {

inline constexpr AttrDef kVarianceAttrs[] = {
    {"axes", AttrKind::Axes}, {"keepdims", AttrKind::Int}, {"ddof", AttrKind::Int}};

[[nodiscard]] TensorType infer_variance(const OpContext& ctx);
/// Not yet cast to the result's dtype.
[[nodiscard]] Value wide_variance(Builder& b, Value x, const OpContext& ctx);
[[nodiscard]] std::vector<Sample> variance_samples();

}  // namespace reprise
