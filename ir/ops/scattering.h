// What the ops that write by indices share: their types, their attribute, their samples.
#pragma once

#include <vector>

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {

inline constexpr AttrDef kScatterAttrs[] = {{"axis", AttrKind::Int}};

/// The type of operand 0, whose dtype and that of the updates is one that is accepted. Updates have
/// the shape that a gather by the same indices gives.
[[nodiscard]] TensorType infer_scatter(const OpContext& ctx, Accepts accepts);
[[nodiscard]] std::vector<Sample> scatter_samples();

/// For scatters that keep the largest or the smallest: equal ones share the cotangent equally.
void scattered_extremum_gradient(GradientContext& ctx);

/// `x` read at the indices of the scatter that `ctx` is about.
[[nodiscard]] Value gather_as_scattered(GradientContext& ctx, Value x);

}  // namespace reprise
