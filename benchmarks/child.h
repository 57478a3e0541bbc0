// Programs run as children: one that is talked to, and one that only runs.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace reprise::bench {

/// A child whose input and output are ours. It ends when its input does.
class Child {
 public:
  /// `environment` has NAME=VALUE, beside what this process has.
  Child(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False when it has ended.
  bool say(const std::string& line);
  /// A line without its end; empty when it has ended.
  [[nodiscard]] std::string line();
  bool read(void* into, size_t bytes);

 private:
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
  pid_t process_ = -1;
};

struct Finished {
  double seconds = 0;  ///< from before it began until it had ended
  std::string output;  ///< its first line
};
/// Throws std::runtime_error when it says nothing.
Finished run_child(const std::vector<std::string>& command,
                   const std::vector<std::string>& environment = {});

}  // namespace reprise::bench
