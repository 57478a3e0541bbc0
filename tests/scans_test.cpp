// Scans: dtypes, blocks, extremes and where they stand, gradients, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;
using D = std::vector<double>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Scans, SumsWiden) {
  expect_tensor(cumsum(Tensor::of({true, true, false, true}), 0), {4}, I{1, 2, 2, 3});
  EXPECT_EQ(cumsum(full({300}, 1, DType::U8), 0)[-1].item<uint64_t>(), 300u);
  expect_tensor(cumprod(full({5}, 100, DType::I8), 0), {5},
                I{100, 10000, 1000000, 100000000, 10000000000});
  // A bf16 sum stops growing at 256 when each step is rounded to bf16.
  const Tensor halves = cumsum(ones({400}, DType::BF16), 0);
  EXPECT_EQ(halves.dtype(), DType::BF16);
  EXPECT_EQ(cast(halves, DType::F32)[-1].item<float>(), 400);
  expect_tensor(cumsum(Tensor::of({1, 2, 3}), 0, DType::F32), {3}, F{1, 3, 6});
}

TEST(Scans, DifferencesTakeSumsBack) {
  const Tensor x = Tensor::of({1.f, 4.f, 9.f, 16.f, 25.f, 36.f}, {2, 3});
  expect_tensor(diff(x), {2, 2}, F{3, 5, 9, 11});
  expect_tensor(diff(x, 0), {1, 3}, F{15, 21, 27});
  expect_tensor(diff(x, 1, 2), {2, 1}, F{2, 2});
  expect_tensor(diff(x, 1, 9), {2, 0}, F{});
  expect_tensor(diff(x, 1, 0), {2, 3}, x.to_vector<float>());
  expect_tensor(diff(Tensor::of({true, true, false})), {2}, std::vector<bool>{false, true});
  expect_tensor(cast(diff(Tensor::of<uint8_t>({5, 3, 4})), DType::I64), {2}, I{254, 1});
  expect_error<Error>([&] { return diff(x, 0, -1); }, {"-1", "f32[2,3]"});
  expect_error<IndexError>([&] { return diff(x, 2); }, {"2"});
}

TEST(Scans, AlongAnyAxis) {
  const Tensor x = reshape(arange(6), {2, 3});
  expect_tensor(cumsum(x, 0), {2, 3}, I{0, 1, 2, 3, 5, 7});
  expect_tensor(cumsum(x, -1), {2, 3}, I{0, 1, 3, 3, 7, 12});
  expect_tensor(cumsum(transpose(x, 0, 1), 0), {3, 2}, I{0, 3, 1, 7, 3, 12});
  expect_tensor(cumsum(flip(x), 1), {2, 3}, I{5, 9, 12, 2, 3, 3});
  expect_tensor(cumsum(zeros({0, 3}), 0), {0, 3}, F{});
  expect_tensor(cumsum(Tensor::of({-0.f}), 0) == 0, {1}, std::vector<bool>{true});
  EXPECT_TRUE(std::signbit(cumsum(Tensor::of({-0.f, -0.f}), 0).to_vector<float>()[1]));
  expect_error<IndexError>([&] { return cumsum(x, 2); }, {"axis 2", "rank 2"});
  expect_error<IndexError>([&] { return cumsum(full({}, 1), 0); }, {"rank 0"});
}

TEST(Scans, BlocksGoTogether) {
  for (const int64_t n : {1023, 1024, 1025, 2048, 5000}) {
    I expected(static_cast<size_t>(2 * n));
    for (int64_t i = 0; i < n; ++i) {
      expected[static_cast<size_t>(2 * i)] = i * (i + 1) / 2;
      expected[static_cast<size_t>(2 * i + 1)] = 2 * (i + 1);
    }
    const Tensor x = stack({arange(n), full({n}, 2)}, 1);
    expect_tensor(cumsum(x, 0), {n, 2}, expected);
    const Tensor rows = cumsum(transpose(x, 0, 1), 1);
    expect_tensor(transpose(rows, 0, 1), {n, 2}, expected);
  }
  // Sums of sums of blocks: one after the other, 2^25 ones stop at 2^24.
  const Tensor many = cumsum(ones({(1 << 24) + (1 << 15)}), 0);
  EXPECT_EQ(many[-1].item<float>(), 16777216 + 32768);
}

