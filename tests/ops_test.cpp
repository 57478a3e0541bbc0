// The public ops on small values, and what they say when they cannot. Where numbers and shapes tend
// to go wrong is in number_cases_test.cpp and tensor_cases_test.cpp.
#include <limits>
#include <numeric>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;
using I = std::vector<int32_t>;
using L = std::vector<int64_t>;
using B = std::vector<bool>;
constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

/// 0, 1, 2, .. in f32.
Tensor counted(const Shape& shape) {
  return cast(arange(shape.numel()), DType::F32).reshape(shape);
}

TEST(Elementwise, MaximumMinimumAndClamp) {
  const Tensor a = Tensor::of<float>({kNaN, 1, kNaN, -0.f});
  const Tensor b = Tensor::of<float>({1, kNaN, kNaN, 0.f});
  expect_values(maximum(a, b), F{kNaN, kNaN, kNaN, 0});
  expect_values(minimum(a, b), F{kNaN, kNaN, kNaN, -0.f});
  expect_values(clamp(Tensor::of({-5, 0, 5}), -1, 2), I{-1, 0, 2});
  expect_values(maximum(Tensor::of({1, 2}), 1.5), F{1.5f, 2});
  expect_values(relu(Tensor::of<float>({-1, kNaN, 2, -0.f})), F{0, kNaN, 2, 0});
  expect_error<Error>([] { return maximum(1, 2.5); }, {"maximum", "1", "2.5", "tensor"});
}

TEST(Elementwise, Functions) {
  const Tensor x = Tensor::of({0.25f, 1.f, 4.f});
  expect_values(sqrt(x), F{0.5f, 1, 2});
  expect_near(rsqrt(x), {3}, F{2, 1, 0.5f}, 1e-6);
  expect_near(exp(x), {3}, F{std::exp(0.25f), std::exp(1.f), std::exp(4.f)}, 1e-6);
  expect_near(log(x), {3}, F{std::log(0.25f), 0, std::log(4.f)}, 1e-6);
  expect_near(tanh(x), {3}, F{std::tanh(0.25f), std::tanh(1.f), std::tanh(4.f)}, 1e-6);
  expect_near(sigmoid(x), {3}, F{0.5621765f, 0.7310586f, 0.9820138f}, 1e-6);
  expect_near(gelu(x), {3}, F{0.14967658f, 0.84134475f, 3.9998733f}, 1e-6);
  expect_near(erf(x), {3}, F{std::erf(0.25f), std::erf(1.f), std::erf(4.f)}, 1e-6);
  expect_near(pow(x, 2), {3}, F{0.0625f, 1, 16}, 1e-6);
  expect_near(pow(x, Tensor::of({2.f, 3.f, 0.5f})), {3}, F{0.0625f, 1, 2}, 1e-6);
  expect_values(round(Tensor::of({0.5f, 1.5f, -2.5f, -0.4f})), F{0, 2, -2, -0.f});
  expect_values(floor(Tensor::of({-0.5f, 1.5f})), F{-1, 1});
  expect_values(floor(Tensor::of({3})), I{3});
  expect_values(square(Tensor::of({-3})), I{9});
  expect_values(sign(Tensor::of({-3.f, -0.f, 5.f})), F{-1, 0, 1});
}

TEST(Reduction, VarianceAndDeviation) {
  expect_scalar(var(Tensor::of({1, 2, 3, 4}), {}, KeepDims::No, 1), 1.6666666f);
  expect_values(std(counted({2, 3}) * 3, -1), F{2.4494898f, 2.4494898f});
  expect_tensor(var(counted({2, 2}), 0, KeepDims::Yes), {1, 2}, F{1, 1});
  expect_error<Error>([] { return var(zeros({2}), {}, KeepDims::No, -1); }, {"var", "ddof", "-1"});
}

