// Losses: values by hand, edges, errors; what they compute over whole samples the oracle checks.
#include <gtest/gtest.h>

#include <cmath>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;

float value(const Tensor& x) {
  return x.item<float>();
}

TEST(Losses, OfDifferences) {
  const Tensor a = Tensor::of({0.f, 1.f, 3.f}), b = Tensor::of({0.f, 0.f, 0.f});
  EXPECT_FLOAT_EQ(value(mse_loss(a, b)), 10.f / 3);
  EXPECT_FLOAT_EQ(value(l1_loss(a, b, LossReduction::Sum)), 4);
  expect_values(smooth_l1_loss(a, b, LossReduction::None, 2.), F{0, 0.25f, 2});
  expect_values(huber_loss(a, b, LossReduction::None, 2.), F{0, 0.5f, 4});
  // A bound of 0 divides nothing by it that is taken.
  expect_values(smooth_l1_loss(a, b, LossReduction::None, 0.), F{0, 1, 3});
  expect_error<Error>([&] { return huber_loss(a, b, LossReduction::Mean, 0.); }, {"delta", "0"});
  expect_error<Error>([&] { return smooth_l1_loss(a, b, LossReduction::Mean, -1.); }, {"-1"});
  expect_values(mse_loss(Tensor::of({3}), Tensor::of({1}), LossReduction::None), F{4});
}

TEST(Losses, OfProbabilities) {
  const Tensor p = Tensor::of({0.f, 1.f, 0.5f}), t = Tensor::of({0.f, 0.f, 1.f});
  expect_values(bce_loss(p, t, LossReduction::None), F{0, 100, std::log(2.f)});
  const Tensor x = Tensor::of({-1000.f, 1000.f, 0.f});
  expect_values(bce_with_logits_loss(x, t, LossReduction::None), F{0, 1000, std::log(2.f)});
  const Tensor weighted =
      bce_with_logits_loss(x, t, LossReduction::None, Tensor::scalar(3., DType::F32));
  expect_values(weighted, F{0, 1000, 3 * std::log(2.f)});
  // Infinite logits, and integers that would wrap.
  const float inf = INFINITY;
  const Tensor ends = Tensor::of({inf, -inf, inf, -inf}), sure = Tensor::of({0.f, 0.f, 1.f, 1.f});
  expect_values(bce_with_logits_loss(ends, sure, LossReduction::None), F{inf, 0, 0, inf});
  expect_values(bce_with_logits_loss(Tensor::of<int8_t>({100, -100}), Tensor::of<int8_t>({2, 2}),
                                     LossReduction::None),
                F{-100, 200});
  const Tensor zero = Tensor::of({0.f});
  expect_values(kl_div_loss(zero, Tensor::of({NAN}), LossReduction::None), F{NAN});
  expect_values(kl_div_loss(zero, zero, LossReduction::None), F{0});
  expect_values(kl_div_loss(zero, zero, LossReduction::None, LogTarget::Yes), F{0});
}

TEST(Losses, OfClasses) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
  const Tensor labels = Tensor::of({0, -100, 1});
  const std::optional<int64_t> ignored = -100;
  EXPECT_FLOAT_EQ(value(nll_loss(x, labels, LossReduction::Mean, {.ignored_label = ignored})),
                  -3.5f)
      << "the ignored row counts for nothing";
  expect_error<IndexError>([&] { return nll_loss(x, labels).to_vector<float>(); }, {"-100"});
  const Tensor weight = Tensor::of({1.f, 3.f});
  EXPECT_FLOAT_EQ(
      value(nll_loss(x, labels, LossReduction::Mean, {.weight = weight, .ignored_label = ignored})),
      -19.f / 4);
  expect_values(
      nll_loss(x, labels, LossReduction::None, {.weight = weight, .ignored_label = ignored}),
      F{-1, 0, -18});
  const Tensor good = Tensor::of({0, 1, 1});
  EXPECT_FLOAT_EQ(value(cross_entropy(x, good, LossReduction::Mean, {})),
                  value(cross_entropy(x, good)));
  // Smoothed labels are probabilities.
  const Tensor smooth = Tensor::of({0.9f, 0.1f, 0.1f, 0.9f, 0.1f, 0.9f}, {3, 2});
  EXPECT_NEAR(value(cross_entropy(x, good, LossReduction::Mean, {.label_smoothing = 0.2})),
              value(cross_entropy(x, smooth, LossReduction::Mean, {})), 1e-6f);
  expect_error<Error>(
      [&] { return cross_entropy(x, good, LossReduction::Mean, {.label_smoothing = 1.5}); },
      {"1.5"});
  expect_error<ShapeError>([&] { return nll_loss(x, Tensor::of({0, 1})); }, {"[3,2]", "[2]"});
  expect_error<DTypeError>([&] { return nll_loss(x, Tensor::of({0.f, 1.f, 1.f})); }, {"f32[3]"});
  // Labels of any integer dtype.
  const Tensor small = cast(good, DType::U8);
  EXPECT_FLOAT_EQ(value(nll_loss(x, small, LossReduction::Mean, {.ignored_label = ignored})),
                  value(nll_loss(x, good)));
  for (const Shape& shape : {Shape{3}, Shape{1}, Shape{3, 2}}) {
    expect_error<ShapeError>(
        [&] { return cross_entropy(x, good, LossReduction::Mean, {.weight = ones(shape)}); },
        {"2 classes"});
  }
  const Tensor bad = nll_loss(x, Tensor::of({0, 2, 1}));
  expect_error<IndexError>([&] { return bad.to_vector<float>(); }, {"2"});
}

TEST(Losses, OfDirectionsAndDistances) {
  const Tensor a = Tensor::of({3.f, 4.f}), b = Tensor::of({4.f, 3.f}), zero = zeros({2});
  EXPECT_FLOAT_EQ(value(cosine_similarity(a, b)), 0.96f);
  EXPECT_EQ(value(cosine_similarity(a, zero)), 0.f);
  expect_values(cosine_similarity(ones({1, 3}), ones({1, 1})), F{1});
  EXPECT_EQ(cosine_similarity(full({3}, 300., DType::F16), full({3}, 300., DType::F16)).dtype(),
            DType::F16);
  const Tensor half = full({3}, 300., DType::F16);
  EXPECT_FLOAT_EQ(value(cast(cosine_similarity(half, half), DType::F32)), 1);
  EXPECT_FLOAT_EQ(value(triplet_margin_loss(a, zero, b)), 5 - std::sqrt(2.f) + 1);
  expect_values(hinge_loss(Tensor::of({0.5f, 2.f}), Tensor::of({1.f, -1.f}), LossReduction::None),
                F{0.5f, 3});
}

// A margin that changes is no other program.
TEST(Losses, NumbersNeverRecompile) {
  const Tensor a = Tensor::of({0.f, 1.f, 3.f}), b = stored_zeros({DType::F32, {3}});
  (void)value(huber_loss(a, b, LossReduction::Mean, 1.));
  const uint64_t compiled = Runtime::get().stats().plans_compiled;
  (void)value(huber_loss(a, b, LossReduction::Mean, 0.5));
  EXPECT_EQ(Runtime::get().stats().plans_compiled, compiled);
}

}  // namespace
}  // namespace reprise
