// What scans share: each element of the result is what folding the axis gives up to there.
#pragma once

#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {

inline constexpr AttrDef kScanAttrs[] = {{"axis", AttrKind::Int}};

/// Operand 0's shape with elements of `dtype`; all operands have one type.
[[nodiscard]] TensorType infer_scan(const OpContext& ctx, DType dtype);

/// The axis of the scan that a gradient is of.
[[nodiscard]] int scan_axis(const GradientContext& ctx);
/// The elements of `axis` in the opposite order.
[[nodiscard]] Value reversed(Builder& b, Value x, int axis);
/// Element i is element i-1 of x, the first one `first`.
[[nodiscard]] Value shifted(Builder& b, Value x, int axis, double first);
/// y[i] = cotangent[i] + coefficients[i+1] * y[i+1], from the end: the transpose of
/// linear_recurrence with these coefficients.
[[nodiscard]] Value transposed_recurrence(Builder& b, Value coefficients, Value cotangent,
                                          int axis);
/// Each cotangent to the element that it was read from, `from` saying which one of the axis.
[[nodiscard]] Value sent_back(Builder& b, Value cotangent, Value from, int axis);
/// For a running extremum of x: the last element that is as extreme as the result.
void running_extremum_gradient(GradientContext& ctx);

/// `operands` of one type; axes of less and more than a block.
[[nodiscard]] std::vector<Sample> scan_samples(Fill fill, int operands = 1);

}  // namespace reprise
