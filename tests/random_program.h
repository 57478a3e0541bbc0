// Random valid programs over every op and dtype.
#pragma once

#include <cstdint>

#include "tests/program.h"

namespace reprise {

/// The same program for the same seed: a few leaves, up to a dozen ops of the table (composites
/// expand to more), gradients in some, one to four outputs, assigns of inputs whose type an output
/// has. No index is out of range, whatever the leaves hold.
[[nodiscard]] Program random_program(uint64_t seed);

}  // namespace reprise
