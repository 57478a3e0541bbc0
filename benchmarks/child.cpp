#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

namespace reprise::bench {

Child::Child(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  std::signal(SIGPIPE, SIG_IGN);  // one that has ended is noticed where it is asked
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe for " + command[0]);
  }
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
  std::vector<char*> arguments, variables;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  // Of two with one name the first counts.
  for (const std::string& each : environment) variables.push_back(const_cast<char*>(each.c_str()));
  for (char** each = environ; *each != nullptr; ++each) variables.push_back(*each);
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, to[0], 0);
  posix_spawn_file_actions_adddup2(&files, from[1], 1);
  if (posix_spawnp(&process_, arguments[0], &files, nullptr, arguments.data(), variables.data()) !=
      0) {
    process_ = -1;
  }
  posix_spawn_file_actions_destroy(&files);
  close(to[0]);
  close(from[1]);
}

Child::~Child() {
  std::fclose(to_);
  std::fclose(from_);
  if (process_ != -1) waitpid(process_, nullptr, 0);
}

bool Child::say(const std::string& line) {
  return std::fprintf(to_, "%s\n", line.c_str()) >= 0 && std::fflush(to_) == 0;
}

std::string Child::line() {
  std::string text;
  for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) text.push_back(static_cast<char>(c));
  return text;
}

bool Child::read(void* into, size_t bytes) {
  return std::fread(into, 1, bytes, from_) == bytes;
}

Finished run_child(const std::vector<std::string>& command,
                   const std::vector<std::string>& environment) {
  const auto start = std::chrono::steady_clock::now();
  Finished finished;
  {
    Child child(command, environment);
    finished.output = child.line();
  }
  finished.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (finished.output.empty()) throw std::runtime_error(command[0] + " said nothing");
  return finished;
}

}  // namespace reprise::bench