TEST(Normalization, RowsAndWhatScalesThem) {
  const Tensor x = Tensor::of({1.f, 3.f, -2.f, 2.f}).reshape({2, 2});
  const Tensor gamma = Tensor::of({2.f, 3.f}), beta = Tensor::of({0.5f, -1.f});
  expect_tensor(layer_norm(x, -1, {}, {}, 0), {2, 2}, F{-1, 1, -1, 1});
  expect_tensor(layer_norm(x, -1, gamma, {}, 0), {2, 2}, F{-2, 3, -2, 3});
  expect_tensor(layer_norm(x, -1, gamma, beta, 0), {2, 2}, F{-1.5f, 2, -1.5f, 2});
  expect_near(rms_norm(x, 1, gamma, 0), {2, 2}, F{0.8944272f, 4.0249224f, -2, 3}, 1e-6);
  // Over the first axis: what scales the result does not lie along the last.
  expect_tensor(layer_norm(x, 0, gamma, {}, 0), {2, 2}, F{2, 2, -3, -3});
  expect_tensor(layer_norm(full({2, 3}, 7.f)), {2, 3}, F(6, 0));
  expect_error<ShapeError>(
      [&] {
        return layer_norm(x, -1, beta.reshape({2, 1}));
      },
      {"layer_norm", "[2,2]", "[2,1]"});
  expect_error<Error>([&] { return layer_norm(x, -1, {}, beta); }, {"layer_norm", "shift"});
  expect_error<DTypeError>([&] { return rms_norm(x, -1, cast(gamma, DType::F64)); },
                           {"rms_norm", "f32[2,2]", "f64[2]"});
}

TEST(Elementwise, CastsOfIntegersWrap) {
  expect_values(cast(Tensor::of({300, -1}), DType::U8), std::vector<uint8_t>{44, 255});
}

// A cast to the same dtype is a binding of its own: an assign does not reach through it.
TEST(Elementwise, IdentitiesAreBindingsOfTheirOwn) {
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tensor same[] = {cast(x, DType::F32),  x.reshape({2}), +x,        x.at({Range{}}),
                         broadcast_to(x, {2}), concat({x}, 0), squeeze(x)};
  x.assign_(Tensor::of({8.f, 9.f}));
  for (const Tensor& y : same) expect_values(y, F{1, 2});
  expect_values(x, F{8, 9});
}

