// Sorting: stability, NaN, zeros, lengths around the change of method, the largest, the different.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;
using D = std::vector<double>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Sorting, NaNIsLastAndZerosAreEqual) {
  const Tensor x = Tensor::of({1.f, kNaN, 3.f, 2.f, -kNaN, -kInf, kInf});
  expect_values(argsort(x), I{5, 0, 3, 2, 6, 1, 4});
  expect_values(sort(x), F{-kInf, 1, 2, 3, kInf, kNaN, kNaN});
  expect_values(argsort(x, 0, Order::Descending), I{1, 4, 6, 2, 3, 0, 5});
  expect_values(argsort(Tensor::of({0.f, -0.f, 0.f, -1e-45f})), I{3, 0, 1, 2});
}

template <class T>
void expect_sorted(int64_t lines, int64_t extent) {
  std::mt19937 random(static_cast<uint32_t>(extent));
  std::vector<T> values(static_cast<size_t>(lines * extent));
  for (T& value : values) {
    // Some alike, some that differ in the highest bits.
    const uint64_t word = random() % 3 == 0 ? random() % 5 : random() * 0x9e3779b97f4a7c15u;
    value = static_cast<T>(word);
  }
  I order;
  for (int64_t line = 0; line < lines; ++line) {
    I own(static_cast<size_t>(extent));
    std::iota(own.begin(), own.end(), 0);
    const T* const base = values.data() + line * extent;
    std::stable_sort(own.begin(), own.end(),
                     [&](int64_t a, int64_t b) { return base[a] < base[b]; });
    order.insert(order.end(), own.begin(), own.end());
  }
  const Tensor x = reshape(Tensor::of(values), {lines, extent});
  expect_tensor(argsort(x), {lines, extent}, order);
  expect_tensor(transpose(argsort(transpose(x, 0, 1), 0), 0, 1), {lines, extent}, order);
}

TEST(Sorting, IsStableAtEveryLength) {
  for (const int64_t extent : {1, 2, 7, 63, 64, 65, 200, 3000}) {
    expect_sorted<int32_t>(3, extent);
    expect_sorted<uint8_t>(2, extent);
    expect_sorted<int16_t>(1, extent);
    expect_sorted<uint64_t>(2, extent);
    expect_sorted<int64_t>(1, extent);
  }
}

TEST(Sorting, Descends) {
  const Tensor x = reshape(Tensor::of(I{3, 1, 3, 2, 5, 2}), {2, 3});
  expect_tensor(sort(x, 1, Order::Descending), {2, 3}, I{3, 3, 1, 5, 2, 2});
  expect_tensor(argsort(x, 1, Order::Descending), {2, 3}, I{0, 2, 1, 1, 0, 2});
  expect_tensor(sort(x, 0), {2, 3}, I{2, 1, 2, 3, 5, 3});
  expect_values(sort(Tensor::of({true, false, true})), std::vector<bool>{false, true, true});
}

TEST(Sorting, Largest) {
  const Tensor x = Tensor::of({1.f, 9.f, 4.f, 9.f, kNaN});
  const Found most = topk(x, 3);
  expect_values(most.values, F{kNaN, 9, 9});
  expect_values(most.indices, I{4, 1, 3});
  const Found least = topk(x, 2, 0, Order::Ascending);
  expect_values(least.values, F{1, 4});
  expect_values(topk(x, 0).indices, I{});
  expect_error<ShapeError>([&] { return topk(x, 6).values; }, {"6", "f32[5]"});
  expect_error<IndexError>([&] { return sort(x, 1); }, {"axis 1", "rank 1"});
}

TEST(Sorting, GradientsGoWhereValuesCameFrom) {
  const Tape tape;
  const Tensor x = Tensor::of({3.0, 1.0, 2.0});
  const Tensor weights = Tensor::of({1.0, 10.0, 100.0});
  expect_values(tape.gradient(sum(sort(x) * weights), x), D{100, 1, 10});
  expect_values(tape.gradient(sum(topk(x, 2).values * Tensor::of({1.0, 10.0})), x), D{1, 0, 10});
}

TEST(Sorting, Different) {
  const Unique found = unique(reshape(Tensor::of(I{5, 2, 5, 9, 2, 2}), {2, 3}));
  expect_values(found.values, I{2, 5, 9});
  expect_values(found.indices, I{1, 0, 3});
  expect_tensor(found.inverse, {2, 3}, I{1, 0, 1, 2, 0, 0});
  expect_values(found.counts, I{3, 2, 1});
  expect_values(unique(Tensor::of({kNaN, 1.f, kNaN})).counts, I{1, 1, 1});
  expect_values(unique(zeros({0})).values, F{});
  expect_values(unique(full({}, 4)).values, I{4});
}

TEST(Sorting, IsOneKernel) {
  const Tensor x = rand({8, 1000}).realize();
  const Tensor order = argsort(x * 2);
  const uint64_t launches = Runtime::get().stats().launches;
  (void)order.realize();
  EXPECT_EQ(Runtime::get().stats().launches, launches + 1);
}

}  // namespace
}  // namespace reprise
