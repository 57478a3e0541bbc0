// Merging of nested movement, shared by canonicalize and simplify.
#pragma once

#include "ir/graph.h"

namespace reprise {

/// The value of the movement `node` over values of `graph` with as few nodes as possible: an
/// existing value when nothing moves, else one node appended, its operand no mergeable movement
/// (provided that those in the graph were added through this function too).
[[nodiscard]] NodeId add_movement(Graph& graph, Node node);
/// `value` broadcast to `shape`; `value` itself when it has that shape.
[[nodiscard]] NodeId add_broadcast(Graph& graph, NodeId value, const Shape& shape);

}  // namespace reprise
