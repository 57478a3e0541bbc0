// Reading and writing by indices and masks: values, repeated indices, gradients, errors.
#include <gtest/gtest.h>

#include <limits>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;

Tensor counted(const Shape& shape) {
  return reshape(cast(arange(shape.numel()), DType::F32),
                 std::span<const int64_t>(shape.begin(), shape.end()));
}
Tensor matrix(const std::vector<int64_t>& values, int64_t rows) {
  return reshape(Tensor::of(values), {rows, -1});
}

TEST(Indexing, AddsAtRepeatedIndices) {
  const Tensor x = ones({3, 2});
  const Tensor i = Tensor::of({2, 0, 2, -1});
  expect_tensor(index_add(x, i, counted({4, 2})), {3, 2}, F{3, 4, 1, 1, 11, 14});
  expect_tensor(index_add(x, i, Tensor::of({1.f, 10.f})), {3, 2}, F{2, 11, 1, 1, 4, 31});
  expect_tensor(index_add(transpose(x, 0, 1), i, ones({2, 4}), 1), {2, 3}, F{2, 1, 4, 2, 1, 4});
  expect_tensor(index_add(x, reshape(i, {2, 2}), ones({2, 2, 2})), {3, 2}, F{2, 2, 1, 1, 4, 4});
  expect_tensor(index_add(x, Tensor::of(I{}), ones({0, 2})), {3, 2}, F(6, 1));
  // Half types add up in f32: each one alone would round away.
  const Tensor small = full({512}, 0.125, DType::BF16);
  const Tensor sums = index_add(full({1}, 32, DType::BF16), zeros({512}, DType::I64), small);
  expect_values(cast(sums, DType::F32), F{96});
  expect_error<DTypeError>([&] { return index_add(x, ones({2}), x); }, {"f32[2]"});
  expect_error<ShapeError>([&] { return index_add(x, i, ones({3, 2})); }, {"[3,2]", "[4,2]"});
}

TEST(Indexing, AddsInOneOrder) {
  // (2^24 + 1) + 1 stays, 1 + 1 + 2^24 does not.
  const float big = 16777216;
  const Tensor i = zeros({3}, DType::I64);
  expect_values(index_add(zeros({1}), i, Tensor::of({big, 1.f, 1.f})), F{big});
  expect_values(index_add(zeros({1}), i, Tensor::of({1.f, 1.f, big})), F{big + 2});
}

TEST(Indexing, PutsTheLast) {
  const Tensor i = Tensor::of({2, 0, 2, -1});
  expect_tensor(index_put(ones({3, 2}), i, counted({4, 2})), {3, 2}, F{2, 3, 1, 1, 6, 7});
  expect_tensor(index_put(zeros({3}, DType::Bool), Tensor::of({1}), ones({1}, DType::Bool)), {3},
                std::vector<bool>{false, true, false});
}

