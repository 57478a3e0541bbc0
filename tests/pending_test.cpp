// What stays pending: running totals, tapes that compute nothing, values that threads share.
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;

Stats stats() {
  return Runtime::get().stats();
}

/// Runs 300 steps; what they find compiled, hold and leave pending must not depend on how many came
/// before.
template <class Step>
void expect_steady(const Step& step) {
  for (int i = 0; i < 10; ++i) step();
  const Stats before = stats();
  for (int i = 0; i < 300; ++i) step();
  const Stats after = stats();
  EXPECT_EQ(after.plan_misses, before.plan_misses);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.live_nodes, before.live_nodes);
  EXPECT_LE(after.pending_ops, before.pending_ops + 2);
}

TEST(Pending, ARunningTotalStaysShort) {
  const Tensor x = rand({64}).realize();
  Tensor total = zeros({});
  int steps = 0;
  const auto loss = [&] { return sum(x * x) + static_cast<float>(++steps % 3); };
  expect_steady([&] {
    const Tensor l = loss();
    l.realize();
    total = total + l;
  });
  expect_steady([&] {
    const Tape tape;
    const Tensor l = loss();
    total = total + l;
    tape.realize(l);
  });
  expect_steady([&] {
    const Tensor l = loss();
    total = total * 0.9f + l * 0.1f;
    EXPECT_GE(l.item<float>(), 0);
  });
  EXPECT_GT(total.item<float>(), 0);
}

TEST(Pending, ATotalThatCannotBeComputedHarmsNobody) {
  const Tensor x = ones({3}).realize();
  const Tensor bad = gather(x, Tensor::of({7}));
  for (int i = 0; i < 5; ++i) {
    const Tensor y = x * static_cast<float>(i);
    y.realize();
    expect_values(y, F(3, static_cast<float>(i)));
  }
  expect_error<IndexError>([&] { return bad.to_vector<float>(); }, {"7"});
}

TEST(Pending, ParametersAreStillGivenAway) {
  // The total reads no parameter: the step's are updated in place all the same.
  Tensor p = rand({1 << 16}).realize();
  Tensor total = zeros({});
  const auto step = [&] {
    const Tape tape;
    const Tensor l = sum(p * p);
    p.assign_(p - tape.gradient(l, p) * 0.01f);
    total = total + l;
    tape.realize(l);
  };
  for (int i = 0; i < 5; ++i) step();
  const void* const place = Runtime::get().storage(p.id()).first->data();
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(Runtime::get().storage(p.id()).first->data(), place);
}

TEST(Pending, WhatStillReadsAParameterKeepsIt) {
  Tensor p = full({1000}, 2.f).realize();
  const Tensor other = ones({1000}).realize();
  for (int i = 0; i < 3; ++i) {
    const Tensor before = sum(p * other);  // stays pending while p is assigned and computed
    const Tensor expected = sum(p * other).realize();
    p.assign_(p + 1.f);
    p.realize();
    EXPECT_EQ(before.item<float>(), expected.item<float>());
  }
}

TEST(Pending, TapesThatComputeNothingAreFlushed) {
  Tensor p = ones({16}).realize();
  size_t most = 0;
  for (int i = 0; i < 4000; ++i) {
    const Tape tape;
    const Tensor l = sum(sin(p));
    p.assign_(p - tape.gradient(l, p) * 0.1f);
    most = std::max<size_t>(most, stats().pending_ops);
  }
  EXPECT_LT(most, 6000u);
  EXPECT_TRUE(std::isfinite(p[0].item<float>()));
}

TEST(Pending, AssignsOfOthersAreSeenByGradients) {
  const char* const text = "assigned after the target read it";
  const auto in_a_thread = [](const auto& body) { std::thread(body).join(); };
  {
    const Tensor p = full({4}, 2.f).realize();
    const Tape tape;
    const Tensor y = sum(p * p);
    in_a_thread([&] { p.assign_(full({4}, 5.f)); });
    expect_error<Error>([&] { return tape.gradient(y, p); }, {text});
  }
  {
    const Tensor p = full({4}, 2.f).realize();
    const Tensor y = sum(p * p);
    p.assign_(full({4}, 5.f));
    const Tape tape;
    expect_error<Error>([&] { return tape.gradient(y, p); }, {text});
  }
  {  // What reads the old values of two through their new ones is fine.
    const Tensor p = full({4}, 2.f).realize(), q = full({4}, 3.f).realize();
    const Tape tape;
    for (int i = 0; i < 2; ++i) {
      const std::vector<Tensor> g = tape.gradient(sum(p * q), {p, q});
      p.assign_(p - g[0] * 0.5f);
      q.assign_(q - g[1] * 0.5f);
    }
    expect_values(p.value(), F(4, -0.5f));
  }
}

TEST(Pending, ThreadsShareWhatOneOfThemRecorded) {
  Tensor p = full({4}, 2.f).realize(), q, y, z;
  std::latch recorded(1), computed(1);
  std::thread other([&] {
    q = p + 1.f;
    y = q * 2.f;
    recorded.count_down();
    computed.wait();
    y.realize();
  });
  recorded.wait();
  q.realize();
  z = sum(q * 10.f);
  computed.count_down();
  other.join();
  expect_scalar(z, 120.f);
  expect_values(y, F(4, 6));
}

}  // namespace
}  // namespace reprise
