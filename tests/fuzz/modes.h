// The ways to run a program, each compared with the reference interpreter bit for bit.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tests/program.h"

namespace reprise {

struct Mode {
  std::string_view name;
  /// One program in so many runs in this mode where time is short.
  int every;
  /// Empty, or which output's element differs in which step, with both values. What it throws is a
  /// failure too.
  std::string (*run)(const Program& program);
  /// What `reprise run --compare` takes to see the same difference; empty: it cannot.
  std::string_view compare;
};

[[nodiscard]] std::span<const Mode> modes();
/// Throws Error when no mode is called so.
[[nodiscard]] const Mode& find_mode(std::string_view name);

/// What the mode says of the program, exceptions as text.
[[nodiscard]] std::string run_mode(const Mode& mode, const Program& program);

}  // namespace reprise
