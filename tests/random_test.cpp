// Random tensors beyond rand and randn: generators, distributions, orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;

float mean_of(const Tensor& x) {
  return mean(cast(x, DType::F32)).item<float>();
}

TEST(Random, GeneratorsAreStreamsOfTheirOwn) {
  Generator a(7), b(7), c(8);
  const F first = rand({5}, DType::F32, &a).to_vector<float>();
  (void)rand({100});
  EXPECT_EQ(rand({5}, DType::F32, &b).to_vector<float>(), first);
  EXPECT_NE(rand({5}, DType::F32, &c).to_vector<float>(), first);
  const F second = rand({5}, DType::F32, &a).to_vector<float>();
  EXPECT_NE(second, first);
  EXPECT_EQ(rand({5}, DType::F32, &b).to_vector<float>(), second);
  // The global stream gives the same numbers from the same place.
  set_seed(7);
  EXPECT_EQ(rand({5}).to_vector<float>(), first);
  Generator copy = a;
  const F third = rand({5}, DType::F32, &a).to_vector<float>();
  EXPECT_NE(rand({5}, DType::F32, &copy).to_vector<float>(), third);
}

TEST(Random, ReplaysGoOn) {
  Generator g(3), same(3);
  const Tensor x = zeros({4}).realize();
  const Tape tape;
  const Tensor y = x + rand({4}, DType::F32, &g);
  const Frozen step = tape.freeze({x}, {y});
  for (int i = 0; i < 3; ++i) {
    const Tensor expected = rand({4}, DType::F32, &same);
    if (i == 0) {
      expect_values(y, expected.to_vector<float>());
    } else {
      expect_values(step.replay({x})[0], expected.to_vector<float>());
    }
  }
}

TEST(Random, ReplaysReadTheEndsAnew) {
  Scalar low(-1.0), high(1.0);
  for (const DType dtype : {DType::F16, DType::F32, DType::F64}) {
    low.set(-1.0);
    high.set(1.0);
    Generator g(3), same(3);
    const Tensor x = zeros({4}).realize();
    const Tape tape;
    const Frozen step = tape.freeze({x}, {uniform({4}, low, high, dtype, &g)});
    (void)uniform({4}, 0.0, 1.0, dtype, &same);
    for (const auto& [from, to] : {std::pair(-1.0, 1.0), {0.1, 7.3}, {100.0, 100.0}}) {
      low.set(from);
      high.set(to);
      const Tensor expected = cast(uniform({4}, from, to, dtype, &same), DType::F64);
      expect_values(cast(step.replay({x})[0], DType::F64), expected.to_vector<double>());
    }
  }
  // How many values there are cannot follow.
  expect_error<Error>([&] { return arange(high); }, {"100", "Scalar"});
  expect_error<Error>([&] { return arange(0, 10, high); }, {"100", "Scalar"});
}

TEST(Random, Distributions) {
  set_seed(1);
  const int64_t n = 40000;
  EXPECT_NEAR(mean_of(exponential({n}, 4.0)), 0.25, 0.01);
  const F waits = exponential({n}).to_vector<float>();
  EXPECT_GE(*std::min_element(waits.begin(), waits.end()), 0);
  EXPECT_TRUE(std::isfinite(*std::max_element(waits.begin(), waits.end())));
  for (const auto& [low, high] : {std::pair(-2.0, 2.0), {-1.0, 3.0}, {5.0, 6.0}, {-8.0, -7.0}}) {
    const std::vector<double> x = truncated_normal({n}, low, high, DType::F64).to_vector<double>();
    EXPECT_GE(*std::min_element(x.begin(), x.end()), low);
    EXPECT_LE(*std::max_element(x.begin(), x.end()), high);
  }
  // Mills' ratio: beyond 5 the mean excess is near 1/5.
  EXPECT_NEAR(mean_of(truncated_normal({n}, 5, 10)), 5.1865, 0.01);
  EXPECT_NEAR(mean_of(truncated_normal({n}, 6, HUGE_VAL)), 6.15848, 0.003);
  EXPECT_NEAR(mean_of(truncated_normal({n}, -31, -30)), -30.03326, 0.0007);
  EXPECT_NEAR(mean_of(truncated_normal({n}, 1000, 1001, DType::F64) - 1000), 0.001, 2e-5);
  // Between ends so close the density is a plane's.
  EXPECT_NEAR(mean_of(truncated_normal({n}, 9, 9.001)), 9.0005, 1e-4);
  EXPECT_NEAR(mean_of(bernoulli(full({n}, 0.3))), 0.3, 0.01);
  expect_values(bernoulli(Tensor::of({0.f, 1.f})), F{0, 1});
  expect_error<Error>([] { return exponential({1}, 0.0); }, {"rate", "0"});
  expect_error<Error>([] { return truncated_normal({1}, 2, 1); }, {"2", "1"});
  expect_error<DTypeError>([] { return bernoulli(ones({1}, DType::I32)); }, {"i32[1]"});
}

