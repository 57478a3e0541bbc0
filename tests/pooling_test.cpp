// Pooling and resampling: values by hand, edges of windows, gradients, launches, errors.
#include <cmath>
#include <functional>
#include <limits>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Tensor counted(const Shape& shape) {
  return cast(reshape(arange(shape.numel()), std::span<const int64_t>(shape.begin(), shape.end())),
              DType::F32);
}
Tensor row(std::initializer_list<float> values) {
  return reshape(Tensor::of(values), {1, 1, -1});
}

uint64_t launches(const std::function<void()>& work) {
  const uint64_t before = Runtime::get().stats().launches;
  work();
  return Runtime::get().stats().launches - before;
}

TEST(MaxPool, TakesTheLargest) {
  const Tensor x = counted({1, 1, 4, 4});
  expect_tensor(max_pool2d(x, 2), {1, 1, 2, 2}, F{5, 7, 13, 15});
  expect_tensor(max_pool2d(x, 3, {.stride = 1}), {1, 1, 2, 2}, F{10, 11, 14, 15});
  expect_tensor(max_pool2d(x, {1, 2}, {.stride = {4, 1}}), {1, 1, 1, 3}, F{1, 2, 3});
  // Padding is below everything, and has no place.
  expect_tensor(max_pool1d(row({-5, -7, -3}), 2, {.padding = 1}), {1, 1, 2}, F{-5, -3});
  const Tensor bytes = Tensor::of(std::vector<int8_t>{-128, -127, -5}, {1, 3});
  expect_tensor(max_pool1d(bytes, 2, {.padding = 1}), {1, 2}, std::vector<int8_t>{-128, -5});
  expect_tensor(max_pool1d(row({1, kNaN, 3, 4}), 2), {1, 1, 2}, F{kNaN, 4});
  expect_tensor(max_pool1d(row({1, 9, 2, 3, 4}), 2, {.dilation = 2}), {1, 1, 2}, F{2, 4});
}

TEST(MaxPool, SaysWhere) {
  const auto [values, places] = max_pool2d_with_indices(
      Tensor::of({1.f, 5.f, 5.f, 2.f, 3.f, 4.f, 0.f, 7.f, 6.f}, {1, 3, 3}), 2, {.stride = 1});
  expect_tensor(values, {1, 2, 2}, F{5, 5, 7, 7});
  expect_tensor(places, {1, 2, 2}, I{1, 1, 7, 7});
  const auto padded = max_pool1d_with_indices(row({-kInfinity, -1, 2}), 2, {.padding = 1});
  expect_tensor(padded.second, {1, 1, 2}, I{0, 2});
  const auto dilated = max_pool1d_with_indices(row({-kInfinity, -kInfinity, -kInfinity, 1}), 3,
                                               {.stride = 1, .padding = 1, .dilation = 2});
  expect_tensor(dilated.second, {1, 1, 2}, I{3, 0});
}

TEST(Pool, CeilModeAddsTheWindowsThatEndOutside) {
  const Tensor x = row({1, 2, 3, 4, 5});
  expect_tensor(max_pool1d(x, 2, {.ceil_mode = CeilMode::Yes}), {1, 1, 3}, F{2, 4, 5});
  expect_tensor(max_pool1d(x, 2), {1, 1, 2}, F{2, 4});
  expect_tensor(avg_pool1d(x, 2, {.ceil_mode = CeilMode::Yes}), {1, 1, 3}, F{1.5f, 3.5f, 5});
  // A window may not start past the padding: of extent 2 with stride 3 there is one.
  expect_tensor(max_pool1d(row({1, 2}), 2, {.stride = 3, .padding = 1, .ceil_mode = CeilMode::Yes}),
                {1, 1, 1}, F{1});
}

TEST(Pool, CeilModeHasAWindowLongerThanTheAxis) {
  const Tensor x = row({1, 2});
  expect_tensor(max_pool1d(x, 3, {.ceil_mode = CeilMode::Yes}), {1, 1, 1}, F{2});
  expect_tensor(max_pool1d_with_indices(x, 3, {.stride = 2, .ceil_mode = CeilMode::Yes}).second,
                {1, 1, 1}, I{1});
  expect_tensor(avg_pool1d(x, 3, {.stride = 5, .ceil_mode = CeilMode::Yes}), {1, 1, 1}, F{1.5f});
  expect_tensor(lp_pool1d(x, 1, 3, {.ceil_mode = CeilMode::Yes}), {1, 1, 1}, F{3});
  // A whole step short is no window, as without ceil_mode.
  EXPECT_THROW((void)max_pool1d(x, 3, {.stride = 1, .ceil_mode = CeilMode::Yes}), ShapeError);
  EXPECT_THROW((void)max_pool1d(x, 3), ShapeError);
}

