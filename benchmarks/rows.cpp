#include "rows.h"

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "ir/error.h"
#include "machine_limits.h"
#include "torch_peer.h"

namespace reprise::bench {
namespace {

std::vector<Row>& rows() {
  static std::vector<Row> all;
  return all;
}

/// The other side's idle threads fall asleep first.
void let_threads_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void time_work(benchmark::State& state, const Work& work) {
  let_threads_sleep();
  work();
  for (auto _ : state) work();
}

void time_itself(benchmark::State& state, const Timed& timed, double at_least) {
  let_threads_sleep();
  for (auto _ : state) state.SetIterationTime(timed(at_least));
}

/// Keeps every run's time; prints nothing until the end.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(bool wants_best) : wants_best_(wants_best) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      seconds_[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                     static_cast<double>(run.iterations));
    }
  }
  /// Seconds a call, the rounds' median or least; 0 when it was not timed.
  [[nodiscard]] double seconds(const std::string& name) const {
    const auto found = seconds_.find(name);
    if (found == seconds_.end()) return 0;
    return wants_best_ ? *std::min_element(found->second.begin(), found->second.end())
                       : median(found->second);
  }

 private:
  bool wants_best_;
  std::map<std::string, std::vector<double>> seconds_;
};

/// Registers sides with Google Benchmark, each under a name.
struct Turns {
  int rounds;
  double min_time;

  void enlist(const std::string& name, const Work& work) const {
    benchmark::RegisterBenchmark(name.c_str(), time_work, work)
        ->MinTime(min_time)
        ->Repetitions(rounds)
        ->UseRealTime();
  }
  void enlist(const std::string& name, const Timed& timed) const {
    benchmark::RegisterBenchmark(name.c_str(), time_itself, timed, min_time)
        ->Iterations(1)
        ->Repetitions(rounds)
        ->UseManualTime();
  }
};

/// The machine's limits, measured in turns with the rows that state what they need.
class Limits {
 public:
  void enlist(const Row& row, const Turns& turns) {
    const int threads = row.threads;
    if (row.flops > 0 && enlisted_.insert(name("fma", threads)).second) {
      turns.enlist(name("fma", threads), Work([=] { multiply_add(threads); }));
    }
    if (row.bytes == 0 || !enlisted_.insert(name("read", threads)).second) return;
    if (!from_) {
      from_ = std::make_shared<Area>(kBytes, Pages::Huge);
      into_ = std::make_shared<Area>(kBytes, Pages::Huge);
    }
    turns.enlist(name("read", threads), Work([=, this] { read(*from_, threads); }));
    turns.enlist(name("copy", threads),
                 Work([=, this] { copy(*from_, *into_, Stores::Streaming, threads); }));
  }

  /// Of one multiply-add, in those of f32: units that multiply narrower numbers take in as many
  /// bits.
  static double cost(Row::Factors factors) {
    switch (factors) {
      case Row::Factors::F64:
        return 2;
      case Row::Factors::F32:
        return 1;
      case Row::Factors::BF16:
        return 0.5;
      case Row::Factors::I8:
        return 0.25;
    }
    return 1;
  }

  /// The least seconds that the row could take, in percent of those it took; 0: none is stated.
  [[nodiscard]] double percent(const Row& row, const Collector& times, double seconds) const {
    double least = 0;
    if (row.flops > 0) {
      least = row.flops * cost(row.factors) * times.seconds(name("fma", row.threads)) /
              static_cast<double>(multiply_add_flops(row.threads));
    }
    if (row.bytes > 0) {
      const double one_byte = std::min(times.seconds(name("read", row.threads)) / kBytes,
                                       times.seconds(name("copy", row.threads)) / (2.0 * kBytes));
      least = std::max(least, row.bytes * one_byte);
    }
    return 100 * least / seconds;
  }

 private:
  static constexpr int64_t kBytes = int64_t{128} << 20;
  static std::string name(const char* what, int threads) {
    return str("limit/", what, '_', threads);
  }

  std::shared_ptr<Area> from_, into_;
  std::set<std::string> enlisted_;
};

/// The peers in Python, started when a row first asks for them.
class PythonPeers {
 public:
  explicit PythonPeers(std::string python) : python_(std::move(python)) {}

  /// `row` with its peers in Python among the others.
  [[nodiscard]] Row with_peers(Row row) {
    for (const PythonPeer& python : row.python) {
      for (const auto& [process, suffix] : processes()) {
        if (!suffix.empty() && !python.is_tuned_too) continue;
        const int threads = row.threads;
        const auto check = [python, threads, process = process]() -> std::string {
          if (!python.check) return "";
          return python.check(process->result(python.work, threads));
        };
        const auto timed = [python, threads, process = process](double at_least) {
          return process->seconds(python.work, threads, at_least);
        };
        row.peers.push_back({.name = python.name + suffix, .check = check, .timed = timed});
      }
    }
    return row;
  }

 private:
  using Process = std::pair<std::shared_ptr<TorchPeer>, std::string>;

