// Training steps beside PyTorch's: both start from the same numbers, and the losses of the first
// steps are compared before a time is believed. A step is recorded anew each time.
#include <algorithm>
#include <cmath>
#include <memory>

#include "expert_mlp.h"
#include "frontend/reprise.h"
#include "rows.h"
#include "training_nets.h"

namespace {

namespace rp = reprise;
using namespace rp::bench;

struct Step {
  const char *net, *optimizer;
  int compared;  ///< steps whose losses are compared
  /// Arithmetic of the matrix products and convolutions: forward, and twice that for the gradients,
  /// less that of the images, for which nothing asks.
  double flops;
};

constexpr double kMlp = 64 * 2.0 * (784 * 256 + 256 * 128 + 128 * 10);
constexpr double kMlpStep = 3 * kMlp - 64 * 2.0 * 784 * 256;
constexpr double kLenetFirst = 64 * 2.0 * 6 * 25 * 28 * 28;
constexpr double kLenetStep =
    2 * kLenetFirst + 3 * 64 * 2.0 * (16 * 6 * 25 * 100 + 400 * 120 + 120 * 84 + 84 * 10);
constexpr double kCnnFirst = 64 * 2.0 * 3 * 32 * 9 * 32 * 32;
constexpr double kCnnStep = 2 * kCnnFirst + 3 * 64 * 2.0 * (32 * 64 * 9 * 16 * 16 + 4096 * 10);
// Weights, and half of the attention's products: the rest is masked.
constexpr double kGptStep =
    3 * 1024 * 2.0 * (4 * 12 * 256 * 256 + 256 * 512 + 4 * 2 * 128 * 256 / 2);

std::vector<float> first_losses(const Step& step) {
  Training training(step.net, step.optimizer);
  std::vector<float> losses(step.compared);
  for (float& loss : losses) loss = training.step();
  return losses;
}

std::string compare_losses(const std::vector<float>& ours, const std::vector<float>& theirs) {
  for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
    const double off = std::abs(ours[i] - theirs[i]);
    if (!(off <= 1e-3 * std::max(1.0f, std::abs(theirs[i])))) {
      return rp::str("the losses of step ", i + 1, " are ", ours[i], " and ", theirs[i]);
    }
  }
  return ours.size() == theirs.size() ? "" : "not as many losses";
}

/// An expert's step over oneDNN, where it is: it shares its threads with OpenMP's loops.
void add_expert(Row& row, const Step& step, int threads) {
  if (step.net != std::string("mlp") || step.optimizer != std::string("sgd")) return;
  for (const MatrixLibrary& library : find_matrix_libraries()) {
    if (library.name != "onednn" || !library.set_threads) continue;
    const auto expert = std::make_shared<ExpertMlp>(library, threads);
    row.peers.push_back({.name = "expert_" + library.name,
                         .work = [=] { expert->step(); },
                         .check =
                             [=] {
                               ExpertMlp fresh(library, threads);
                               std::vector<float> losses(step.compared);
                               for (float& loss : losses) loss = fresh.step();
                               return compare_losses(first_losses(step), losses);
                             }});
  }
}

void add_row(const Step& step, int threads) {
  const auto training = std::make_shared<std::unique_ptr<Training>>();
  Row row{.name = rp::str(step.net, "_step_", step.optimizer, '_', threads, 't'),
          .ours =
              [=] {
                rp::set_num_threads(threads);
                if (!*training) *training = std::make_unique<Training>(step.net, step.optimizer);
                (*training)->step();
              },
          .python = {{.work = rp::str("step ", step.net, ' ', step.optimizer, ' ', step.compared),
                      .check =
                          [=](const std::vector<float>& theirs) {
                            return compare_losses(first_losses(step), theirs);
                          }}},
          .threads = threads,
          .flops = step.flops};
  add_expert(row, step, threads);
  add(std::move(row));
}

}  // namespace

int main(int argc, char** argv) {
  const Step steps[] = {{"mlp", "sgd", 20, kMlpStep},
                        {"mlp", "adam", 20, kMlpStep},
                        {"lenet", "sgd", 20, kLenetStep},
                        {"cnn", "sgd", 5, kCnnStep},
                        {"gpt", "adamw", 5, kGptStep}};
  for (const Step& step : steps) {
    for (const int threads : {1, 2}) add_row(step, threads);
  }
  return run(argc, argv);
}
