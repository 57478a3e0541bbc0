// Random graphs of the kind that attention is made of.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace reprise {

/// Products over a batch, folds of their rows, and views between them, in any order; optimized. The
/// same graph for the same seed.
[[nodiscard]] Graph random_heads(uint32_t seed);

}  // namespace reprise
