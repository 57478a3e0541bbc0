// bin/fuzz: random programs in every mode, or threads that share tensors.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "ir/error.h"
#include "tests/fuzz/fuzz_programs.h"
#include "tests/fuzz/stress.h"

namespace reprise {
namespace {

int main_checked(int argc, char** argv) {
  CLI::App app{"Runs random programs in every mode and compares the bits"};
  FuzzOptions options;
  options.count = 10000;
  double stress = 0;
  app.add_option("count", options.count, "Programs")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the first program")
      ->check([](const std::string& text) {  // CLI11 would wrap it
        return text.find('-') == text.npos ? "" : text + " is negative";
      })
      ->capture_default_str();
  app.add_option("--mode", options.mode, "Only this mode");
  app.add_flag("--sample", options.sample, "Run slow modes on some programs only");
  app.add_option("--stress", stress, "Instead, for so many seconds: eight threads share tensors")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (!options.mode.empty()) (void)find_mode(options.mode);
  if (stress > 0) {
    const StressResult result =
        stress_threads({.threads = 8, .seconds = stress, .seed = options.seed});
    std::cout << result.steps << " steps of 8 threads, seed " << options.seed << ": "
              << (result.failure.empty() ? "no failure" : result.failure) << '\n';
    return result.failure.empty() ? 0 : 1;
  }

  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                            start)
        .count();
  };
  options.progress = [&](int done) {
    if (done % 100 == 0) std::cerr << done << " programs, " << seconds() << " s\n";
  };
  const FuzzResult result = fuzz_programs(options, std::cout);
  std::cout << result.programs << " programs from seed " << options.seed << ", " << result.runs
            << " runs, " << result.failures << " failures, " << seconds() << " s\n";
  return result.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  try {
    return reprise::main_checked(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "fuzz: " << error.what() << '\n';
    return 2;
  }
}
