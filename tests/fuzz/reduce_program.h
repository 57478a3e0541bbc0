// Makes a failing program small.
#pragma once

#include <functional>

#include "tests/program.h"

namespace reprise {

/// The smallest program found on which `fails` still holds: outputs, assigns and nodes dropped,
/// nodes replaced by their operands or by leaves that hold the same values, extents and dtypes made
/// small, data made plain. `program` itself must fail. Runs `fails` some hundred times.
[[nodiscard]] Program reduce_program(const Program& program,
                                     const std::function<bool(const Program&)>& fails);

/// Writes graph and data to a new folder and returns the `reprise run` command that runs them.
[[nodiscard]] std::string write_reproduction(const Program& program, std::string_view compare);

}  // namespace reprise
