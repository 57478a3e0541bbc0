// The loop over seeds and modes.
#include "tests/fuzz/fuzz_programs.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstring>

#include "ir/error.h"
#include "tests/fuzz/reduce_program.h"
#include "tests/random_program.h"

namespace reprise {

namespace {

constexpr int kMaxFailures = 5;
constexpr std::string_view kThrew = "threw: ";

// A crash cannot be made small in this process; but it says which program it was.
std::atomic<uint64_t> running_seed{0};
std::atomic<const char*> running_mode{nullptr};
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

class CrashReport {
 public:
  CrashReport() {
    struct sigaction action {};
    action.sa_handler = say;
    for (size_t i = 0; i < previous_.size(); ++i) sigaction(kSignals[i], &action, &previous_[i]);
  }
  ~CrashReport() { restore(); }
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;

 private:
  static void restore() {
    for (size_t i = 0; i < previous_.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
  }
  /// Only what a signal handler may do.
  static void say(int signal) {
    std::array<char, 24> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), running_seed.load());
    const auto write_text = [](const char* text, size_t size) {
      [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, size);
    };
    const char* const mode = running_mode.load();
    constexpr std::string_view kBefore = "\ncrashed: ./dev fuzz 1 --seed ";
    write_text(kBefore.data(), kBefore.size());
    write_text(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
    if (mode != nullptr) {
      write_text(" --mode ", 8);
      write_text(mode, std::strlen(mode));
    }
    write_text("\n", 1);
    restore();
    raise(signal);
  }
  static inline std::array<struct sigaction, std::size(kSignals)> previous_{};
};

/// Failures of one kind have the same first words: a difference, or one error.
std::string kind_of(const std::string& found) {
  if (!found.starts_with(kThrew)) return "";
  return found.substr(0, std::min(found.find_first_of("0123456789[%\n"), found.size()));
}

}  // namespace

std::string describe_failure(const Program& program, const Mode& mode, const std::string& found) {
  std::string last = found;
  const Program small = reduce_program(program, [&](const Program& candidate) {
    const std::string text = run_mode(mode, candidate);
    if (text.empty() || kind_of(text) != kind_of(found)) return false;
    last = text;
    return true;
  });
  const std::string again = run_mode(mode, small);
  return str("  made small: ", again.empty() ? last : again, '\n', print(small),
             mode.compare.empty() ? "  its data: " : "  to see it: ",
             write_reproduction(small, mode.compare), '\n');
}

FuzzResult fuzz_programs(const FuzzOptions& options, std::ostream& out) {
  FuzzResult result;
  const CrashReport report;
  for (int i = 0; i < options.count && result.failures < kMaxFailures; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    running_seed = seed;
    running_mode = nullptr;
    const Program program = random_program(seed);
    ++result.programs;
    int number = 0;
    for (const Mode& mode : modes()) {
      ++number;
      if (!options.mode.empty() && mode.name != options.mode) continue;
      if (options.sample &&
          (seed + static_cast<uint64_t>(number)) % static_cast<uint64_t>(mode.every) != 0)
        continue;
      ++result.runs;
      running_mode = mode.name.data();
      const std::string found = run_mode(mode, program);
      if (found.empty()) continue;
      ++result.failures;
      out << "seed " << seed << ", mode " << mode.name << ": " << found
          << "\n  ./dev fuzz 1 --seed " << seed << " --mode " << mode.name << '\n'
          << describe_failure(program, mode, found) << std::flush;
      break;
    }
    if (options.progress) options.progress(result.programs);
  }
  return result;
}

}  // namespace reprise
