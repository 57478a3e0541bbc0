// REPRISE_LOG and its lines.
#include "ir/log.h"

#include <cstdio>
#include <cstdlib>

#include "ir/error.h"

namespace reprise {

bool log_wants(std::string_view topic) {
  const char* const wanted = std::getenv("REPRISE_LOG");
  if (wanted == nullptr) return false;
  for (std::string_view rest = wanted;;) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == topic) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

void log_line(std::string_view topic, std::string_view text) {
  const std::string line = str("reprise: ", topic, ": ", text, '\n');
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace reprise