TEST(Broadcasting, FollowsNumPy) {
  const Tensor x = counted({2, 3});
  expect_tensor(x + Tensor::of({10.f, 20.f, 30.f}), {2, 3}, F{10, 21, 32, 13, 24, 35});
  expect_tensor(x * Tensor::of({1.f, 10.f}).reshape({2, 1}), {2, 3}, F{0, 1, 2, 30, 40, 50});
  EXPECT_EQ((zeros({0, 3}) + zeros({1, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ((zeros({0}) + zeros({1})).shape(), (Shape{0}));
  expect_error<ShapeError>([] { return zeros({0}) + zeros({3}); }, {"[0]", "[3]"});
  expect_error<ShapeError>([&] { return x + zeros({2}); }, {"[2,3]", "[2]"});
}

TEST(Reductions, OverAxes) {
  const Tensor x = counted({2, 3});
  expect_scalar(sum(x), 15.f);
  expect_values(sum(x, 0), F{3, 5, 7});
  expect_values(sum(x, -1), F{3, 12});
  expect_tensor(sum(x, {0, 1}, KeepDims::Yes), {1, 1}, F{15});
  expect_values(max(x, 1), F{2, 5});
  expect_values(min(x, 0), F{0, 1, 2});
  expect_values(mean(x, 1), F{1, 4});
  expect_scalar(mean(Tensor::of({1, 2})), 1.5f);
  expect_values(prod(x, 1), F{0, 60});
  expect_values(any(x > 4, 1), B{false, true});
  expect_scalar(all(x >= 0), true);
  expect_values(argmax(x, 1), L{2, 2});
  expect_scalar(argmin(-x), int64_t{5});
  expect_error<IndexError>([&] { return sum(x, 2); }, {"2"});
  expect_error<Error>([&] { return sum(x, {0, -2}); }, {"axis -2 occurs twice"});
}

TEST(Movement, ShapesAndViews) {
  const Tensor x = counted({2, 3});
  expect_tensor(x.reshape({3, -1}), {3, 2}, F{0, 1, 2, 3, 4, 5});
  expect_tensor(x.transpose(), {3, 2}, F{0, 3, 1, 4, 2, 5});
  expect_tensor(x.permute({1, 0}) * 1, {3, 2}, F{0, 3, 1, 4, 2, 5});
  expect_tensor(flip(x, 1), {2, 3}, F{2, 1, 0, 5, 4, 3});
  expect_tensor(flip(x), {2, 3}, F{5, 4, 3, 2, 1, 0});
  expect_tensor(unsqueeze(x, 1), {2, 1, 3}, F{0, 1, 2, 3, 4, 5});
  EXPECT_EQ(unsqueeze(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(squeeze(zeros({1, 2, 1})).shape(), (Shape{2}));
  EXPECT_EQ(squeeze(zeros({1, 2, 1}), 0).shape(), (Shape{2, 1}));
  expect_tensor(broadcast_to(Tensor::of({1.f, 2.f}), {2, 2}), {2, 2}, F{1, 2, 1, 2});
  expect_tensor(pad(Tensor::of({5.f}), L{1}, L{2}), {4}, F{0, 5, 0, 0});
  EXPECT_EQ(flatten(x).shape(), (Shape{6}));
  expect_error<ShapeError>([&] { return x.reshape({4, -1}); }, {"f32[2,3]", "6", "4"});
  expect_error<ShapeError>([&] { return x.reshape({-1, -1}); }, {"f32[2,3]"});
  expect_error<ShapeError>([&] { return x.reshape({5}); }, {"[2,3]", "[5]"});
  expect_error<ShapeError>([&] { return squeeze(x, 0); }, {"f32[2,3]", "extent 2"});
  expect_error<ShapeError>([&] { return broadcast_to(x, {2, 2}); }, {"[2,3]", "[2,2]"});
  expect_error<Error>([&] { return x.permute({0, 0}); }, {"0"});
}

TEST(Movement, Indexing) {
  const Tensor x = arange(10);
  expect_values(x.at({Range{Range::kOpen, Range::kOpen, 4}}), L{0, 4, 8});
  expect_values(x.at({Range{Range::kOpen, Range::kOpen, -3}}), L{9, 6, 3, 0});
  expect_values(x.at({Range{2, Range::kOpen, -1}}), L{2, 1, 0});
  expect_values(slice(x, 0, {-2}), L{8, 9});
  expect_scalar(x[-1], int64_t{9});
  expect_error<IndexError>([&] { return x[10]; }, {"10", "i64[10]"});
  expect_error<IndexError>([&] { return x[-11]; }, {"-11"});
  const Tensor m = counted({2, 3});
  expect_values(m[1], F{3, 4, 5});
  expect_values(m.at({Range{}, 1}), F{1, 4});
  expect_scalar(m.at({1, 2}), 5.f);
  expect_error<IndexError>([&] { return m.at({0, 0, 0}); }, {"3 indices", "f32[2,3]"});
}

TEST(Movement, JoiningAndSplitting) {
  const Tensor a = Tensor::of({1, 2});
  expect_values(concat({a, Tensor::of({3})}), I{1, 2, 3});
  expect_values(concat({a, Tensor::of({0.5f})}), F{1, 2, 0.5f});
  expect_tensor(stack({a, a}, 1), {2, 2}, I{1, 1, 2, 2});
  const std::vector<Tensor> parts = split(arange(6), 3);
  ASSERT_EQ(parts.size(), 3u);
  expect_values(parts[1], L{2, 3});
  expect_error<ShapeError>([] { return split(arange(5), 2); }, {"i64[5]", "2 parts"});
  expect_error<ShapeError>([&] { return stack({a, zeros({3})}); }, {"[2]", "[3]"});
  expect_error<ShapeError>([] { return concat(std::span<const Tensor>()); }, {"no tensors"});
  expect_error<ShapeError>([] { return concat({zeros({2, 2}), zeros({3, 3})}); }, {"2", "3"});
  EXPECT_EQ(concat({zeros({0, 3}), zeros({2, 3})}).shape(), (Shape{2, 3}));
}

TEST(Matmul, OfEveryRank) {
  const Tensor m = counted({2, 3});
  const Tensor v = Tensor::of({1.f, 2.f, 3.f});
  expect_tensor(matmul(m, m.transpose()), {2, 2}, F{5, 14, 14, 50});
  expect_values(matmul(m, v), F{8, 26});
  expect_values(matmul(Tensor::of({1.f, 2.f}), m), F{6, 9, 12});
  expect_scalar(matmul(v, v), 14.f);
  expect_tensor(matmul(counted({2, 1, 2}), counted({2, 1})), {2, 1, 1}, F{1, 3});
  EXPECT_EQ(matmul(zeros({5, 1, 2, 3}), zeros({4, 3, 7})).shape(), (Shape{5, 4, 2, 7}));
  expect_tensor(matmul(Tensor::of({1, 2}).reshape({1, 2}), Tensor::of({3, 4}).reshape({2, 1})),
                {1, 1}, I{11});
  expect_tensor(matmul(zeros({4, 0}), zeros({0, 4})), {4, 4}, F(16, 0.f));
  EXPECT_EQ(matmul(zeros({0, 3}), zeros({3, 2})).shape(), (Shape{0, 2}));
  expect_error<ShapeError>([&] { return matmul(m, m); }, {"[2,3]"});
  expect_error<ShapeError>([&] { return matmul(m, Tensor::of({1.f})); }, {"f32[2,3]", "f32[1]"});
  expect_error<ShapeError>([&] { return matmul(m, Tensor::scalar(2.f)); }, {"f32[]", "rank 0"});
}

// Sizes around the tiles of the micro-kernel, against a loop.
TEST(Matmul, MatchesALoop) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1}, {7, 13, 17}, {64, 33, 65}}) {
    const Tensor a = (counted({m, k}) % 7) - 3;
    const Tensor b = (counted({k, n}) % 5) - 2;
    const F left = a.to_vector<float>();
    const F right = b.to_vector<float>();
    F expected(static_cast<size_t>(m * n), 0.f);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t p = 0; p < k; ++p) expected[i * n + j] += left[i * k + p] * right[p * n + j];
      }
    }
    expect_tensor(matmul(a, b), {m, n}, expected);
  }
}

