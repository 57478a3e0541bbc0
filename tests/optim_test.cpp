// Optimizers against the same arithmetic on the host, schedules, and errors.
#include "expect_tensor.h"

namespace reprise {
namespace {

using D = std::vector<double>;

/// Minimizes sum((w - target)^2) for some steps; f64, so that only a wrong formula shows.
template <class Optimizer, class Options>
D descend(const Options& options, int steps, const optim::StepSchedule& schedule) {
  const Tensor w = Tensor::of({1.0, -2.0, 0.5});
  const Tensor target = Tensor::of({0.0, 1.0, 0.25});
  Optimizer optimizer(std::vector<Tensor>{w}, options);
  for (int i = 0; i < steps; ++i) {
    optimizer.set_lr(schedule(i));
    const Tape tape;
    const Tensor loss = sum(square(w - target));
    optimizer.step(tape.gradient(loss, std::vector<Tensor>{w}));
    tape.realize(loss);
  }
  EXPECT_EQ(optimizer.steps(), steps);
  return w.to_vector<double>();
}

/// The same on the host: `update(w, gradient, state, lr, t)` for one element.
template <class Update>
D on_host(int steps, const optim::StepSchedule& schedule, Update update) {
  D w = {1.0, -2.0, 0.5};
  const D target = {0.0, 1.0, 0.25};
  std::vector<std::array<double, 2>> state(3);
  for (int i = 0; i < steps; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      update(w[j], 2 * (w[j] - target[j]), state[j], schedule(i), i + 1);
    }
  }
  return w;
}

void expect_close(const D& actual, const D& expected) {
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
}

const optim::StepSchedule kSchedule{.base = 0.05, .factor = 0.5, .every = 7};

TEST(Sgd, Plain) {
  expect_close(
      descend<optim::Sgd>(optim::SgdOptions{}, 20, kSchedule),
      on_host(20, kSchedule, [](double& w, double g, auto&, double lr, int) { w -= lr * g; }));
}

TEST(Sgd, MomentumAndDecay) {
  const optim::SgdOptions options{.momentum = 0.9, .weight_decay = 0.01};
  expect_close(descend<optim::Sgd>(options, 20, kSchedule),
               on_host(20, kSchedule, [](double& w, double g, auto& s, double lr, int) {
                 s[0] = 0.9 * s[0] + (g + 0.01 * w);
                 w -= lr * s[0];
               }));
}

TEST(Sgd, Nesterov) {
  const optim::SgdOptions options{.momentum = 0.9, .nesterov = true};
  expect_close(descend<optim::Sgd>(options, 20, kSchedule),
               on_host(20, kSchedule, [](double& w, double g, auto& s, double lr, int) {
                 s[0] = 0.9 * s[0] + g;
                 w -= lr * (g + 0.9 * s[0]);
               }));
  expect_error<Error>(
      [] {
        optim::Sgd sgd(std::vector<Tensor>{}, {.nesterov = true});
        return 0;
      },
      {"momentum"});
}

void adam_on_host(double& w, double g, std::array<double, 2>& s, double lr, int t) {
  s[0] = 0.9 * s[0] + 0.1 * g;
  s[1] = 0.999 * s[1] + 0.001 * g * g;
  w -= lr * (s[0] / (1 - std::pow(0.9, t))) / (std::sqrt(s[1] / (1 - std::pow(0.999, t))) + 1e-8);
}

TEST(Adam, Plain) {
  expect_close(descend<optim::Adam>(optim::AdamOptions{}, 20, kSchedule),
               on_host(20, kSchedule, adam_on_host));
}

TEST(Adam, DecayPassesThroughTheMoments) {
  expect_close(descend<optim::Adam>(optim::AdamOptions{.weight_decay = 0.1}, 20, kSchedule),
               on_host(20, kSchedule, [](double& w, double g, auto& s, double lr, int t) {
                 adam_on_host(w, g + 0.1 * w, s, lr, t);
               }));
}

TEST(AdamW, DecayDoesNot) {
  expect_close(descend<optim::AdamW>(optim::AdamOptions{.weight_decay = 0.1}, 20, kSchedule),
               on_host(20, kSchedule, [](double& w, double g, auto& s, double lr, int t) {
                 w -= lr * 0.1 * w;
                 adam_on_host(w, g, s, lr, t);
               }));
}

TEST(Optimizer, ChecksItsGradients) {
  const Tensor w = Tensor::of({1.f, 2.f});
  optim::Adam optimizer(std::vector<Tensor>{w});
  expect_error<ShapeError>(
      [&] {
        optimizer.step(std::vector<Tensor>{});
        return 0;
      },
      {"0", "1"});
  expect_error<ShapeError>(
      [&] {
        optimizer.step(std::vector<Tensor>{zeros({3})});
        return 0;
      },
      {"f32[3]", "f32[2]"});
  expect_error<DTypeError>(
      [&] {
        optimizer.step(std::vector<Tensor>{zeros({2}, DType::F64)});
        return 0;
      },
      {"f64[2]", "f32[2]"});
  EXPECT_EQ(optimizer.steps(), 0);
  expect_values(w, std::vector<float>{1, 2});
  expect_error<DTypeError>(
      [] {
        optim::Sgd sgd(std::vector<Tensor>{arange(2)});
        return 0;
      },
      {"i64[2]"});
}

// Outside a tape a step is eager like every other op.
TEST(Optimizer, StepsWithoutATape) {
  const Tensor w = Tensor::of({1.f});
  optim::Sgd sgd(std::vector<Tensor>{w}, {.lr = 0.5});
  sgd.step(std::vector<Tensor>{Tensor::of({1.f})});
  expect_values(w, std::vector<float>{0.5f});
}

TEST(Schedules, Values) {
  const optim::CosineSchedule cosine{.peak = 1, .floor = 0.1, .total = 110, .warmup = 10};
  EXPECT_DOUBLE_EQ(cosine(0), 0.1);
  EXPECT_DOUBLE_EQ(cosine(9), 1);
  EXPECT_DOUBLE_EQ(cosine(10), 1);
  EXPECT_NEAR(cosine(60), 0.55, 1e-12);
  EXPECT_DOUBLE_EQ(cosine(110), 0.1);
  EXPECT_DOUBLE_EQ(cosine(1000), 0.1);
  const optim::StepSchedule steps{.base = 1, .factor = 0.5, .every = 10};
  EXPECT_EQ(steps(9), 1);
  EXPECT_EQ(steps(10), 0.5);
  EXPECT_EQ(steps(25), 0.25);
}

/// Steps of Adam on rows of a table; negative: the labels of that step are out of range.
D looked_up(std::initializer_list<int> steps) {
  const Tensor table = Tensor::of({1.0, -2.0, 0.5});
  optim::Adam optimizer(std::vector<Tensor>{table}, {.lr = 0.1});
  for (const int step : steps) {
    const Tensor labels = Tensor::of({step < 0 ? 7 : step, 0});
    const Tape tape;
    const Tensor loss = sum(square(take(table, labels)));
    optimizer.step(tape.gradient(loss, std::vector<Tensor>{table}));
    if (step < 0) {
      EXPECT_THROW(tape.realize(loss), IndexError);
    } else {
      tape.realize(loss);
    }
  }
  EXPECT_EQ(optimizer.steps(), std::ranges::count_if(steps, [](int step) { return step >= 0; }));
  return table.to_vector<double>();
}

TEST(Adam, AStepThatWasTakenBackDoesNotCount) {
  EXPECT_EQ(looked_up({-1, 1, 2, -1, -1, 0}), looked_up({1, 2, 0}));
}

}  // namespace
}  // namespace reprise
