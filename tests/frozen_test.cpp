// Frozen steps: what a replay reads and computes.
#include <array>
#include <thread>

#include "expect_tensor.h"
#include "frontend/stats.h"

namespace reprise {
namespace {

using F = std::vector<float>;

TEST(Frozen, ComputesFromItsInputs) {
  const Tensor a = Tensor::of({1.f, 2.f});
  const Tensor b = Tensor::of({10.f, 20.f});
  Frozen step;
  {
    const Tape tape;
    const Tensor y = a * b + a;
    step = tape.freeze({a, b}, {y, sum(y)});
    expect_values(y, F{11, 42});  // the recording is a step of its own
  }
  const auto results = step.replay(Tensor::of({3.f, 4.f}), b);
  ASSERT_EQ(results.size(), 2u);
  expect_values(results[0], F{33, 84});
  expect_scalar(results[1], 117.f);
  expect_values(step.replay(b, a)[0], F{20, 60});
  EXPECT_EQ(step.num_inputs(), 2u);
}

TEST(Frozen, CompilesAndRecordsNothingAtReplay) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  const Tape tape;
  const Frozen step = tape.freeze({x}, {exp(x) * 2});
  const Stats before = stats();
  for (int i = 0; i < 10; ++i) (void)step.replay(x);
  const Stats after = stats();
  EXPECT_EQ(after.plans_compiled, before.plans_compiled);
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.recorded, before.recorded);
  EXPECT_EQ(after.replays, before.replays + 10);
  EXPECT_EQ(after.live_nodes, before.live_nodes);
}

TEST(Frozen, ResultsOfReplaysAreIndependent) {
  const Tensor x = full({4}, 0.f).realize();
  const Tape tape;
  const Frozen step = tape.freeze({x}, {sum(x), x * 1});
  std::vector<std::vector<Tensor>> kept;
  for (int i = 1; i <= 3; ++i) kept.push_back(step.replay(full({4}, static_cast<float>(i))));
  for (int i = 1; i <= 3; ++i) {
    expect_scalar(kept[i - 1][0], 4.f * static_cast<float>(i));
    expect_values(kept[i - 1][1], F(4, static_cast<float>(i)));
  }
}

TEST(Frozen, ReadsCapturedTensorsThroughTheirIds) {
  const Tensor w = Tensor::of({2.f, 3.f});
  const Tensor x = Tensor::of({1.f, 1.f});
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {x * w});
  }
  expect_values(step.replay(x)[0], F{2, 3});
  w.assign_(w * 10);  // still pending when the next replay reads it
  expect_values(step.replay(x)[0], F{20, 30});
  {
    // Through a temporary handle on the same value it is still w that is read.
    const Tape tape;
    step = tape.freeze({x}, {x * cast(w, DType::F32)});
  }
  w.assign_(Tensor::of({5.f, 6.f}));
  expect_values(step.replay(x)[0], F{5, 6});
}

TEST(Frozen, KeepsWhatNobodyElseHolds) {
  const Tensor x = Tensor::of({1.f, 1.f});
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {x + Tensor::of({7.f, 8.f})});
  }
  for (int i = 0; i < 50; ++i) (void)(Tensor::of({0.f, 0.f}) + x).to_vector<float>();
  expect_values(step.replay(x)[0], F{8, 9});
}

TEST(Frozen, ValuesPendingOutsideTheTapeAreComputedOnce) {
  const Tensor x = Tensor::of({0.f, 0.f, 0.f, 0.f});
  const Tensor noise = rand({4});  // pending: a value, not part of the step
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {x + noise});
  }
  const F first = step.replay(x)[0].to_vector<float>();
  EXPECT_EQ(step.replay(x)[0].to_vector<float>(), first);
  EXPECT_EQ(noise.to_vector<float>(), first);
}