TEST(Pool, RefusesNumbersWhoseProductsOverflow) {
  const Tensor x = row({1, 2});
  const int64_t huge = int64_t{1} << 62;
  EXPECT_THROW((void)max_pool1d(x, huge, {.dilation = huge}), ShapeError);
  EXPECT_THROW((void)avg_pool1d(x, 2, {.stride = huge}), ShapeError);
  EXPECT_THROW((void)conv1d(x, x, {}, {.padding = huge}), ShapeError);
  EXPECT_THROW((void)col2im(row({1, 2}), {2, 2}, huge, {.dilation = huge, .padding = 3}),
               ShapeError);
  EXPECT_THROW((void)im2col(counted({1, 1, 2, 2}), huge, {.dilation = huge}), ShapeError);
}

TEST(AvgPool, CountsPaddingOrNot) {
  const Tensor x = row({2, 4, 6});
  expect_tensor(avg_pool1d(x, 2, {.padding = 1}), {1, 1, 2}, F{1, 5});
  expect_tensor(avg_pool1d(x, 2, {.padding = 1, .count_padding = CountPadding::No}), {1, 1, 2},
                F{2, 5});
  expect_tensor(avg_pool1d(x, 3, {.stride = 1, .padding = 1, .divisor = 4}), {1, 1, 3},
                F{1.5f, 3, 2.5f});
  // What lies past the padding is not there at all: 6 and one zero.
  expect_tensor(
      avg_pool1d(row({2, 4, 6}), 3, {.stride = 3, .padding = 1, .ceil_mode = CeilMode::Yes}),
      {1, 1, 2}, F{2, 3});
  expect_tensor(avg_pool2d(counted({1, 1, 2, 2}), 2), {1, 1, 1, 1}, F{1.5f});
  expect_tensor(avg_pool1d(Tensor::of(std::vector<int32_t>{1, 2}, {1, 2}), 2), {1, 1}, F{1.5f});
}

TEST(LpPool, IsANormOfEachWindow) {
  expect_tensor(lp_pool1d(row({3, -4, 0, 0}), 2, 2), {1, 1, 2}, F{5, 0});
  expect_tensor(lp_pool2d(counted({1, 1, 2, 2}), 1, 2), {1, 1, 1, 1}, F{6});
  expect_tensor(lp_pool1d(row({3, -4}), kInfinity, 2), {1, 1, 1}, F{4});
}

TEST(AdaptivePool, CutsAnAxisIntoParts) {
  const Tensor x = row({1, 2, 3, 4, 5, 6});
  expect_tensor(adaptive_avg_pool1d(x, 3), {1, 1, 3}, F{1.5f, 3.5f, 5.5f});
  // Windows [0,2), [1,3), [3,5), [4,6).
  expect_tensor(adaptive_avg_pool1d(x, 4), {1, 1, 4}, F{1.5f, 2.5f, 4.5f, 5.5f});
  expect_tensor(adaptive_max_pool1d(x, 4), {1, 1, 4}, F{2, 3, 5, 6});
  expect_tensor(adaptive_max_pool1d_with_indices(x, 4).second, {1, 1, 4}, I{1, 2, 4, 5});
  expect_tensor(adaptive_avg_pool1d(row({1, 2}), 3), {1, 1, 3}, F{1, 1.5f, 2});
  // The one window in the middle sees both, however many there are.
  expect_tensor(adaptive_avg_pool1d(row({1, 2}), 5), {1, 1, 5}, F{1, 1, 1.5f, 2, 2});
  expect_tensor(adaptive_max_pool1d(row({1, 2}), 7), {1, 1, 7}, F{1, 1, 1, 2, 2, 2, 2});
  for (const int64_t extent : {1, 2, 3, 4, 6, 7, 12}) {
    for (const int64_t size : {1, 2, 3, 5, 8, 9, 17}) {
      std::vector<float> means, largest;
      for (int64_t i = 0; i < size; ++i) {
        const int64_t begin = i * extent / size, end = ((i + 1) * extent + size - 1) / size;
        means.push_back(static_cast<float>(begin + end - 1) / 2);
        largest.push_back(static_cast<float>(end - 1));
      }
      const Tensor all = counted({1, 1, extent});
      expect_tensor(adaptive_avg_pool1d(all, size), {1, 1, size}, means);
      expect_tensor(adaptive_max_pool1d(all, size), {1, 1, size}, largest);
    }
  }
  expect_tensor(adaptive_avg_pool2d(counted({1, 1, 3, 4}), {2, -1}), {1, 1, 2, 4},
                F{2, 3, 4, 5, 6, 7, 8, 9});
  const auto [values, places] = adaptive_max_pool2d_with_indices(counted({1, 1, 3, 5}), {2, 2});
  expect_tensor(values, {1, 1, 2, 2}, F{7, 9, 12, 14});
  expect_tensor(places, {1, 1, 2, 2}, I{7, 9, 12, 14});
}

