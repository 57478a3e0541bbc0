// Activations, normalization by groups and batches, attention, dropout: values by hand, edges,
// errors.
#include <gtest/gtest.h>

#include <cmath>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;

void expect_near(const Tensor& actual, const F& expected) {
  const F values = actual.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-5f) << i;
}

TEST(Layers, NormalizesGroups) {
  const Tensor x = Tensor::of({1.f, 3.f, 10.f, 30.f}, {1, 4, 1});
  expect_near(group_norm(x, 2, {}, {}, 0), F{-1, 1, -1, 1});
  expect_near(group_norm(x, 2, Tensor::of({1.f, 2.f, 3.f, 4.f}), ones({4}), 0), F{0, 3, -2, 5});
  const Tensor wide = Tensor::of({1.f, 3.f, 10.f, 30.f}, {1, 2, 2});
  expect_near(instance_norm(wide, {}, {}, 0), F{-1, 1, -1, 1});
  expect_error<ShapeError>([&] { return group_norm(x, 3); }, {"4", "3"});
  expect_error<ShapeError>([&] { return group_norm(x, 2, ones({3})); }, {"4", "f32[3]"});
  expect_error<ShapeError>([&] { return group_norm(ones({3}), 1); }, {"f32[3]"});
  EXPECT_EQ(group_norm(zeros({0, 4, 2}), 2).shape(), (Shape{0, 4, 2}));
}

TEST(Layers, NormalizesBatchesAndRemembers) {
  const Tensor x = Tensor::of({1.f, 10.f, 3.f, 30.f}, {2, 2});
  const Tensor mean = zeros({2}).realize(), variance = ones({2}).realize();
  Tensor y;
  {
    const Tape tape;
    y = batch_norm_training(x, mean, variance, {}, {}, 0.5, 0);
    tape.realize(y);
  }
  expect_near(y, F{-1, -1, 1, 1});
  expect_near(mean, F{1, 10});
  expect_near(variance, F{1.5f, 100.5f});  // 2 and 200 by n - 1
  expect_near(batch_norm(x, mean, variance, {}, {}, 0),
              F{0, 0, 2 / std::sqrt(1.5f), 20 / std::sqrt(100.5f)});
  // Without running ones there are the batch's alone.
  expect_near(batch_norm_training(x, {}, {}, {}, {}, 0.5, 0), F{-1, -1, 1, 1});
  expect_error<Error>([&] { return batch_norm_training(x, mean, {}); }, {"f32[2,2]", "variance"});
  // Their statistics differentiate: a normalized batch is blind to its scale.
  const Tape tape;
  const Tensor loss = sum(square(batch_norm_training(x, mean, variance)) * x);
  for (const float g : tape.gradient(loss, x).to_vector<float>()) EXPECT_TRUE(std::isfinite(g));
}

TEST(Layers, SoftensSeveralAxesAsOne) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 0.f, -1.f, 4.f, 1.f, 1.f}, {2, 2, 2});
  expect_near(softmax(x, {}), softmax(flatten(x)).to_vector<float>());
  const Tensor swapped = permute(x, {1, 0, 2});
  const std::vector<float> rows = softmax(reshape(swapped, {2, 4})).to_vector<float>();
  expect_near(permute(softmax(x, {0, -1}), {1, 0, 2}), rows);
  expect_near(exp(log_softmax(x, {2, 1})), softmax(reshape(x, {2, 4})).to_vector<float>());
  expect_near(softmax(Tensor::scalar(3.0), {}), F{1});
  EXPECT_EQ(softmax(ones({0, 2, 3}), {0, 1}).shape(), (Shape{0, 2, 3}));
  expect_error<Error>([&] { return softmax(x, {0, -3}); }, {"-3", "twice"});
}

TEST(Layers, RespondsToNeighbours) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f}, {1, 3});
  const Tensor y = local_response_norm(x, 3, 3., 1, 1.);  // the mean of three, times three
  expect_near(y, F{1.f / 6, 2.f / 15, 3.f / 14});
}