TEST(Frozen, RepeatsAssigns) {
  const Tensor count = Tensor::of({0.f});
  const Tensor total = Tensor::of({0.f});
  const Tensor x = Tensor::of({1.f});
  Frozen step;
  {
    const Tape tape;
    count.assign_(count + 1);
    total.assign_(total + x * count);
    step = tape.freeze({x}, {});
    tape.realize();
  }
  expect_values(total, F{1});
  (void)step.replay(Tensor::of({10.f}));  // count becomes 2
  (void)step.replay(Tensor::of({100.f}));
  expect_values(count, F{3});
  expect_values(total, F{1 + 20 + 300});
}

TEST(Frozen, SwapsAndCopies) {
  const Tensor a = Tensor::of({1.f}), b = Tensor::of({2.f}), last = Tensor::of({0.f});
  const Tensor x = Tensor::of({9.f});
  const Tape tape;
  const Tensor t = a.value();
  a.assign_(b);
  b.assign_(t);
  last.assign_(x);  // an input as it came
  const Frozen step = tape.freeze({x}, {a, x});
  tape.realize();
  expect_values(a, F{2});
  const Tensor y = Tensor::of({5.f});
  const auto results = step.replay(y);
  expect_values(a, F{1});
  expect_values(b, F{2});
  expect_values(last, F{5});
  expect_values(results[0], F{1});
  expect_values(results[1], F{5});
}

TEST(Frozen, AssignsInPlaceWhenNobodyHoldsTheOldValue) {
  const Tensor w = stored_zeros({DType::F32, {1 << 16}});
  const Tensor x = stored_zeros({DType::F32, {1 << 16}});
  Frozen step;
  {
    const Tape tape;
    w.assign_(w + x + 1);
    step = tape.freeze({x}, {});
    tape.realize();
  }
  const void* const block = Runtime::get().storage(w.id()).first->data();
  (void)step.replay(x);
  EXPECT_EQ(Runtime::get().storage(w.id()).first->data(), block);
  const Tensor kept = w.value();
  (void)step.replay(x);
  EXPECT_NE(Runtime::get().storage(w.id()).first->data(), block);
  EXPECT_EQ(kept.to_vector<float>()[77], 2.f);
  EXPECT_EQ(w.to_vector<float>()[77], 3.f);
}

TEST(Frozen, ScalarsAreReadAtEachReplay) {
  const Tensor x = Tensor::of({INFINITY, 1.f, -1.f});
  Scalar s(2);
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {x * s});
  }
  const Stats before = stats();
  const float nan = NAN, inf = INFINITY;
  Scalar f(2.0);
  Frozen by_float;
  {
    const Tape tape;
    by_float = tape.freeze({x}, {x * f});
  }
  const std::vector<std::pair<double, F>> cases = {
      {2, {inf, 2, -2}},      {1, {inf, 1, -1}},
      {0, {nan, 0.f, -0.f}},  {-0., {nan, -0.f, 0.f}},
      {NAN, {nan, nan, nan}}, {INFINITY, {inf, inf, -inf}},
      {-1, {-inf, -1, 1}},    {1e-45, {inf, 1e-45f, -1e-45f}},
  };
  for (const auto& [value, expected] : cases) {
    f.set(value);
    expect_values(by_float.replay(x)[0], expected);
  }
  s.set(3);
  expect_values(step.replay(x)[0], F{inf, 3, -3});
  EXPECT_EQ(stats().kernels_compiled, before.kernels_compiled);
  expect_error<DTypeError>([&] { return s.set(2.5), 0; }, {"3", "2.5"});
}

