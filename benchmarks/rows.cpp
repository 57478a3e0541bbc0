#include "rows.h"

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace reprise::bench {
namespace {

std::vector<Row>& rows() {
  static std::vector<Row> all;
  return all;
}

void time_work(benchmark::State& state, const Work& work) {
  // The other side's idle threads fall asleep first.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  work();
  for (auto _ : state) work();
}

void time_part(benchmark::State& state, const std::function<double()>& work) {
  for (auto _ : state) state.SetIterationTime(work());
}

/// Keeps every run's time; prints nothing until the end.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      seconds_[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                     static_cast<double>(run.iterations));
    }
  }
  /// Seconds a call; 0 when it was not timed.
  [[nodiscard]] double median(const std::string& name) const {
    const auto found = seconds_.find(name);
    return found == seconds_.end() ? 0 : bench::median(found->second);
  }

 private:
  std::map<std::string, std::vector<double>> seconds_;
};

double value_of(const Row& row, double seconds) {
  if (row.amount > 0) return row.amount / seconds / 1e9;
  seconds /= row.calls;
  if (row.unit == "ns") return seconds * 1e9;
  if (row.unit == "us") return seconds * 1e6;
  return seconds * 1e3;
}

/// A result for each peer, or one; none for a row that was not timed.
void gather(const Row& row, const Collector& times, Output& output) {
  const double ours = times.median(row.name + "/ours");
  if (ours == 0) return;
  const Result alone{.name = row.name, .unit = row.unit, .ours = value_of(row, ours)};
  if (row.peers.empty()) output.add(alone);
  for (const Peer& peer : row.peers) {
    const double theirs = times.median(row.name + "/" + peer.name);
    Result result = alone;
    result.peer = peer.name;
    result.theirs = value_of(row, theirs);
    result.ratio = theirs / ours;
    output.add(result);
  }
}

}  // namespace

void add(Row row) {
  rows().push_back(std::move(row));
}

int run(int argc, char** argv) {
  CLI::App app("Times rows: ours beside a peer's, in turns.");
  Output output(app);
  int rounds = 5;
  double min_time = 0.05;
  app.add_option("--rounds", rounds, "How often the turns go round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--min-time", min_time, "Seconds that each turn takes at least")
      ->check(CLI::Range(1e-3, 1e3))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!output.begin()) return 1;

  bool failed = false, any_wanted = false;
  for (const Row& row : rows()) {
    if (!output.wants(row.name)) continue;
    any_wanted = true;
    if (row.ours) row.ours();
    std::string wrong;
    for (const Peer& peer : row.peers) {
      peer.work();
      if (const std::string found = peer.check(); !found.empty()) wrong = peer.name + ": " + found;
    }
    if (!wrong.empty()) {
      std::cerr << "row " << row.name << " is not timed: " << wrong << '\n';
      failed = true;
      continue;
    }
    const auto enlist = [&](const std::string& side, const auto& timing, const auto& work) {
      return benchmark::RegisterBenchmark((row.name + "/" + side).c_str(), timing, work)
          ->MinTime(min_time)
          ->Repetitions(rounds);
    };
    if (row.ours) {
      enlist("ours", time_work, row.ours)->UseRealTime();
    } else {
      enlist("ours", time_part, row.ours_in_part)->UseManualTime();
    }
    for (const Peer& peer : row.peers) enlist(peer.name, time_work, peer.work)->UseRealTime();
  }

  if (!any_wanted) return output.end(any_wanted);
  std::string program = argv[0], turns = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), turns.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  Collector times;
  benchmark::RunSpecifiedBenchmarks(&times);

  for (const Row& row : rows()) gather(row, times, output);
  const int status = output.end(any_wanted);
  return failed ? 1 : status;
}

Output::Output(CLI::App& app) {
  app.add_option("--json", json_path_, "Write the rows to this file too");
  app.add_option("--filter", filter_, "Regular expression of rows")->capture_default_str();
}

bool Output::begin() {
  try {
    wanted_ = filter_;
  } catch (const std::regex_error& error) {
    std::cerr << "--filter: '" << filter_ << "' is no regular expression: " << error.what() << '\n';
    return false;
  }
  // What the file holds stays until there is something to write.
  if (json_path_.empty() || std::ofstream(json_path_, std::ios::app)) return true;
  std::cerr << "--json: cannot write " << json_path_ << '\n';
  return false;
}

void Output::add(const Result& result) {
  results_.push_back(result);
  std::ostringstream line;
  line.precision(4);
  line << "row " << result.name << " ours " << result.ours << ' ' << result.unit;
  if (!result.peer.empty()) {
    line << " peer " << result.peer << ' ' << result.theirs << ' ' << result.unit << " ratio "
         << result.ratio;
  }
  std::cout << line.str() << std::endl;
}

int Output::end(bool any_wanted) const {
  if (!any_wanted) std::cerr << "--filter: no row's name matches '" << filter_ << "'\n";
  const int status = any_wanted ? 0 : 2;
  if (json_path_.empty()) return status;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Result& result : results_) {
    all.push_back({{"name", result.name}, {"unit", result.unit}, {"ours", result.ours}});
    if (result.peer.empty()) continue;
    all.back().update({{"peer", result.peer}, {"theirs", result.theirs}, {"ratio", result.ratio}});
  }
  std::ofstream out(json_path_);
  out << all.dump(2) << '\n';
  if (out.flush()) return status;
  std::cerr << "--json: cannot write " << json_path_ << '\n';
  return 1;
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
  if (ours.size() != expected.size()) return "the results differ in size";
  double largest = 0, off = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    const double distance = std::abs(static_cast<double>(ours[i]) - expected[i]);
    if (!(distance <= off)) off = distance;  // NaN too
  }
  if (off <= tolerance * largest) return "";
  std::ostringstream text;
  text << "results differ by " << off << ", the largest is " << largest;
  return text.str();
}

}  // namespace reprise::bench
