// Tapes: what assigns, values, gradients, errors and threads mean, and that nothing grows.
#include <pthread.h>

#include <optional>
#include <thread>

#include "expect_tensor.h"
#include "frontend/stats.h"

namespace reprise {
namespace {

using F = std::vector<float>;

TEST(Assign, ReadersRecordedBeforeKeepTheOldValue) {
  for (const bool taped : {false, true}) {
    std::optional<Tape> tape;
    if (taped) tape.emplace();
    const Tensor x = Tensor::of({1.f, 2.f});
    const Tensor before = x + 10;
    x.assign_(x * 5);
    const Tensor after = x + 10;
    expect_values(after, F{15, 20});
    expect_values(before, F{11, 12});
    expect_values(x, F{5, 10});
  }
}

TEST(Assign, CopiesSeeItAndValuesDoNot) {
  const Tensor a = Tensor::of({1.f});
  const Tensor copy = a;
  const Tensor frozen = a.value();
  a.assign_(Tensor::of({2.f}));
  expect_values(copy, F{2});
  expect_values(frozen, F{1});
}

TEST(Assign, Swaps) {
  const Tensor a = full({4}, 1.f).realize();
  const Tensor b = full({4}, 2.f).realize();
  const Tensor c = a + 1;
  a.assign_(b + 1);
  b.assign_(c);
  expect_values(a, F(4, 3.f));
  expect_values(b, F(4, 2.f));
  const Tensor t = a.value();
  a.assign_(b);
  b.assign_(t);
  expect_values(a, F(4, 2.f));
  expect_values(b, F(4, 3.f));
  a.assign_(a);
  expect_values(a, F(4, 2.f));
}

TEST(Assign, TypesMustAgree) {
  const Tensor a = zeros({2});
  expect_error<ShapeError>(
      [&] {
        a.assign_(zeros({3}));
        return 0;
      },
      {"[2]", "[3]"});
  expect_error<DTypeError>(
      [&] {
        a.assign_(zeros({2}, DType::I32));
        return 0;
      },
      {"f32", "i32"});
  expect_values(a, F{0, 0});
}

TEST(Assign, InATapeComesWithTheNextRealize) {
  const Tensor w = Tensor::of({1.f, 2.f});
  {
    const Tape tape;
    const Tensor loss = sum(w);
    w.assign_(w - 0.5f);
    tape.realize(loss);
    EXPECT_TRUE(Runtime::get().is_realized(w.id()));
    expect_scalar(loss, 3.f);
  }
  expect_values(w, F{0.5f, 1.5f});
}

TEST(TapeScope, NothingLaunchesBeforeRealize) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  const Tape tape;
  const uint64_t before = stats().launches;
  const Tensor y = exp(sum(x * 2) + 1) - x;
  EXPECT_EQ(stats().launches, before);
  tape.realize(y);
  EXPECT_GT(stats().launches, before);
  const uint64_t after = stats().launches;
  tape.realize(y);
  tape.realize(y, x);
  EXPECT_EQ(stats().launches, after) << "what is there is not computed again";
}

TEST(TapeScope, WhatIsPendingOutlivesTheTape) {
  Tensor y;
  {
    const Tape tape;
    y = Tensor::of({1.f}) + 1;
  }
  expect_values(y, F{2});
}

TEST(TapeScope, LiveHandlesAreStoredOnTheWay) {
  const Tensor x = cast(arange(16), DType::F32).reshape({4, 4}).realize();
  const Tape tape;
  const Tensor logits = matmul(x, x);
  const Tensor loss = sum(square(logits));
  tape.realize(loss);
  const uint64_t launches = stats().launches;
  static_cast<void>(logits.to_vector<float>());
  EXPECT_EQ(stats().launches, launches)
      << "reading logits after loss must not run the matmul again";
}

TEST(TapeScope, Nests) {
  const Tensor x = Tensor::of({3.f});
  const Tape outer;
  const Tensor y = x * x;
  {
    const Tape inner;
    expect_values(inner.gradient(y * 2 + x, x), F{13});
  }
  EXPECT_TRUE(Runtime::get().in_tape());
  expect_values(outer.gradient(y, x), F{6});
}

TEST(TapeScope, AnExceptionLeavesEverythingUsable) {
  const Tensor x = Tensor::of({1.f, 2.f});
  EXPECT_THROW(
      {
        const Tape tape;
        const Tensor y = x * 2;
        x.assign_(y);
        static_cast<void>(y + zeros({3}));
      },
      ShapeError);
  EXPECT_FALSE(Runtime::get().in_tape());
  expect_values(x, F{2, 4});
  const Tape tape;
  expect_values(tape.gradient(sum(square(x)), x), F{4, 8});
}

TEST(Gradient, OfSmallFunctions) {
  const Tape tape;
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tensor y = Tensor::of({3.f, 5.f});
  const auto both = tape.gradient(sum(x * y + x), {x, y});
  expect_values(both[0], F{4, 6});
  expect_values(both[1], F{1, 2});
  expect_values(tape.gradient(x * y, x), F{3, 5});  // the seed is ones
  expect_values(tape.gradient(x * y, x, Tensor::of({10.f, 100.f})), F{30, 500});
  expect_values(tape.gradient(sum(x), y), F{0, 0});
  expect_values(tape.gradient(sum(stop_gradient(x) * x), x), F{1, 2});
}

TEST(Gradient, OfBroadcastsAndProducts) {
  const Tape tape;
  const Tensor w = Tensor::of({1.f, 2.f, 3.f, 4.f}).reshape({2, 2});
  const Tensor b = Tensor::of({1.f, 1.f});
  const Tensor x = Tensor::of({1.f, -1.f}).reshape({1, 2});
  const auto gradients = tape.gradient(sum(matmul(x, w) + b), {w, b, x});
  expect_tensor(gradients[0], {2, 2}, F{1, 1, -1, -1});
  expect_values(gradients[1], F{1, 1});
  expect_tensor(gradients[2], {1, 2}, F{3, 7});
}

TEST(Gradient, OfGradients) {
  const Tape tape;
  const Tensor x = Tensor::of({3.f});
  const Tensor first = tape.gradient(x * x * x, x);
  const Tensor second = tape.gradient(first, x);
  expect_values(first, F{27});
  expect_values(second, F{18});
  expect_values(tape.gradient(second, x), F{6});
}

/// A zero among the factors is a factor like any other, in derivatives of any order.
TEST(Gradient, OfProductsWithZeros) {
  using D = std::vector<double>;
  const Tape tape;
  for (const D& values : {D{0, 2, 3}, D{1, 2, 3}, D{0, 0, 5}, D{2, 0, 3, 4, 0.5}, D{7}}) {
    const Tensor x = Tensor::of(values);
    const auto others = [&](size_t i, size_t j) {
      double product = 1;
      for (size_t k = 0; k < values.size(); ++k) product *= k == i || k == j ? 1 : values[k];
      return product;
    };
    D first(values.size(), 0), second(values.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      first[i] = others(i, i);
      for (size_t j = 0; j < values.size(); ++j) second[i] += i == j ? 0 : others(i, j);
    }
    const Tensor gradient = tape.gradient(prod(x), x);
    expect_values(gradient, first);
    expect_values(tape.gradient(gradient, x), second);
  }
  // Several axes, the others kept.
  const Tensor x = Tensor::of(D{1, 0, 3, 2, 5, 4, 1, 1, 2, 3, 0, 0}, {2, 3, 2});
  const Tensor y = prod(x, {0, 2});
  expect_values(y, D{0, 36, 0});
  expect_tensor(tape.gradient(sum(y), x), {2, 3, 2}, D{0, 1, 12, 18, 0, 0, 0, 0, 18, 12, 0, 0});
}

TEST(Gradient, TiesAndBranches) {
  const Tape tape;
  const Tensor x = Tensor::of({0.6f, 0.6f, 0.3f});
  expect_values(tape.gradient(max(x), x), F{0.5f, 0.5f, 0});
  const Tensor z = Tensor::of({-1.f, -4.f});
  expect_values(tape.gradient(sum(where(z > 0, sqrt(z), z)), z), F{1, 1});
  const Tensor r = Tensor::of({0.f});
  expect_values(tape.gradient(relu(r), r), F{0});
  expect_values(tape.gradient(sqrt(r * r), r), F{0});
}

TEST(Gradient, RefusesWhatHasNone) {
  const Tape tape;
  const Tensor i = Tensor::of({1, 2});
  expect_error<DTypeError>([&] { return tape.gradient(sum(i * 1.5f), i); }, {"i32"});
  const Tensor x = Tensor::of({1.f});
  const Tensor y = x * 2;
  x.assign_(Tensor::of({5.f}));
  expect_error<Error>([&] { return tape.gradient(y, x); }, {"assign"});
  expect_values(tape.gradient(x * 3, x), F{3});
}

TEST(Gradient, Functions) {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  expect_values(grad(cube, Tensor::of({2.f})), F{12});
  const Tensor x = Tensor::of({2.f});
  expect_values(grad([&] { return x * x; }, std::vector<Tensor>{x})[0], F{4});
}

TEST(Caching, TopologyIsPartOfTheKey) {
  const auto twice = [](const Tensor& a) { return a + a; };
  const auto both = [](const Tensor& a, const Tensor& b) { return a + b; };
  const Tensor a = Tensor::of({1.f, 2.f});
  const Tensor b = Tensor::of({10.f, 20.f});
  expect_values(twice(a), F{2, 4});
  expect_values(both(a, b), F{11, 22});
  expect_values(both(a, a), F{2, 4});
  expect_values(twice(a), F{2, 4});
}

// A rate that changes every step, and reaches 0 and 1 on the way, compiles nothing.
TEST(Caching, AChangingRateCompilesNothing) {
  const Tensor w = Tensor::of({1.f, 2.f, 3.f});
  F host = {1, 2, 3};
  Stats settled;
  for (int i = 0; i < 1000; ++i) {
    const float rate = i == 500 ? 1.f : i == 600 ? 0.f : 1e-4f * static_cast<float>(i % 97);
    {
      const Tape tape;
      const Tensor loss = sum(square(w));
      w.assign_(w - rate * tape.gradient(loss, w));
      tape.realize(loss);
    }
    for (float& x : host) x = x - rate * (2 * x);
    if (i == 2) settled = stats();
  }
  EXPECT_EQ(stats().kernels_compiled, settled.kernels_compiled);
  EXPECT_EQ(stats().plans_compiled, settled.plans_compiled);
  expect_near(w, {3}, host, 1e-5);
}

TEST(Caching, ThousandsOfStepsHoldMemoryConstant) {
  const Tensor w = (rand({32, 32}) - 0.5f).realize();
  const Tensor x = rand({8, 32}).realize();
  Stats settled;
  Tensor loss;
  for (int i = 0; i < 10000; ++i) {
    {
      const Tape tape;
      loss = mean(square(relu(matmul(x, w)) - 1));
      w.assign_(w - 0.01f * tape.gradient(loss, w));
      tape.realize(loss);
    }
    if (i == 10) settled = stats();
  }
  const Stats now = stats();
  EXPECT_EQ(now.live_tensors, settled.live_tensors);
  EXPECT_EQ(now.live_nodes, settled.live_nodes);
  EXPECT_EQ(now.live_bytes, settled.live_bytes);
  EXPECT_EQ(now.cached_bytes, settled.cached_bytes);
  EXPECT_EQ(now.kernels_compiled, settled.kernels_compiled);
}

// Eager code that keeps a running total must not keep every batch alive with it.
TEST(Eager, ARunningTotalHoldsNoHistory) {
  Tensor total = Tensor::scalar(0.f);
  uint64_t most = 0;
  const uint64_t before = stats().live_bytes;
  constexpr int64_t kBatch = int64_t{4} << 20;
  for (int i = 0; i < 250; ++i) {
    const Tensor batch = stored_zeros({DType::F32, {kBatch / 4}});
    total += sum(batch + 1);
    most = std::max(most, stats().live_bytes);
  }
  EXPECT_LT(most - before, uint64_t{768} << 20) << "250 batches are 1 GB";
  expect_scalar(total, 250.f * (kBatch / 4));
}

TEST(Eager, SharedSubexpressionsDoNotExplode) {
  Tensor a = Tensor::scalar(1.f);
  Tensor b = Tensor::scalar(0.f);
  for (int i = 0; i < 60; ++i) {
    const Tensor sum = a + b;
    b = a - b;
    a = sum;
  }
  expect_scalar(a, 1073741824.f);
  expect_scalar(b, 0.f);
}

// More inputs than one kernel can name.
TEST(Eager, ManyInputsInOneExpression) {
  for (const int count : {40, 433}) {
    Tensor total = Tensor::of({0.f});
    for (int i = 0; i < count; ++i) total += Tensor::of({static_cast<float>(i)});
    expect_values(total, F{static_cast<float>(count * (count - 1) / 2)});
  }
}

/// Runs `body` on a thread whose stack could not hold a recursion over the graph.
void on_small_stack(void (*body)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    reinterpret_cast<void (*)()>(argument)();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, reinterpret_cast<void*>(body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// Far deeper than recursion on that stack could go; sanitizers make every step many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kDeep = 20000;
#else
constexpr int kDeep = 100000;
#endif

TEST(DeepChain, IsDropped) {
  on_small_stack([] {
    const Tape tape;
    Tensor x = Tensor::of({1.f, 2.f});
    for (int i = 0; i < kDeep; ++i) x = x + 1;
  });
}

TEST(DeepChain, IsEvaluated) {
  on_small_stack([] {
    Tensor x = Tensor::of({1.f, 2.f});
    for (int i = 0; i < kDeep; ++i) x = x + 1;
    expect_values(x, F{kDeep + 1, kDeep + 2});
  });
}

TEST(DeepChain, IsEvaluatedInATape) {
  on_small_stack([] {
    const Tape tape;
    Tensor x = Tensor::of({1.f, 2.f});
    for (int i = 0; i < kDeep; ++i) x = x + 1;
    expect_values(x, F{kDeep + 1, kDeep + 2});
  });
}

TEST(DeepChain, OfJoinsIsDropped) {
  on_small_stack([] {
    const Tape tape;
    Tensor x = Tensor::of({1.f, 2.f});
    for (int i = 0; i < kDeep / 10; ++i) x = concat(split(x, 2));
  });
}

TEST(DeepChain, HasAGradient) {
  on_small_stack([] {
    const Tape tape;
    const Tensor x = Tensor::of({1.f});
    Tensor y = x;
    for (int i = 0; i < kDeep; ++i) y = y * 1;
    expect_values(tape.gradient(y, x), F{1});
  });
}

TEST(ForwardMode, IsTheTransposeOfGradients) {
  const Tape tape;
  const Tensor x = Tensor::of({1.0, 2.0, -1.0}), w = Tensor::of({0.5, -2.0, 3.0});
  const Tensor tangent = Tensor::of({1.0, 0.5, 2.0});
  // d(x^3 w) = 3 x^2 w dx + x^3 dw
  const Tensor y = x * x * x * w;
  expect_values(tape.jvp(y, x, tangent), std::vector<double>{1.5, -12, 18});
  expect_values(tape.jvp(y, std::vector{x, w}, std::vector{tangent, ones_like(w)}),
                std::vector<double>{2.5, -4, 17});
  expect_values(tape.jvp(relu(x), x, tangent), std::vector<double>{1, 0.5, 0});
  expect_values(tape.jvp(w, x, tangent), std::vector<double>{0, 0, 0});
  expect_scalar(tape.jvp(logsumexp(zeros({4}, DType::F64) + x[0]), x, tangent), 1.0);
  expect_error<Error>(
      [&] {
        return tape.jvp(y, std::vector{x, w}, std::vector{tangent});
      },
      {"2", "1"});
  expect_error<ShapeError>([&] { return tape.jvp(y, x, x[0]); }, {"f64[3]", "f64[]"});
}

TEST(Threads, ReadOneTensorTogether) {
  const Tensor x = rand({1000}).realize();
  const Tensor y = exp(x) * 2;
  std::vector<F> seen(8);
  std::vector<std::thread> threads;
  for (F& values : seen) threads.emplace_back([&] { values = y.to_vector<float>(); });
  for (std::thread& thread : threads) thread.join();
  for (const F& values : seen) EXPECT_EQ(values, seen[0]);
}

TEST(Threads, TrainSideBySide) {
  std::vector<F> results(4);
  std::vector<std::thread> threads;
  for (F& result : results) {
    threads.emplace_back([&] {
      const Tensor w = Tensor::of({1.f, -2.f, 3.f});
      for (int i = 0; i < 100; ++i) {
        const Tape tape;
        const Tensor loss = sum(square(w - 1));
        w.assign_(w - 0.1f * tape.gradient(loss, w));
        tape.realize(loss);
      }
      result = w.to_vector<float>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const F& result : results) {
    EXPECT_EQ(result, results[0]);
    for (const float x : result) EXPECT_NEAR(x, 1, 1e-4);
  }
}

}  // namespace
}  // namespace reprise
