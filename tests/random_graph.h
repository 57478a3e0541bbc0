// Small random graphs of every kind of op, for comparing two ways of computing them.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace reprise {

/// The same graph for the same seed. A few inputs and parameters, some dozen ops over shapes of
/// extents 0 to 7, one to four outputs.
[[nodiscard]] Graph random_graph(uint32_t seed);

/// Products over a batch, folds of their rows, and views between them, in any order; optimized.
[[nodiscard]] Graph random_heads(uint32_t seed);

}  // namespace reprise
