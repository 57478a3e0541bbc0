// Threads that record, realize, assign, freeze, replay and drop at random, sharing tensors.
#pragma once

#include <cstdint>
#include <string>

namespace reprise {

struct StressOptions {
  int threads = 8;
  double seconds = 5;
  uint64_t seed = 1;
};
struct StressResult {
  uint64_t steps = 0;
  /// The first value that was not as it must be, or what was thrown; empty when all was well.
  std::string failure;
};
/// Every tensor has one number everywhere, which is known: exactly for values, by a rule that all
/// assigns keep for tensors that any thread may assign.
[[nodiscard]] StressResult stress_threads(const StressOptions& options);

}  // namespace reprise