TEST(Scans, IsOneKernel) {
  const Tensor x = rand({64, 3000}).realize();
  const Tensor sums = cumsum(x * 2 + 1, 1);
  const uint64_t launches = Runtime::get().stats().launches;
  (void)sums.realize();
  EXPECT_EQ(Runtime::get().stats().launches, launches + 1);
}

TEST(Scans, ExtremesStandWhereTheyAreLast) {
  const Found most = cummax(Tensor::of({1.f, 3.f, 3.f, 2.f, kNaN, 9.f}), 0);
  expect_tensor(most.values, {6}, F{1, 3, 3, 3, kNaN, kNaN});
  expect_tensor(most.indices, {6}, I{0, 1, 2, 2, 4, 4});
  const Found least = cummin(Tensor::of(I{3, 1, 2, 1}), 0);
  expect_tensor(least.values, {4}, I{3, 1, 1, 1});
  expect_tensor(least.indices, {4}, I{0, 1, 1, 3});
  const Found zeros = cummax(Tensor::of({-0.f, 0.f, -0.f}), 0);
  expect_tensor(zeros.indices, {3}, I{0, 1, 2});
}

TEST(Scans, LogarithmsOfSums) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto values =
      logcumsumexp(Tensor::of({-inf, -inf, 1000.f, 1000.f, inf, 0.f}), 0).to_vector<float>();
  EXPECT_EQ(values[0], -inf);
  EXPECT_EQ(values[1], -inf);
  EXPECT_EQ(values[2], 1000);
  EXPECT_FLOAT_EQ(values[3], 1000 + std::log(2.f));
  EXPECT_EQ(values[4], inf);
  EXPECT_EQ(values[5], inf);
}

TEST(Scans, Recurrences) {
  const Tensor y = linear_recurrence(full({}, 0.5), Tensor::of({1.f, 1.f, 1.f, 8.f}));
  expect_tensor(y, {4}, F{1, 1.5, 1.75, 8.875});
  expect_values(linear_recurrence(Tensor::of(I{9, 2, 3}), Tensor::of(I{1, 1, 1})), I{1, 3, 10});
  expect_error<ShapeError>([&] { return linear_recurrence(ones({2}), ones({3})); }, {"[2]", "[3]"});
}

D gradient_of(Tensor (*function)(const Tensor&), const D& at, const D& weights) {
  const Tape tape;
  const Tensor x = Tensor::of(at);
  return tape.gradient(sum(function(x) * Tensor::of(weights)), x).to_vector<double>();
}

TEST(Scans, GradientsOfProductsTakeZeros) {
  const D w{1, 10, 100, 1000};
  const auto product = [](const Tensor& x) { return cumprod(x, 0); };
  EXPECT_EQ(gradient_of(product, {2, 3, 5, 7}, w), (D{106531, 71020, 42600, 30000}));
  EXPECT_EQ(gradient_of(product, {2, 0, 5, 7}, w), (D{1, 71020, 0, 0}));
  EXPECT_EQ(gradient_of(product, {2, 0, 5, 0}, w), (D{1, 1020, 0, 0}));
}

TEST(Scans, GradientsGoBackInOrder) {
  const D w{1, 10, 100, 1000};
  const auto sums = [](const Tensor& x) { return cumsum(x, 0); };
  EXPECT_EQ(gradient_of(sums, {2, 3, 5, 7}, w), (D{1111, 1110, 1100, 1000}));
  const auto maxima = [](const Tensor& x) { return cummax(x, 0).values; };
  EXPECT_EQ(gradient_of(maxima, {2, 2, 1, 3}, w), (D{1, 110, 0, 1000}));
  const auto logs = [](const Tensor& x) { return logcumsumexp(x, 0); };
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(gradient_of(logs, {-inf, 0, -inf, -2000}, {0, 1, 1, 1}), (D{0, 3, 0, 0}));
}

TEST(Scans, HalfRecurrence) {
  const auto decayed = [](const Tensor& x) {
    return linear_recurrence(full({}, 0.5, DType::F64), x);
  };
  EXPECT_EQ(gradient_of(decayed, {1, 1, 1, 1}, {1, 1, 1, 1}), (D{1.875, 1.75, 1.5, 1}));
}

}  // namespace
}  // namespace reprise