TEST(Indexing, Gather) {
  const Tensor x = counted({3, 2});
  expect_tensor(gather(x, Tensor::of({2, 0, -1})), {3, 2}, F{4, 5, 0, 1, 4, 5});
  expect_tensor(take(x, Tensor::of({1}), 1), {3, 1}, F{1, 3, 5});
  expect_error<DTypeError>([&] { return gather(x, Tensor::of({1.f})); }, {"f32[1]"});
  const Tensor bad = gather(x, Tensor::of({0, 3}));
  expect_error<IndexError>([&] { return bad.to_vector<float>(); }, {"3"});
  expect_tensor(gather(x, Tensor::of({1})), {1, 2}, F{2, 3});
}

TEST(Indexing, OneHot) {
  expect_tensor(one_hot(Tensor::of({1, 0, 5}), 3), {3, 3}, F{0, 1, 0, 1, 0, 0, 0, 0, 0});
  EXPECT_EQ(one_hot(Tensor::of<uint8_t>({1}), 2, DType::I32).dtype(), DType::I32);
  expect_error<DTypeError>([] { return one_hot(Tensor::of({1.f}), 2); }, {"f32[1]"});
}

TEST(Classification, SoftmaxRows) {
  expect_values(softmax(Tensor::of({-kInf, 0.f, -kInf})), F{0, 1, 0});
  const Tensor two = Tensor::of({-kInf, -kInf, 1.f, 1.f}).reshape({2, 2});
  expect_tensor(softmax(two), {2, 2}, F{kNaN, kNaN, 0.5f, 0.5f});
  expect_scalar(logsumexp(Tensor::of({-kInf, -kInf})), -kInf);
  expect_scalar(logsumexp(Tensor::of({kInf, 1.f})), kInf);
  expect_near(log_softmax(Tensor::of({1.f, 2.f})), {2}, F{-1.3132616f, -0.3132617f}, 1e-6);
  expect_near(softmax(Tensor::of({1000.f, 1000.f}), 0), {2}, F{0.5f, 0.5f}, 1e-6);
}

