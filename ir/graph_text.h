// The text of a single node, for messages and logs.
#pragma once

#include <string>

#include "ir/graph.h"

namespace reprise {

/// "%2 = multiply %0, %1 : f32[64,784]". Works on invalid nodes too.
[[nodiscard]] std::string print_node(const Graph& graph, NodeId id);

}  // namespace reprise
