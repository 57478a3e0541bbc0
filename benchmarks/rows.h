// Benchmarks as rows: ours beside its peers', each checked before it is timed.
#pragma once

#include <functional>
#include <regex>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace reprise::bench {

/// One side of a row: called over and over while it is timed, on as many threads as set up.
using Work = std::function<void()>;
/// A side that times itself: works for `at_least` seconds of its own clock, returns the seconds of
/// one call (in a row of MiB, these).
using Timed = std::function<double(double at_least)>;
/// Of calls that return the seconds that count.
[[nodiscard]] Timed repeated(std::function<double()> part);

struct Peer {
  std::string name;
  Work work = {};
  /// What is wrong with its result or ours, after each has run once; empty: nothing.
  std::function<std::string()> check = {};
  /// In place of `work`.
  Timed timed = {};
};

/// Work that torch_peer.py knows by its words: a peer in a process of its own, where Python has
/// torch. It runs twice unless told, as it comes and with what is known to make it quicker.
struct PythonPeer {
  std::string work;
  /// As in Peer, of what the work makes; empty: there is nothing to compare.
  std::function<std::string(const std::vector<float>& theirs)> check = {};
  std::string name = "pytorch";
  bool is_tuned_too = true;
};

struct Row {
  std::string name;
  Work ours = {};
  /// In place of `ours`.
  Timed ours_timed = {};
  std::vector<Peer> peers = {};
  std::vector<PythonPeer> python = {};
  int threads = 1;
  /// What a call cannot do without: its arithmetic, and what it must read from or write to memory
  /// because no cache holds it. The row tells how near the machine's limit that is.
  double flops = 0, bytes = 0;
  enum class Factors : uint8_t { F32, F64, BF16, I8 } factors = Factors::F32;
  /// GFLOP/s and GB/s are `flops` and `bytes` a second; else the figure is the time of one of
  /// `calls` that a call makes, or MiB.
  int calls = 1;
  std::string unit = "ms";
};

/// Registers a row with Google Benchmark. Rows of one program are timed in turns.
void add(Row row);

/// Times all rows that --filter=REGEX picks and prints a line for each and each of its peers,
/// medians of the rounds:
///   row NAME ours VALUE UNIT [peer PEER VALUE UNIT ratio R] [limit P%]
/// A ratio above 1: we are ahead. The limit is measured in turns with the rows; 100 % is reached.
/// --json=FILE writes them as JSON too, --rounds=N sets how often the turns go round, --min-time=S
/// how long each turn takes, --best takes the best round in place of the median, --python=PATH
/// names the interpreter of the peers in Python. Returns the exit status: 0; 1 when a check failed
/// or the file cannot be written, which is tried before anything is timed; 2 when the filter picks
/// no row.
int run(int argc, char** argv);

/// A line of output, as `run` makes them.
struct Result {
  std::string name, unit;
  double ours = 0;
  std::string peer = {};  ///< empty: there is none
  double theirs = 0;
  double ratio = 0;
  double limit = 0;  ///< in percent; 0: none is stated
};

/// --json=FILE and --filter=REGEX, which every program takes.
class Output {
 public:
  explicit Output(CLI::App& app);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Once the options are parsed. False, and a line on stderr, when the filter is no regular
  /// expression or the file cannot be written.
  [[nodiscard]] bool begin();
  [[nodiscard]] bool wants(const std::string& row) const { return std::regex_search(row, wanted_); }
  /// Prints the line, and keeps it for the file.
  void add(const Result& result);
  /// Writes the file. The exit status: 2, and a line on stderr, when no row was wanted, 1 when the
  /// file could not be written.
  [[nodiscard]] int end(bool any_wanted) const;

 private:
  std::string json_path_, filter_ = ".";
  std::regex wanted_;
  std::vector<Result> results_;
};

/// Numbers in [-1, 1) that both sides can start from.
[[nodiscard]] std::vector<float> numbers(int64_t count, uint64_t salt = 0);

[[nodiscard]] double median(std::vector<double> values);

/// The largest difference, relative to the largest expected magnitude, said when it is beyond
/// `tolerance`.
[[nodiscard]] std::string difference(const std::vector<float>& ours,
                                     const std::vector<float>& expected, double tolerance);

}  // namespace reprise::bench
