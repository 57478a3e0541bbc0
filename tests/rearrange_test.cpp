// Rolled, repeated, padded, cut and spread tensors: values, views, errors.
#include <gtest/gtest.h>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;

Tensor counted(const Shape& shape) {
  return reshape(arange(shape.numel()), std::span<const int64_t>(shape.begin(), shape.end()));
}

TEST(Rearrange, RollsAlongAnAxisOrThroughAll) {
  const Tensor x = counted({2, 3});
  expect_tensor(roll(x, 1, 1), {2, 3}, I{2, 0, 1, 5, 3, 4});
  expect_tensor(roll(x, -4, 1), {2, 3}, I{1, 2, 0, 4, 5, 3});
  expect_tensor(roll(x, 2, 0), {2, 3}, I{0, 1, 2, 3, 4, 5});
  expect_tensor(roll(x, 2), {2, 3}, I{4, 5, 0, 1, 2, 3});
  expect_tensor(roll(zeros({0, 3}), 1, 0), {0, 3}, F{});
}

TEST(Rearrange, RepeatsElementsAndTilesAxes) {
  const Tensor x = counted({2, 2});
  expect_tensor(repeat(x, 2, 1), {2, 4}, I{0, 0, 1, 1, 2, 2, 3, 3});
  expect_tensor(repeat(x, 2, 0), {4, 2}, I{0, 1, 0, 1, 2, 3, 2, 3});
  expect_tensor(repeat(x, 0, 0), {0, 2}, I{});
  expect_tensor(repeat(x, {3, 0}, 0), {3, 2}, I{0, 1, 0, 1, 0, 1});
  expect_tensor(repeat(x, {1, 2}, -1), {2, 3}, I{0, 1, 1, 2, 3, 3});
  expect_tensor(repeat(zeros({0, 2}), std::initializer_list<int64_t>{}, 0), {0, 2}, F{});
  expect_error<ShapeError>([&] { return repeat(x, {1, 2, 3}, 0); }, {"[2,2]", "3", "2"});
  expect_error<ShapeError>([&] { return repeat(x, {1, -2}, 0); }, {"[2,2]", "-2"});
  expect_tensor(tile(x, {2}), {2, 4}, I{0, 1, 0, 1, 2, 3, 2, 3});
  expect_tensor(tile(x, {2, 1, 1}), {2, 2, 2}, I{0, 1, 2, 3, 0, 1, 2, 3});
  // Eight axes leave no room for a ninth.
  const Tensor deep = tile(counted({1, 2, 1, 1, 1, 1, 1, 1}), {1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_EQ(deep.shape(), (Shape{1, 2, 1, 1, 1, 1, 1, 2}));
  expect_values(flatten(deep), I{0, 0, 1, 1});
  expect_error<ShapeError>([&] { return repeat(x, -1, 0); }, {"-1", "[2,2]"});
}

TEST(Rearrange, Pads) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  const int64_t two[] = {2}, one[] = {1}, three[] = {3}, none[] = {0};
  expect_values(pad(x, two, one, PadMode::Constant, 9), F{9, 9, 1, 2, 3, 9});
  expect_values(pad(x, two, one, PadMode::Reflect), F{3, 2, 1, 2, 3, 2});
  expect_values(pad(x, two, one, PadMode::Replicate), F{1, 1, 1, 2, 3, 3});
  expect_values(pad(x, two, one, PadMode::Circular), F{2, 3, 1, 2, 3, 1});
  expect_values(pad(x, none, none, PadMode::Reflect), F{1, 2, 3});
  expect_error<ShapeError>([&] { return pad(x, three, none, PadMode::Reflect); }, {"2", "3"});
  const int64_t minus[] = {-1};
  expect_error<ShapeError>([&] { return pad(x, minus, none, PadMode::Circular); }, {"-1"});
  expect_error<ShapeError>([&] { return pad(zeros({0}), one, none, PadMode::Replicate); }, {"0"});
}

TEST(Rearrange, CutsIntoParts) {
  const Tensor x = counted({7});
  const std::vector<Tensor> by = split_by(x, 3);
  ASSERT_EQ(by.size(), 3u);
  expect_values(by[2], I{6});
  EXPECT_EQ(chunk(x, 3).size(), 3u);
  EXPECT_EQ(chunk(x, 5).size(), 4u) << "parts of two";
  EXPECT_EQ(chunk(zeros({0}), 4).size(), 1u);
  const std::vector<Tensor> rows = unbind(counted({2, 3}), 1);
  ASSERT_EQ(rows.size(), 3u);
  expect_values(rows[1], I{1, 4});
  expect_error<ShapeError>([&] { return chunk(x, 0).size(); }, {"0"});
}

TEST(Rearrange, DiagonalsBothWays) {
  const Tensor x = counted({3, 4});
  expect_values(diagonal(x), I{0, 5, 10});
  expect_values(diagonal(x, 1), I{1, 6, 11});
  expect_values(diagonal(x, 3), I{3});
  expect_values(diagonal(x, 4), I{});
  expect_values(diagonal(x, -2), I{8});
  expect_values(diagonal(x, -5), I{});
  expect_tensor(diagonal(counted({2, 3, 2}), 0, 0, 2), {3, 2}, I{0, 7, 2, 9, 4, 11});
  expect_tensor(diag(Tensor::of({1.f, 2.f})), {2, 2}, F{1, 0, 0, 2});
  expect_tensor(diag(Tensor::of({1.f, 2.f}), 1), {3, 3}, F{0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_tensor(diag(Tensor::of({1.f, 2.f}), -1), {3, 3}, F{0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_tensor(diag(zeros({0}), 1), {1, 1}, F{0});
  expect_values(diag(x, 1), I{1, 6, 11});
  expect_error<ShapeError>([&] { return diag(zeros({1, 1, 1})); }, {"[1,1,1]"});
}

TEST(Rearrange, TrianglesKeepTheirOffsetOutOfTheCode) {
  const Tensor x = (counted({2, 3}) + 1).realize();
  expect_tensor(triu(x), {2, 3}, I{1, 2, 3, 0, 5, 6});
  const uint64_t compiled = Runtime::get().stats().kernels_compiled;
  expect_tensor(triu(x, 1), {2, 3}, I{0, 2, 3, 0, 0, 6});
  expect_tensor(triu(x, -1), {2, 3}, I{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Runtime::get().stats().kernels_compiled, compiled);
  expect_tensor(tril(x), {2, 3}, I{1, 0, 0, 4, 5, 0});
  expect_tensor(tril(x, 1), {2, 3}, I{1, 2, 0, 4, 5, 6});
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  expect_tensor(tril(x, kMost), {2, 3}, I{1, 2, 3, 4, 5, 6});
  expect_tensor(triu(x, kLeast), {2, 3}, I{1, 2, 3, 4, 5, 6});
  expect_values(diagonal(x, kLeast), I{});
  expect_values(diagonal(x, kMost), I{});
  expect_error<ShapeError>([&] { return diag(x[0], kLeast); }, {"too large"});
  EXPECT_EQ(chunk(x, kMost).size(), 2u);
  // What is left out is 0 even where it is no number.
  expect_tensor(tril(full({2, 2}, NAN), -1), {2, 2}, F{0, 0, NAN, 0});
}

TEST(Rearrange, MovesAxes) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(moveaxis(x, 0, -1).shape(), (Shape{3, 4, 2}));
  const int64_t from[] = {0, 1}, to[] = {-1, 0};
  EXPECT_EQ(moveaxis(x, from, to).shape(), (Shape{3, 4, 2}));
  const int64_t twice[] = {0, 0};
  expect_error<Error>([&] { return moveaxis(x, twice, to); }, {"twice"});
  EXPECT_EQ(expand(Tensor::of({1.f}), {4, -1}).shape(), (Shape{4, 1}));
  expect_error<ShapeError>([&] { return expand(x, {-1, 2, 3, 4}); }, {"-1"});
}

TEST(Rearrange, GridsInBothOrders) {
  const std::vector<Tensor> axes = {counted({2}), counted({3})};
  const std::vector<Tensor> rows = meshgrid(axes, GridOrder::Rows);
  expect_tensor(rows[0], {2, 3}, I{0, 0, 0, 1, 1, 1});
  const std::vector<Tensor> columns = meshgrid(axes);
  expect_tensor(columns[0], {3, 2}, I{0, 1, 0, 1, 0, 1});
  expect_tensor(columns[1], {3, 2}, I{0, 0, 1, 1, 2, 2});
}

// Of computed values these are views: nothing is launched.
TEST(Rearrange, ViewsLaunchNothing) {
  const Tensor x = counted({4, 4}).realize();
  const uint64_t launches = Runtime::get().stats().launches;
  const int64_t two[] = {2, 4};
  expect_values(diagonal(x, 1), I{1, 6, 11});
  expect_values(unbind(x)[2], I{8, 9, 10, 11});
  expect_values(flatten(chunk(x, 2)[1]), I{8, 9, 10, 11, 12, 13, 14, 15});
  (void)expand(slice(x, 0, {0, 1}), two).realize();
  (void)moveaxis(x, 0, 1).realize();
  EXPECT_EQ(Runtime::get().stats().launches, launches);
}

}  // namespace
}  // namespace reprise
