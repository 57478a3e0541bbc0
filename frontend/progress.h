// Progress: a bar on a terminal, a line now and then everywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace reprise::io {

class Progress {
 public:
  /// Counts to `total`. Writes to `out`; a bar that is redrawn when that is a terminal.
  Progress(std::string label, int64_t total, std::FILE* out = stderr);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether `update` would draw now: what it shows need not be computed otherwise.
  [[nodiscard]] bool due() const;
  void update(int64_t done, std::string_view note);
  /// The last line, which stays.
  void finish(std::string_view note);

 private:
  using Clock = std::chrono::steady_clock;
  void clear_bar();

  std::string label_;
  int64_t total_;
  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace reprise::io