TEST(Indexing, OneIndexForEachElement) {
  const Tensor x = counted({3, 4});
  expect_tensor(take_along_axis(x, matrix({0, -1, 2, 2, 3, 1}, 3)), {3, 2}, F{0, 3, 6, 6, 11, 9});
  expect_tensor(take_along_axis(x, matrix({2, 0, 1, 2}, 1), 0), {1, 4}, F{8, 1, 6, 11});
  expect_tensor(take_along_axis(x, matrix({1, 2}, 2), 0), {2, 4}, F{4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor order = argmax(x, 1, KeepDims::Yes);
  expect_tensor(take_along_axis(x, order), {3, 1}, F{3, 7, 11});

  const Tensor at = matrix({1, 1, 0, -1}, 2);
  expect_tensor(scatter_add(zeros({2, 3}), at, counted({2, 2}), 1), {2, 3}, F{0, 1, 0, 2, 0, 3});
  expect_tensor(scatter(ones({2, 3}), at, counted({2, 2}), 1), {2, 3}, F{1, 1, 1, 2, 1, 3});
  // Indices may cover less than x along other axes.
  expect_tensor(scatter(zeros({2, 3}), matrix({1, 0}, 1), ones({1, 2}), 0), {2, 3},
                F{0, 1, 0, 1, 0, 0});
  expect_error<ShapeError>([&] { return scatter(zeros({2, 3}), at, ones({2, 1})); }, {"[2,1]"});
  expect_error<ShapeError>([&] { return take_along_axis(x, Tensor::of({1})); }, {"rank 1"});
  expect_error<ShapeError>([&] { return scatter(zeros({1, 3}), at, ones({2, 2})); }, {"axis 0"});
}

TEST(Indexing, OutOfRangeIsToldToWhoReads) {
  const Tensor x = zeros({3, 2});
  const Tensor bad = index_add(x, Tensor::of({0, 3}), ones({2, 2}));
  const Tensor good = index_add(x, Tensor::of({0, 2}), ones({2, 2}));
  expect_error<IndexError>([&] { return bad.to_vector<float>(); }, {"index 3 ", "extent 3"});
  expect_tensor(good, {3, 2}, F{1, 1, 0, 0, 1, 1});
  expect_error<IndexError>(
      [&] {
        return take_along_axis(x, matrix({0, -3, 1, 0, 0, 0}, 3)).to_vector<float>();
      },
      {"index -3 ", "extent 2"});
  expect_error<IndexError>(
      [&] {
        return index_add(zeros({0, 2}), Tensor::of({0}), ones({1, 2}));
      },
      {"[0,2]"});
}

TEST(Indexing, Gradients) {
  const Tensor table = counted({4, 2});
  const Tensor tokens = matrix({3, 0, 3, 1}, 2);
  {
    Tape tape;
    const Tensor weights = counted({2, 2, 2});
    const Tensor y = sum(embedding(tokens, table) * weights);
    expect_tensor(tape.gradient(y, {table})[0], {4, 2}, F{2, 3, 6, 7, 0, 0, 4, 6});
  }
  // A NaN stays in the row it came from.
  {
    Tape tape;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor weights = reshape(Tensor::of({1.f, nan, 1.f, 1.f}), {4, 1});
    const Tensor y = sum(gather(table, flatten(tokens)) * weights);
    expect_tensor(tape.gradient(y, {table})[0], {4, 2}, F{nan, nan, 1, 1, 0, 0, 2, 2});
  }
  // What is overwritten has no influence.
  {
    Tape tape;
    const Tensor updates = counted({3, 2});
    const Tensor y = sum(index_put(table, Tensor::of({1, 2, 1}), updates) * (counted({4, 2}) + 1));
    const std::vector<Tensor> g = tape.gradient(y, {table, updates});
    expect_tensor(g[0], {4, 2}, F{1, 2, 0, 0, 0, 0, 7, 8});
    expect_tensor(g[1], {3, 2}, F{0, 0, 5, 6, 3, 4});
  }
}

TEST(Indexing, FillsWhereAMaskHolds) {
  const Tensor x = counted({2, 3});
  expect_tensor(masked_fill(x, Tensor::of({true, false, true}), -1), {2, 3},
                F{-1, 1, -1, -1, 4, -1});
  expect_tensor(masked_fill(x, x > 3, -std::numeric_limits<float>::infinity()), {2, 3},
                F{0, 1, 2, 3, -std::numeric_limits<float>::infinity(),
                  -std::numeric_limits<float>::infinity()});
  expect_error<DTypeError>([&] { return masked_fill(x, x, 0); }, {"f32[2,3]"});
  expect_error<ShapeError>(
      [&] {
        return masked_fill(x, ones({4, 2, 3}, DType::Bool), 0);
      },
      {"[2,3]"});
}

TEST(Indexing, SetsSlices) {
  const Tensor x = counted({3, 4});
  expect_tensor(set_slice(x, {1}, -1), {3, 4}, F{0, 1, 2, 3, -1, -1, -1, -1, 8, 9, 10, 11});
  expect_tensor(set_slice(x, {Range{}, -1}, Tensor::of({-1.f, -2.f, -3.f})), {3, 4},
                F{0, 1, 2, -1, 4, 5, 6, -2, 8, 9, 10, -3});
  expect_tensor(set_slice(x, {Range{0, 3, 2}, Range{1, 4, 2}}, -1), {3, 4},
                F{0, -1, 2, -1, 4, 5, 6, 7, 8, -1, 10, -1});
  expect_tensor(set_slice(counted({5}), {Range{3, Range::kOpen, -2}}, Tensor::of({-1.f, -2.f})),
                {5}, F{0, -2, 2, -1, 4});
  expect_values(set_slice(counted({3}), {Range{2, 1}}, 9), F{0, 1, 2});
  expect_values(set_slice(counted({3}), {Range{}}, 9), F{9, 9, 9});
  expect_values(set_slice(arange(3), {0}, 7), I{7, 1, 2});
  expect_error<IndexError>([&] { return set_slice(x, {3}, 0); }, {"3"});
  expect_error<DTypeError>([&] { return set_slice(arange(3), {0}, 2.5); }, {"2.5"});
  expect_error<DTypeError>([&] { return set_slice(arange(3), {0}, ones({})); }, {"f32"});
}

TEST(Indexing, SearchesSorted) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor sorted = Tensor::of({1.f, 2.f, 2.f, 5.f, nan});
  const Tensor values = Tensor::of({0.f, 2.f, 3.f, 9.f, nan});
  expect_values(searchsorted(sorted, values), I{0, 1, 3, 4, 4});
  expect_values(searchsorted(sorted, values, InsertAt::Right), I{0, 3, 3, 4, 5});
  expect_tensor(searchsorted(arange(5), matrix({3, 7}, 1)), {1, 2}, I{3, 5});
  expect_scalar(searchsorted(zeros({0}), full({}, 1.0)), int64_t{0});
}

TEST(Indexing, Folds) {
  const Tensor x = Tensor::of({10.f, 20.f, 30.f});
  const Tensor i = Tensor::of({0, 2, 0}), updates = Tensor::of({3.f, 50.f, 4.f});
  const auto folded = [&](ScatterReduce reduce, bool with_own) {
    return scatter_reduce(x, i, updates, reduce, 0, with_own);
  };
  expect_values(folded(ScatterReduce::Sum, true), F{17, 20, 80});
  expect_values(folded(ScatterReduce::Sum, false), F{7, 20, 50});
  expect_values(folded(ScatterReduce::Prod, true), F{120, 20, 1500});
  expect_values(folded(ScatterReduce::Prod, false), F{12, 20, 50});
  expect_values(folded(ScatterReduce::Mean, false), F{3.5, 20, 50});
  expect_values(folded(ScatterReduce::Max, true), F{10, 20, 50});
  expect_values(folded(ScatterReduce::Max, false), F{4, 20, 50});
  expect_values(folded(ScatterReduce::Min, true), F{3, 20, 30});
  expect_values(folded(ScatterReduce::Min, false), F{3, 20, 50});
  const Tensor low = scatter_reduce(Tensor::of(I{7}), Tensor::of(I{0}), Tensor::of(I{-5}),
                                    ScatterReduce::Max, 0, false);
  expect_values(low, I{-5});
}

TEST(Indexing, FoldedGradients) {
  const Tape tape;
  const Tensor x = Tensor::of({2.0, 4.0, 0.0}), updates = Tensor::of({4.0, 0.0, 3.0});
  const Tensor i = Tensor::of({1, 2, 0});
  const std::vector<Tensor> tied =
      tape.gradient(sum(scatter_reduce(x, i, updates, ScatterReduce::Max, 0)), {x, updates});
  expect_values(tied[0], std::vector<double>{0, 0.5, 0.5});
  expect_values(tied[1], std::vector<double>{0.5, 0.5, 1});
  const std::vector<Tensor> products =
      tape.gradient(sum(scatter_reduce(x, i, updates, ScatterReduce::Prod, 0)), {x, updates});
  expect_values(products[0], std::vector<double>{3, 4, 0});
  expect_values(products[1], std::vector<double>{4, 0, 2});
}

TEST(Indexing, Finds) {
  const Tensor x = reshape(Tensor::of({0.f, 3.f, 0.f, -1.f, 0.f, 2.f}), {2, 3});
  const std::vector<Tensor> places = nonzero(x);
  expect_values(places[0], I{0, 1, 1});
  expect_values(places[1], I{1, 0, 2});
  expect_values(masked_select(x, x > 0), F{3, 2});
  expect_values(masked_select(x, Tensor::of({false, false, true})), F{0, 2});
  expect_values(masked_select(x, x > 9), F{});
  EXPECT_TRUE(nonzero(full({}, 1)).empty());
  expect_error<DTypeError>([&] { return masked_select(x, x); }, {"bool", "f32[2,3]"});
}

TEST(Indexing, SearchesAmongMany) {
  const Tensor sorted = cast(arange(0, 2000, 2), DType::F32);
  const Tensor wanted = Tensor::of({-1.f, 0.f, 1.f, 2.f, 1997.f, 1998.f, 1999.f});
  expect_values(searchsorted(sorted, wanted), I{0, 0, 1, 1, 999, 999, 1000});
  expect_values(searchsorted(sorted, wanted, InsertAt::Right), I{0, 1, 1, 2, 999, 1000, 1000});
  const Tensor edges = Tensor::of({1.f, 3.f, 5.f});
  const Tensor values = Tensor::of({0.f, 1.f, 2.f, 5.f, 9.f});
  expect_values(bucketize(values, edges), I{0, 0, 1, 2, 3});
  expect_values(bucketize(values, edges, ClosedAt::Low), I{0, 1, 1, 3, 3});
}

}  // namespace
}  // namespace reprise
