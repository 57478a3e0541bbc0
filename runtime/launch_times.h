// Where the time of a plan goes, launch by launch: REPRISE_LOG=time, `reprise run --time`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/plan.h"

namespace reprise {

/// Nanoseconds that each launch of one plan took, over all its runs. Threads may add at once.
class LaunchTimes {
 public:
  explicit LaunchTimes(const Plan& plan);

  using Clock = std::chrono::steady_clock;
  void add(size_t launch, Clock::duration elapsed);
  /// A line for all and one for each launch, the longest first: its kernel (numbered as in a dump),
  /// its mean and its least time, and its share. Empty when it never ran.
  [[nodiscard]] std::string table() const;

 private:
  struct Times {
    uint32_t kernel = 0;
    std::atomic<uint64_t> nanoseconds{0}, runs{0}, least{UINT64_MAX};
  };
  std::vector<Times> launches_;
};

/// Keeps the times of a plan until the program ends and prints them then, on stderr.
void print_at_exit(std::shared_ptr<const LaunchTimes> times);

}  // namespace reprise
