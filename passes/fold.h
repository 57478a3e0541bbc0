// Evaluation of ops over constants, where every target would give the same bits.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace reprise {

/// One number for all that give the same element of `dtype`: constants that mean the same are
/// equal.
[[nodiscard]] double canonical_constant(double value, DType dtype);

/// The number that all elements of `value` are known to be: a constant, also when broadcast.
[[nodiscard]] std::optional<double> uniform_value(const Graph& graph, NodeId value);

/// The number that all elements of the elementwise `node` are, when its operands are uniform and
/// its scalar program consists of exact operations only. Nothing where a constant could not hold
/// the result (64-bit integers past 2^53).
[[nodiscard]] std::optional<double> fold_elementwise(const Graph& graph, const Node& node);

/// Likewise for reductions of uniform operands, and for those that fold no element at all.
[[nodiscard]] std::optional<double> fold_reduction(const Graph& graph, const Node& node);

}  // namespace reprise
