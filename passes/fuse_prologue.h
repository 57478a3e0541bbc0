// Prologues: elementwise values that a product computes while it packs or reads its operand.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace reprise {

/// Scalar operations that a product may do for each element of an operand it takes in.
inline constexpr int64_t kPrologueCost = 8;
/// Elements of the result, for each of the operand's, that make up for one such operation: they
/// share what was packed, but every task packs for itself.
inline constexpr int64_t kPrologueReuse = 4;

/// Whether a free elementwise value can be read by the loops of a product as its memory would be:
/// every axis advances, what it loads lies contiguous along its last axis or is the same there.
/// Nothing is looked up by data or read under a mask.
[[nodiscard]] bool reads_like_memory(const Graph& graph, NodeId value,
                                     const std::function<bool(NodeId)>& is_loaded);

}  // namespace reprise
