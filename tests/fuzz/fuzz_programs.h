// Runs random programs in every mode and says what fails, made small.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "tests/fuzz/modes.h"

namespace reprise {

struct FuzzOptions {
  uint64_t seed = 1;  ///< of the first program; the next has the next seed
  int count = 1000;
  std::string mode;     ///< only this one, if any
  bool sample = false;  ///< slow modes run some programs only
  /// Called after each program with how many are done.
  std::function<void(int)> progress;
};
struct FuzzResult {
  int programs = 0;
  int runs = 0;
  int failures = 0;
};
/// Says on `out` what fails: the seed, the mode, the difference, the smallest program found and the
/// command that shows it. Stops after a few failures.
[[nodiscard]] FuzzResult fuzz_programs(const FuzzOptions& options, std::ostream& out);

/// Makes a program small that fails in this mode; the text that names it.
[[nodiscard]] std::string describe_failure(const Program& program, const Mode& mode,
                                           const std::string& found);

}  // namespace reprise