TEST(Random, Permutations) {
  I order = permutation(1000).to_vector<int64_t>();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  I all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
  const Tensor rows = permutation(reshape(arange(12), {6, 2}));
  expect_values(sum(rows, 0), I{30, 36});
  expect_values(rows.at({Range{}, 1}) - rows.at({Range{}, 0}), I(6, 1));
  expect_values(permutation(0), I{});
}

TEST(Random, Multinomials) {
  set_seed(5);
  const Tensor weights = Tensor::of({0.f, 3.f, 0.f, 1.f});
  const I some = multinomial(weights, 4000, Replacement::Yes).to_vector<int64_t>();
  const auto ones = std::count(some.begin(), some.end(), 1);
  EXPECT_EQ(ones + std::count(some.begin(), some.end(), 3), 4000);
  EXPECT_NEAR(static_cast<double>(ones) / 4000, 0.75, 0.03);
  I both = multinomial(weights, 2).to_vector<int64_t>();
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, (I{1, 3}));
  // The first of two without replacement is as likely as its weight.
  const Tensor rows = multinomial(broadcast_to(weights, {4000, 4}), 2);
  EXPECT_NEAR(mean_of(rows.at({Range{}, 0}) == 1), 0.75, 0.03);
  EXPECT_EQ(multinomial(ones_like(zeros({2, 3, 5})), 4).shape(), (Shape{2, 3, 4}));
  expect_error<Error>([&] { return multinomial(weights, 5); }, {"5", "f32[4]"});
  for (const Replacement replacement : {Replacement::No, Replacement::Yes}) {
    for (const float bad : {-1.f, NAN, HUGE_VALF, 0.f}) {
      const Tensor drawn = multinomial(Tensor::of({0.f, bad}), 1, replacement);
      EXPECT_THROW(static_cast<void>(drawn.to_vector<int64_t>()), IndexError) << bad;
    }
    EXPECT_EQ(multinomial(Tensor::of({0.f, 1e-40f}), 1, replacement).item<int64_t>(), 1);
  }
  EXPECT_THROW(static_cast<void>(multinomial(Tensor::of({0.f, 1.f}), 2).to_vector<int64_t>()),
               IndexError);
}

TEST(Random, Spaces) {
  expect_values(linspace(0, 1, 5), F{0, 0.25, 0.5, 0.75, 1});
  expect_values(linspace(0, 1, 4, DType::F32, Endpoint::Excluded), F{0, 0.25, 0.5, 0.75});
  expect_values(linspace(3, 9, 1), F{3});
  expect_values(linspace(0, 1, 0), F{});
  expect_values(linspace(-1.5, 1.5, 4, DType::I64), I{-2, -1, 0, 1});
  expect_near(logspace(0, 3, 4), {4}, F{1, 10, 100, 1000}, 1e-6);
  expect_tensor(tri(2, 3, 1), {2, 3}, F{1, 1, 0, 1, 1, 1});
  expect_tensor(eye(2, 3, DType::I64, -1), {2, 3}, I{0, 0, 0, 1, 0, 0});
  expect_error<ShapeError>([] { return linspace(0, 1, -1); }, {"-1"});
}

}  // namespace
}  // namespace reprise