// Neither an output nor an assign keeps a Scalar's value of the recording.
TEST(Frozen, ScalarsThemselvesAreReadAtEachReplay) {
  const Tensor rate = Tensor::scalar(0.5, DType::F32);
  const Tensor x = Tensor::of({1.f});
  Scalar s(0.1);
  Frozen step;
  {
    const Tape tape;
    rate.assign_(Tensor::scalar(s, DType::F32));
    step = tape.freeze({x}, {x * rate, Tensor::scalar(s, DType::F64), Tensor::scalar(7)});
  }
  EXPECT_EQ(rate.item<float>(), 0.1f);
  for (const double value : {2., 3., 1.}) {
    s.set(value);
    const std::vector<Tensor> results = step.replay(x);
    expect_values(results[0], F{float(value)});
    EXPECT_EQ(results[1].item<double>(), value);
    EXPECT_EQ(results[2].item<int64_t>(), 7);
    EXPECT_EQ(rate.item<float>(), float(value));
  }
  // A replay that fails leaves the tensor as it was.
  const Tensor table = ones({3});
  Frozen failing;
  const Tensor index = Tensor::of({0});
  {
    const Tape tape;
    const Tensor picked = gather(table, index);
    rate.assign_(Tensor::scalar(s, DType::F32));
    failing = tape.freeze({index}, {picked});
  }
  s.set(9.);
  expect_error<IndexError>([&] { return failing.replay(Tensor::of({5})); }, {"5", "3"});
  EXPECT_EQ(rate.item<float>(), 1.f);
  (void)failing.replay(index);
  EXPECT_EQ(rate.item<float>(), 9.f);
}

TEST(Frozen, RandomOpsDrawFreshNumbers) {
  set_seed(7);
  std::vector<F> eager;
  for (int i = 0; i < 4; ++i) eager.push_back((rand({8}) + randn({8})).to_vector<float>());
  set_seed(7);
  Frozen step;
  {
    const Tape tape;
    const Tensor y = rand({8}) + randn({8});
    step = tape.freeze({}, {y});
    EXPECT_EQ(y.to_vector<float>(), eager[0]);
  }
  for (int i = 1; i < 4; ++i) EXPECT_EQ(step.replay()[0].to_vector<float>(), eager[i]) << i;
  set_seed(7);
  EXPECT_EQ(step.replay()[0].to_vector<float>(), eager[0]);
}

// An op that does nothing gives a tensor of its own on the same value: that is none that was read.
TEST(Frozen, ResultsThatAreAnInputAsItCame) {
  const Tensor x = Tensor::of({1.f}), w = Tensor::of({2.f}), nothing = zeros({0});
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {concat({x, nothing}), concat({nothing, w}), x.value(), w + 0.f});
  }
  const Tensor other = Tensor::of({3.f});
  w.assign_(Tensor::of({4.f}));
  const std::vector<Tensor> results = step.replay(other);
  expect_values(results[0], F{3});
  expect_values(results[1], F{4});
  expect_values(results[2], F{3});
  expect_values(results[3], F{4});
}

TEST(Frozen, TakesAnyLayout) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {x * 10 + arange(0.f, 3.f)});
  }
  const F expected = {10, 21, 32, 40, 51, 62};
  expect_tensor(step.replay(x)[0], {2, 3}, expected);
  const Tensor turned = Tensor::of({1.f, 4.f, 2.f, 5.f, 3.f, 6.f}, {3, 2}).transpose().realize();
  expect_tensor(step.replay(turned)[0], {2, 3}, expected);
  const Tensor reversed =
      Tensor::of({3.f, 2.f, 1.f, 6.f, 5.f, 4.f}, {2, 3}).at({Range{}, Range{.step = -1}}).realize();
  expect_tensor(step.replay(reversed)[0], {2, 3}, expected);
  expect_tensor(step.replay(x)[0], {2, 3}, expected);
  const Tensor pending = x + 0;
  expect_tensor(step.replay(pending)[0], {2, 3}, expected);
}

