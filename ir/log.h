// What the library says about itself on stderr when REPRISE_LOG asks for it.
#pragma once

#include <string_view>

namespace reprise {

/// Whether the comma-separated list in the environment variable REPRISE_LOG names `topic`. Read at
/// each call, so ask only where what follows is slow anyway.
[[nodiscard]] bool log_wants(std::string_view topic);
/// "reprise: topic: text" as one write, so that lines of several threads do not mix.
void log_line(std::string_view topic, std::string_view text);

}  // namespace reprise
