// REPRISE_LOG and its lines.
#include "ir/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "ir/error.h"

namespace reprise {

namespace {

constexpr std::array<std::string_view, 3> kTopics = {"cache", "perf", "time"};

/// Says once in a process what REPRISE_LOG asks for in vain.
void say_unknown(std::string_view topic) {
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  std::string known;
  for (const std::string_view each : kTopics) known += str(known.empty() ? "" : ", ", each);
  log_line("log", str("REPRISE_LOG asks for '", topic, "', known: ", known));
}

}  // namespace

bool log_wants(std::string_view topic) {
  REPRISE_ASSERT(std::find(kTopics.begin(), kTopics.end(), topic) != kTopics.end());
  const char* const wanted = std::getenv("REPRISE_LOG");
  if (wanted == nullptr) return false;
  bool found = false;
  for (std::string_view rest = wanted;;) {
    const size_t comma = rest.find(',');
    const std::string_view each = rest.substr(0, comma);
    found |= each == topic;
    if (!each.empty() && std::find(kTopics.begin(), kTopics.end(), each) == kTopics.end()) {
      say_unknown(each);
    }
    if (comma == std::string_view::npos) return found;
    rest.remove_prefix(comma + 1);
  }
}

void log_line(std::string_view topic, std::string_view text) {
  const std::string line = str("reprise: ", topic, ": ", text, '\n');
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace reprise
