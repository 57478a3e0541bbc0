// A training step of the 784-256-128-10 perceptron at batch 64 beside PyTorch's, in turns.
//
// Both programs start from the same numbers; their losses after the warm-up are compared before a
// time is believed. Prints one line a row:
//   row NAME ours VALUE ms peer pytorch VALUE ms ratio R      (above 1: we are ahead)
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <thread>

#include "frontend/reprise.h"
#include "rows.h"

namespace {

namespace rp = reprise;
using rp::bench::median;

constexpr int kBatch = 64;
constexpr int kWarmup = 20;

/// The same numbers as in mlp_step_torch.py.
std::vector<float> pattern(int64_t count, float scale, uint64_t salt) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t word = (static_cast<uint64_t>(i) + salt) * 2654435761u % (uint64_t{1} << 32);
    word = ((word ^ word >> 15) * 2246822519u) % (uint64_t{1} << 32);
    const float unit = static_cast<float>(word >> 8) * 0x1p-24f;
    values[static_cast<size_t>(i)] = (unit * 2 - 1) * scale;
  }
  return values;
}

struct Mlp : rp::nn::Module {
  rp::nn::Linear fc1{*this, "fc1", 784, 256};
  rp::nn::Linear fc2{*this, "fc2", 256, 128};
  rp::nn::Linear fc3{*this, "fc3", 128, 10};
  rp::Tensor operator()(const rp::Tensor& x) const { return fc3(rp::relu(fc2(rp::relu(fc1(x))))); }
};

struct Timing {
  double loss = 0;
  double milliseconds = 0;
};

Timing ours(const std::string& optimizer, int threads, int steps) {
  rp::set_num_threads(threads);
  Mlp net;
  uint64_t salt = 0;
  for (rp::Tensor p : net.parameters()) {
    if (p.rank() == 2) {
      salt += 1000;
      const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.shape()[0])));
      p.assign_(rp::Tensor::of(pattern(p.numel(), scale, salt), p.shape()));
    } else {
      p.assign_(rp::zeros(p.shape()));
    }
  }
  const rp::Tensor x = rp::Tensor::of(pattern(kBatch * 784, 1, 7), {kBatch, 784});
  std::vector<int64_t> labels(kBatch);
  for (int i = 0; i < kBatch; ++i) labels[i] = i % 10;
  const rp::Tensor y = rp::Tensor::of(labels);
  std::unique_ptr<rp::optim::Optimizer> opt;
  if (optimizer == "adam") {
    opt = std::make_unique<rp::optim::Adam>(net.parameters(), rp::optim::AdamOptions{.lr = 1e-3});
  } else {
    opt = std::make_unique<rp::optim::Sgd>(net.parameters(), rp::optim::SgdOptions{.lr = 1e-2});
  }
  const auto step = [&] {
    rp::Tape tape;
    const rp::Tensor loss = rp::cross_entropy(net(x), y);
    opt->step(tape.gradient(loss, net.parameters()));
    tape.realize(loss);
    return loss.item<float>();
  };
  Timing timing;
  for (int i = 0; i < kWarmup; ++i) timing.loss = step();
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    times.push_back(elapsed.count());
  }
  timing.milliseconds = median(times);
  return timing;
}

/// Runs the peer; a process of its own, so that its threads do not spin while we are timed.
Timing peer(const std::string& python, const std::string& optimizer, int threads, int steps) {
  const std::string command = python + " " +
                              BENCHMARK_SOURCE_DIR "/mlp_step_torch.py --optimizer " + optimizer +
                              " --threads " + std::to_string(threads) + " --warmup " +
                              std::to_string(kWarmup) + " --steps " + std::to_string(steps);
  Timing timing;
  FILE* pipe = popen(command.c_str(), "r");
  const int read = pipe ? std::fscanf(pipe, "%lf %lf", &timing.loss, &timing.milliseconds) : 0;
  if (pipe) pclose(pipe);
  if (read != 2) throw std::runtime_error("the peer did not run: " + command);
  return timing;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A training step beside PyTorch's"};
  std::string python = "/usr/bin/python3";
  int steps = 300, rounds = 3;
  app.add_option("--python", python, "An interpreter that has torch; empty: no peer")
      ->capture_default_str();
  app.add_option("--steps", steps, "Timed steps in a round")->capture_default_str();
  app.add_option("--rounds", rounds, "Times we and the peer take turns")->capture_default_str();
  rp::bench::Output output(app);
  CLI11_PARSE(app, argc, argv);
  if (!output.begin()) return 1;
  bool any_wanted = false;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const std::string optimizer : {"sgd", "adam"}) {
    for (const int threads : {1, std::min(cores, 2)}) {
      rp::bench::Result result{.name = rp::str("mlp_step_", optimizer, '_', threads, 't'),
                               .unit = "ms"};
      if (!output.wants(result.name)) continue;
      any_wanted = true;
      std::vector<double> our_times, peer_times;
      for (int round = 0; round < rounds; ++round) {
        const Timing mine = ours(optimizer, threads, steps);
        our_times.push_back(mine.milliseconds);
        // Our idle workers must be asleep before the peer is timed.
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (python.empty()) continue;
        const Timing theirs = peer(python, optimizer, threads, steps);
        peer_times.push_back(theirs.milliseconds);
        if (std::abs(mine.loss - theirs.loss) > 1e-3 * std::max(1.0, std::abs(theirs.loss))) {
          std::cerr << "losses differ after " << kWarmup << " steps: ours " << mine.loss
                    << ", peer " << theirs.loss << '\n';
          return 1;
        }
      }
      result.ours = median(our_times);
      if (!peer_times.empty()) {
        result.peer = "pytorch";
        result.theirs = median(peer_times);
        result.ratio = result.theirs / result.ours;
      }
      output.add(result);
    }
  }
  return output.end(any_wanted);
}