  const std::vector<Process>& processes() {
    if (started_ || python_.empty()) return processes_;
    started_ = true;
    for (const auto& [flavour, suffix] : {std::pair(Torch::Stock, ""), {Torch::Tuned, "_tuned"}}) {
      std::shared_ptr<TorchPeer> process = TorchPeer::start(python_, flavour);
      if (process) processes_.emplace_back(std::move(process), suffix);
    }
    if (processes_.empty()) {
      std::cerr << "no peers in Python: " << python_ << " has no torch\n";
    }
    return processes_;
  }

  std::string python_;
  bool started_ = false;
  std::vector<Process> processes_;
};

/// What is wrong with a side's result; each has run once. Empty: nothing.
std::string wrong_of(const Row& row) {
  try {
    if (row.ours) row.ours();
    for (const Peer& peer : row.peers) {
      if (peer.work) peer.work();
      const std::string found = peer.check ? peer.check() : "";
      if (!found.empty()) return peer.name + ": " + found;
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

double value_of(const Row& row, double seconds) {
  if (row.unit == "GFLOP/s") return row.flops / seconds / 1e9;
  if (row.unit == "GB/s") return row.bytes / seconds / 1e9;
  seconds /= row.calls;
  if (row.unit == "ns") return seconds * 1e9;
  if (row.unit == "us") return seconds * 1e6;
  if (row.unit == "ms") return seconds * 1e3;
  return seconds;
}

/// A result for each peer, or one; none for a row that was not timed.
void gather(const Row& row, const Limits& limits, const Collector& times, Output& output) {
  const double ours = times.seconds(row.name + "/ours");
  if (ours == 0) return;
  const Result alone{.name = row.name,
                     .unit = row.unit,
                     .ours = value_of(row, ours),
                     .limit = limits.percent(row, times, ours)};
  if (row.peers.empty()) output.add(alone);
  for (const Peer& peer : row.peers) {
    const double theirs = times.seconds(row.name + "/" + peer.name);
    Result result = alone;
    result.peer = peer.name;
    result.theirs = value_of(row, theirs);
    result.ratio = theirs / ours;
    output.add(result);
  }
}

}  // namespace

Timed repeated(std::function<double()> part) {
  return [part = std::move(part)](double at_least) {
    part();
    double seconds = 0;
    int calls = 0;
    for (; seconds < at_least; ++calls) seconds += part();
    return seconds / calls;
  };
}

void add(Row row) {
  rows().push_back(std::move(row));
}

int run(int argc, char** argv) {
  CLI::App app("Times rows: ours beside a peer's, in turns.");
  Output output(app);
  Turns turns{.rounds = 5, .min_time = 0.05};
  std::string python = "/usr/bin/python3";
  bool wants_best = false;
  app.add_option("--rounds", turns.rounds, "How often the turns go round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--min-time", turns.min_time, "Seconds that each turn takes at least")
      ->check(CLI::Range(1e-3, 1e3))
      ->capture_default_str();
  app.add_flag("--best", wants_best,
               "The best round of each side, not the median: for a machine that others use");
  app.add_option("--python", python, "An interpreter that has torch; empty: no peers in Python")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!output.begin()) return 1;

  bool failed = false, any_wanted = false;
  Limits limits;
  PythonPeers python_peers(python);
  for (Row& row : rows()) {
    if (!output.wants(row.name)) continue;
    any_wanted = true;
    row = python_peers.with_peers(std::move(row));
    if (const std::string wrong = wrong_of(row); !wrong.empty()) {
      std::cerr << "row " << row.name << " is not timed: " << wrong << '\n';
      failed = true;
      continue;
    }
    const auto enlist = [&](const std::string& side, const Work& work, const Timed& timed) {
      const std::string name = row.name + "/" + side;
      work ? turns.enlist(name, work) : turns.enlist(name, timed);
    };
    enlist("ours", row.ours, row.ours_timed);
    for (const Peer& peer : row.peers) enlist(peer.name, peer.work, peer.timed);
    limits.enlist(row, turns);
  }

  if (!any_wanted) return output.end(any_wanted);
  std::string program = argv[0], in_turns = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), in_turns.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  Collector times(wants_best);
  benchmark::RunSpecifiedBenchmarks(&times);

  for (const Row& row : rows()) gather(row, limits, times, output);
  const int status = output.end(any_wanted);
  return failed ? 1 : status;
}

std::vector<float> numbers(int64_t count, uint64_t salt) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t word = salt * 0x9e3779b97f4a7c15u + 1;
  for (float& value : values) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(word >> 40) * 0x1p-23f - 1;
  }
  return values;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string difference(const std::vector<float>& ours, const std::vector<float>& expected,
                       double tolerance) {
  if (ours.size() != expected.size()) {
    return str("the results are ", ours.size(), " and ", expected.size(), " numbers");
  }
  double largest = 0, off = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    const double distance = std::abs(static_cast<double>(ours[i]) - expected[i]);
    if (!(distance <= off)) off = distance;  // NaN too
  }
  if (off <= tolerance * largest) return "";
  return str("results differ by ", off, ", the largest is ", largest);
}

}  // namespace reprise::bench