TEST(Classification, CrossEntropy) {
  const Tensor logits = Tensor::of({1.f, 2.f, 3.f, 1.f, 1.f, 1.f}).reshape({2, 3});
  const Tensor loss = cross_entropy(logits, Tensor::of({2, 0}));
  EXPECT_EQ(loss.shape(), Shape{});
  EXPECT_NEAR(loss.item<float>(), (0.40760596 + 1.0986123) / 2, 1e-6);
  EXPECT_EQ(cross_entropy(logits, Tensor::of<uint8_t>({2, 0})).item<float>(), loss.item<float>());
  expect_error<DTypeError>([&] { return cross_entropy(logits, zeros({2})); }, {"f32[2]"});
  expect_near(cross_entropy(logits, Tensor::of({2, 0}), LossReduction::None), {2},
              F{0.40760596f, 1.0986123f}, 1e-6);
  expect_near(cross_entropy(logits, Tensor::of({2, 0}), LossReduction::Sum), {}, F{1.5062182f},
              1e-6);
  const Tensor bad = cross_entropy(logits, Tensor::of({2, 3}));
  expect_error<IndexError>([&] { return bad.item<float>(); }, {"3"});
  expect_error<ShapeError>([&] { return cross_entropy(logits, Tensor::of({1})); }, {"2", "1"});
}

TEST(Creation, FilledAndCounted) {
  expect_tensor(full({2}, 7), {2}, L{7, 7});
  expect_tensor(full({2}, 0.5, DType::F64), {2}, std::vector<double>{0.5, 0.5});
  expect_values(zeros_like(Tensor::of({1, 2})), I{0, 0});
  expect_values(arange(3), L{0, 1, 2});
  expect_values(arange(5, 1, -2), L{5, 3});
  expect_values(arange(0.5), F{0});
  expect_values(arange(0, 1, 0.25), F{0, 0.25f, 0.5f, 0.75f});
  expect_values(arange(3, 3), L{});
  expect_values(arange(0, 3, 1, DType::U8), std::vector<uint8_t>{0, 1, 2});
  expect_tensor(eye(2, 3), {2, 3}, F{1, 0, 0, 0, 1, 0});
  expect_values(stored_zeros({DType::F32, {3}}), F{0, 0, 0});
  expect_error<Error>([] { return arange(0, 1, 0); }, {"step of 0"});
}

TEST(Random, SeedFixesTheStream) {
  set_seed(7);
  const F first = rand({1000}).to_vector<float>();
  const F second = rand({1000}).to_vector<float>();
  EXPECT_NE(first, second);
  set_seed(7);
  const Tensor unused = rand({1000});  // reserves its counters whether or not it is computed
  EXPECT_EQ(rand({1000}).to_vector<float>(), second);
  EXPECT_EQ(unused.to_vector<float>(), first);
  set_seed(8);
  EXPECT_NE(rand({1000}).to_vector<float>(), first);
  for (const float x : first) {
    EXPECT_GE(x, 0.f);
    EXPECT_LT(x, 1.f);
  }
}

TEST(Random, HasItsMoments) {
  set_seed(1);
  const F normal = randn({20000}).to_vector<float>();
  double total = 0, squares = 0;
  for (const float x : normal) {
    total += x;
    squares += double{x} * x;
  }
  EXPECT_NEAR(total / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
  const F flat = uniform({20000}, -2, 6).to_vector<float>();
  EXPECT_NEAR(std::accumulate(flat.begin(), flat.end(), 0.0) / 20000, 2, 0.1);
}

TEST(Random, Integers) {
  set_seed(1);
  std::vector<int> seen(5);
  for (const int64_t x : randint({1000}, -2, 3).to_vector<int64_t>()) {
    ASSERT_GE(x, -2);
    ASSERT_LT(x, 3);
    ++seen[static_cast<size_t>(x + 2)];
  }
  for (const int count : seen) EXPECT_GT(count, 120);
  for (const int64_t x : randint({100}, INT64_MIN, INT64_MAX).to_vector<int64_t>()) {
    EXPECT_LT(x, INT64_MAX);
  }
  expect_error<Error>([] { return randint({1}, 3, 3); }, {"3"});
}

TEST(Bool, HasMagnitudesAndProducts) {
  const Tensor a = Tensor::of(std::vector<bool>{true, false, true, false, false, false}, {2, 3});
  const Tensor b = Tensor::of(std::vector<bool>{false, true, true, true, true, false}, {3, 2});
  expect_tensor(matmul(a, b).cast(DType::I32), {2, 2}, std::vector<int32_t>{1, 1, 0, 0});
  EXPECT_EQ(matmul(a, b).dtype(), DType::Bool);
  EXPECT_EQ(relu(a).to_vector<bool>(), a.to_vector<bool>());
  EXPECT_EQ(abs(a).to_vector<bool>(), a.to_vector<bool>());
}

}  // namespace
}  // namespace reprise
