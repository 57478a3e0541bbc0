// Pieces of the kernel's textual form that messages use.
#pragma once

#include <string>

#include "ir/scalar.h"

namespace reprise {

/// One instruction as the kernel's text shows it. The numbers of grid axes, parallel loops and
/// reduce loops in scope give the variables their names.
[[nodiscard]] std::string print_instr(const Body& body, uint32_t position, int grid, int parallel,
                                      int reduce);

}  // namespace reprise