TEST(Frozen, TakesNumbersForInputs) {
  const Tensor x = Tensor::of({1.f}, {});
  const Tensor number = Tensor::scalar(4.f);
  const Tape tape;
  const Frozen stored = tape.freeze({x}, {x + 1});
  expect_scalar(stored.replay(number)[0], 5.f);
  const Frozen parameter = tape.freeze({number}, {number * 2});
  expect_scalar(parameter.replay(x)[0], 2.f);
  expect_scalar(parameter.replay(Tensor::scalar(3.f))[0], 6.f);
}

TEST(Frozen, AnIntermediateValueCanBeTheInput) {
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tape tape;
  const Tensor h = x * 100;
  const Frozen step = tape.freeze({h}, {h + 1});
  expect_values(step.replay(x)[0], F{2, 3});
  expect_values(h, F{100, 200});
}

TEST(Frozen, SeesOnlyTheInnermostTape) {
  const Tensor x = Tensor::of({1.f});
  const Tape outer;
  const Tensor y = x + 1;
  const Tape inner;
  const Frozen step = inner.freeze({}, {y * 10});
  expect_values(step.replay()[0], F{20});
  x.assign_(Tensor::of({100.f}));
  expect_values(step.replay()[0], F{20});
}

TEST(Frozen, WorksAfterTheTapeHasComputed) {
  const Tensor w = Tensor::of({3.f});
  const Tensor x = Tensor::of({1.f});
  const Tape tape;
  const Tensor loss = square(w * x);
  const Tensor g = tape.gradient(loss, w);
  w.assign_(w - 0.5f * g);
  tape.realize(loss);
  expect_values(w, F{0});
  const Frozen step = tape.freeze({x}, {loss, g});
  w.assign_(Tensor::of({4.f}));
  const auto results = step.replay(x);
  expect_values(results[0], F{16});
  expect_values(results[1], F{8});
  expect_values(w, F{0});
}

/// The same training, recorded at every step and replayed.
template <class Optimizer, class Options>
void train_both_ways(const Options& options) {
  std::array<F, 2> weights, losses;
  for (const bool replayed : {false, true}) {
    const Tensor w = Tensor::of({1.f, -2.f, 0.5f});
    Optimizer optimizer(std::vector<Tensor>{w}, options);
    Frozen step;
    for (int i = 0; i < 12; ++i) {
      optimizer.set_lr(0.1 / (1 + i));
      const Tensor x = full({3}, static_cast<float>(i) / 8).realize();
      Tensor loss;
      if (step.empty()) {
        const Tape tape;
        loss = sum(square(w - x));
        optimizer.step(tape.gradient(loss, std::vector<Tensor>{w}));
        if (replayed) step = tape.freeze({x}, {loss});
        tape.realize(loss);
      } else {
        loss = step.replay(x)[0];
      }
      losses[replayed].push_back(loss.item<float>());
    }
    EXPECT_EQ(optimizer.steps(), 12);
    weights[replayed] = w.to_vector<float>();
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(Frozen, TrainsAsTheTapeDoes) {
  train_both_ways<optim::Sgd>(optim::SgdOptions{.momentum = 0.9, .nesterov = true});
  train_both_ways<optim::Adam>(optim::AdamOptions{.weight_decay = 0.01});
  train_both_ways<optim::AdamW>(optim::AdamOptions{.weight_decay = 0.01});
}

TEST(Frozen, ReplaysOnSeveralThreads) {
  const Tensor count = stored_zeros({DType::I64, {1}});
  const Tensor x = stored_zeros({DType::F32, {1000}});
  Frozen pure, counting;
  {
    const Tape tape;
    pure = tape.freeze({x}, {sum(x * 3)});
  }
  {
    const Tape tape;
    count.assign_(count + 1);
    counting = tape.freeze({}, {count});
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Tensor mine = full({1000}, static_cast<float>(t)).realize();
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(pure.replay(mine)[0].item<float>(), 3000.f * static_cast<float>(t));
        (void)counting.replay();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The recording itself is a step too.
  expect_values(count, std::vector<int64_t>{401});
}

}  // namespace
}  // namespace reprise
