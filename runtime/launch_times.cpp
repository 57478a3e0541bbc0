#include "runtime/launch_times.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>

#include "ir/log.h"

namespace reprise {

LaunchTimes::LaunchTimes(const Plan& plan) : launches_(plan.launches.size()) {
  for (size_t i = 0; i < launches_.size(); ++i) launches_[i].kernel = plan.launches[i].kernel;
}

void LaunchTimes::add(size_t launch, Clock::duration elapsed) {
  const auto nanoseconds =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  Times& times = launches_[launch];
  times.nanoseconds += nanoseconds;
  ++times.runs;
  uint64_t least = times.least;
  while (nanoseconds < least && !times.least.compare_exchange_weak(least, nanoseconds)) {
  }
}

std::string LaunchTimes::table() const {
  double total = 0;
  uint64_t runs = 0;
  for (const Times& times : launches_) {
    total += static_cast<double>(times.nanoseconds);
    runs = std::max(runs, times.runs.load());
  }
  if (runs == 0) return "";
  std::vector<size_t> order(launches_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return launches_[a].nanoseconds > launches_[b].nanoseconds;
  });
  char line[128];
  std::snprintf(line, sizeof line, "%zu launches, %.1f us in each of %llu runs\n", launches_.size(),
                1e-3 * total / static_cast<double>(runs), static_cast<unsigned long long>(runs));
  std::string text = line;
  for (const size_t i : order) {
    const auto nanoseconds = static_cast<double>(launches_[i].nanoseconds);
    std::snprintf(
        line, sizeof line, "  launch %-4zu kernel %-4u mean %10.1f us, least %10.1f us %6.1f %%\n",
        i, launches_[i].kernel, 1e-3 * nanoseconds / static_cast<double>(runs),
        1e-3 * static_cast<double>(launches_[i].least), 100 * nanoseconds / std::max(total, 1.0));
    text += line;
  }
  return text;
}

namespace {

struct Kept {
  std::mutex mutex;
  std::vector<std::shared_ptr<const LaunchTimes>> plans;
};

/// Never destroyed: plans may run until the very end.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

void print_all() {
  const std::lock_guard lock(kept().mutex);
  for (size_t i = 0; i < kept().plans.size(); ++i) {
    const std::string table = kept().plans[i]->table();
    if (!table.empty()) log_line("time", "plan " + std::to_string(i) + ": " + table);
  }
}

}  // namespace

void print_at_exit(std::shared_ptr<const LaunchTimes> times) {
  const std::lock_guard lock(kept().mutex);
  if (kept().plans.empty()) std::atexit(print_all);
  kept().plans.push_back(std::move(times));
}

}  // namespace reprise