TEST(Interpolate, Nearest) {
  const Tensor x = row({1, 2, 3});
  expect_tensor(interpolate(x, 6), {1, 1, 6}, F{1, 1, 2, 2, 3, 3});
  expect_tensor(interpolate(x, 5), {1, 1, 5}, F{1, 1, 2, 2, 3});
  expect_tensor(interpolate(x, 2), {1, 1, 2}, F{1, 2});
  expect_tensor(interpolate(x, 1), {1, 1, 1}, F{1});
  expect_tensor(interpolate(x, 2, Resample::NearestExact), {1, 1, 2}, F{1, 3});
  const double twice[] = {2.0};
  expect_tensor(interpolate(counted({1, 1, 1, 2}), std::span<const double>(twice)), {1, 1, 2, 4},
                F{0, 0, 1, 1, 0, 0, 1, 1});
}

TEST(Interpolate, Linear) {
  const Tensor x = row({0, 4});
  expect_tensor(interpolate(x, 4, Resample::Linear), {1, 1, 4}, F{0, 1, 3, 4});
  expect_tensor(interpolate(x, 3, Resample::Linear, AlignCorners::Yes), {1, 1, 3}, F{0, 2, 4});
  expect_tensor(interpolate(x, 1, Resample::Linear, AlignCorners::Yes), {1, 1, 1}, F{0});
  expect_tensor(interpolate(counted({1, 1, 2, 2}), 3, Resample::Linear, AlignCorners::Yes),
                {1, 1, 3, 3}, F{0, 0.5f, 1, 1, 1.5f, 2, 2, 2.5f, 3});
  expect_tensor(interpolate(row({1, 2, 3, 4}), 2, Resample::Area), {1, 1, 2}, F{1.5f, 3.5f});
}

TEST(Pool, GradientsReachEachElement) {
  const Tensor x = row({1, 3, 3, 2, 5});
  const Tape tape;
  expect_tensor(tape.gradient(sum(max_pool1d(x, 2)), x), {1, 1, 5}, F{0, 1, 1, 0, 0});
  // Equal shares of ties.
  expect_tensor(tape.gradient(sum(max_pool1d(x, 3, {.stride = 1})), x), {1, 1, 5},
                F{0, 1, 1, 0, 1});
  expect_tensor(tape.gradient(sum(avg_pool1d(x, 2, {.stride = 1})), x), {1, 1, 5},
                F{0.5f, 1, 1, 1, 0.5f});
  expect_tensor(tape.gradient(sum(max_pool1d(x, 2, {.padding = 1})), x), {1, 1, 5},
                F{1, 0.5f, 0.5f, 0, 1});
  expect_tensor(tape.gradient(sum(adaptive_avg_pool1d(x, 2)), x), {1, 1, 5},
                F{1.f / 3, 1.f / 3, 2.f / 3, 1.f / 3, 1.f / 3});
  expect_tensor(tape.gradient(sum(interpolate(x, 10)), x), {1, 1, 5}, F{2, 2, 2, 2, 2});
  const Tensor ends = row({0, 4});
  expect_tensor(tape.gradient(sum(interpolate(ends, 4, Resample::Linear)), ends), {1, 1, 2},
                F{2, 2});
}

TEST(Pool, IsOneLaunch) {
  const Tensor x = counted({2, 3, 16, 16}).realize();
  EXPECT_EQ(launches([&] { (void)max_pool2d(x, 2).realize(); }), 1u);
  EXPECT_EQ(launches([&] { (void)max_pool2d(x, 3, {.stride = 2, .padding = 1}).realize(); }), 1u);
  EXPECT_EQ(launches([&] {
              (void)avg_pool2d(x, 3, {.padding = 1, .count_padding = CountPadding::No}).realize();
            }),
            1u);
  EXPECT_EQ(launches([&] { (void)adaptive_avg_pool2d(x, 1).realize(); }), 1u);
  EXPECT_EQ(launches([&] { (void)interpolate(x, 32).realize(); }), 1u);
}

TEST(Pool, RefusesWhatDoesNotFit) {
  const Tensor x = zeros({1, 2, 4, 4});
  expect_error<ShapeError>([&] { return max_pool2d(x, 3, {.padding = 2}); }, {"2", "3"});
  expect_error<ShapeError>([&] { return max_pool2d(x, 5); }, {"5", "4"});
  expect_error<ShapeError>([&] { return max_pool2d(x, 0); }, {"0"});
  expect_error<ShapeError>([&] { return max_pool2d(x, {2, 2, 2}); }, {"3", "2"});
  expect_error<ShapeError>([&] { return avg_pool2d(zeros({4}), 2); }, {"f32[4]", "4"});
  expect_error<Error>([&] { return avg_pool2d(x, 2, {.divisor = 0}); }, {"0"});
  expect_error<ShapeError>([&] { return adaptive_avg_pool2d(x, 0); }, {"f32[1,2,4,4]", "0"});
  expect_error<ShapeError>([&] { return interpolate(zeros({2, 2}), 2); }, {"f32[2,2]"});
  expect_error<ShapeError>([&] { return interpolate(x, 0); }, {"0"});
}

}  // namespace
}  // namespace reprise