TEST(Attention, IsTheWeightedMeanOfValues) {
  const Tensor q = zeros({2, 1}), k = ones({3, 1}), v = Tensor::of({1.f, 2.f, 6.f}, {3, 1});
  expect_near(scaled_dot_product_attention(q, k, v), F{3, 3});
  expect_near(scaled_dot_product_attention(zeros({3, 1}), k, v, {}, Causal::Yes), F{1, 1.5f, 3});
  // Fewer queries than keys are the last ones.
  expect_near(scaled_dot_product_attention(q, k, v, {}, Causal::Yes), F{1.5f, 3});
  // What sees nothing is 0, and takes no gradient.
  const Tensor mask = Tensor::of({true, false, true, false, false, false}, {2, 3});
  expect_near(scaled_dot_product_attention(q, k, v, mask), F{3.5f, 0});
  expect_error<ShapeError>(
      [&] {
        return scaled_dot_product_attention(q, k, v, ones({3, 3}));
      },
      {"f32[3,3]", "2 queries", "3 keys"});
  const Tape tape;
  const Tensor loss = sum(scaled_dot_product_attention(q, k, v, mask));
  for (const float g : tape.gradient(loss, k).to_vector<float>()) EXPECT_TRUE(std::isfinite(g));
  expect_near(tape.gradient(loss, v), F{0.5f, 0, 0.5f});
}

TEST(Attention, HeadsShareKeysInGroups) {
  set_seed(5);
  const Tensor q = randn({2, 4, 3, 8}), k = randn({2, 2, 5, 8}), v = randn({2, 2, 5, 6});
  const Tensor grouped = scaled_dot_product_attention(q, k, v);
  const Tensor plain = scaled_dot_product_attention(q, repeat(k, 2, 1), repeat(v, 2, 1));
  EXPECT_EQ(grouped.shape(), (Shape{2, 4, 3, 6}));
  expect_near(grouped, plain.to_vector<float>());
  expect_error<ShapeError>(
      [&] {
        return scaled_dot_product_attention(q, randn({2, 3, 5, 8}), randn({2, 3, 5, 6}));
      },
      {"[2,4,3,8]", "[2,3,5,8]"});
  expect_error<ShapeError>([&] { return scaled_dot_product_attention(q, v, v); }, {"width"});
}

// Smooth at 0, from either side.
TEST(Activations, HaveOneSlopeWhereTheirPartsMeet) {
  const Tensor zero = Tensor::of({0.f, -0.f});
  const Tape tape;
  expect_values(tape.gradient(sum(elu(zero)), zero), F{1, 1});
  expect_values(tape.gradient(sum(celu(zero, 2.)), zero), F{1, 1});
  expect_values(tape.gradient(sum(elu(zero, 2.)), zero), F{2, 2});
  expect_near(tape.gradient(sum(selu(zero)), zero), F{1.7580993f, 1.7580993f});
  expect_values(tape.gradient(sum(silu(zero)), zero), F{0.5, 0.5});
}

TEST(Rope, TurnsPairs) {
  const Tensor x = Tensor::of({1.f, 0.f, 1.f, 0.f}, {2, 2});
  expect_near(rope(x), F{1, 0, std::cos(1.f), std::sin(1.f)});
  expect_near(rope(x, 3), F{std::cos(3.f), std::sin(3.f), std::cos(4.f), std::sin(4.f)});
  expect_error<ShapeError>([] { return rope(ones({2, 3})); }, {"[2,3]"});
}

TEST(Dropout, DrawsAnewAndKeepsTheMean) {
  set_seed(1);
  const Tensor x = ones({10000});
  const F first = dropout(x, 0.25).to_vector<float>(), second = dropout(x, 0.25).to_vector<float>();
  EXPECT_NE(first, second);
  double sum = 0;
  for (const float value : first) {
    EXPECT_TRUE(value == 0 || value == 1 / 0.75f);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 1, 0.03);
  expect_values(dropout(ones({2}), 0.), F{1, 1});
  expect_values(dropout(ones({2}), 1.), F{0, 0});
  expect_error<Error>([&] { return dropout(x, 1.5); }, {"1.5"});
  Frozen step;
  {
    const Tape tape;
    step = tape.freeze({x}, {dropout(x)});
  }
  EXPECT_NE(step.replay(x)[0].to_vector<float>(), step.replay(x)[0].to_vector<float>());
}

}  // namespace
}  // namespace reprise
