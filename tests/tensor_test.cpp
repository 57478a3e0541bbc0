// Tensors as handles: construction, reading, weak numbers, promotion, printing, errors.
#include <limits>
#include <sstream>

#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;
constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Tensor, IsFourBytes) {
  EXPECT_EQ(sizeof(Tensor), 4u);
}

TEST(Tensor, CountsItsHandles) {
  const uint64_t before = Runtime::get().stats().live_tensors;
  {
    const Tensor a = Tensor::of({1.f, 2.f});
    EXPECT_EQ(Runtime::get().stats().live_tensors, before + 1);
    Tensor copy = a;
    EXPECT_EQ(Runtime::get().stats().live_tensors, before + 1) << "copies share the binding";
    const Tensor moved = std::move(copy);
    copy = moved;
    copy = *&copy;  // self-assignment keeps the value
    expect_values(copy, F{1, 2});
    const Tensor own = a.value();
    EXPECT_EQ(Runtime::get().stats().live_tensors, before + 2) << "value() is a binding of its own";
  }
  EXPECT_EQ(Runtime::get().stats().live_tensors, before);
}

TEST(Tensor, EmptyHandleThrowsOnUse) {
  const Tensor empty;
  EXPECT_TRUE(empty.empty_handle());
  expect_error<Error>([&] { return empty.shape(); }, {"empty"});
  expect_error<Error>([&] { return empty + 1; }, {"empty"});
  Tensor a = Tensor::of({1.f});
  const Tensor taken = std::move(a);
  expect_error<Error>([&] { return a + taken; }, {"moved from"});
}

TEST(Tensor, HoldsEveryElementType) {
  expect_values(Tensor::of({true, false}), std::vector<bool>{true, false});
  expect_values(Tensor::of(std::vector<bool>{false, true}), std::vector<bool>{false, true});
  expect_values(Tensor::of<int8_t>({-128, 127}), std::vector<int8_t>{-128, 127});
  expect_values(Tensor::of<int16_t>({-5, 5}), std::vector<int16_t>{-5, 5});
  expect_values(Tensor::of({1, 2}), std::vector<int32_t>{1, 2});
  expect_values(Tensor::of<int64_t>({INT64_MIN, 7}), std::vector<int64_t>{INT64_MIN, 7});
  expect_values(Tensor::of<uint64_t>({UINT64_MAX}), std::vector<uint64_t>{UINT64_MAX});
  expect_values(Tensor::of({1.5, kNaN + 0.}), std::vector<double>{1.5, kNaN + 0.});
}

TEST(Tensor, ShapeQueries) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(x.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(x.rank(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.dtype(), DType::F32);
  expect_error<IndexError>([&] { return x.size(3); }, {"3"});
}

TEST(Tensor, CountMustMatchShape) {
  expect_error<ShapeError>(
      [] {
        return Tensor::of(std::vector<int>{1, 2, 3}, {2, 2});
      },
      {"3 elements", "i32[2,2]", "4"});
}

TEST(Tensor, RankIsBounded) {
  expect_error<ShapeError>(
      [] {
        return zeros({1, 1, 1, 1, 1, 1, 1, 1, 1});
      },
      {"rank 9", "kMaxDims=8"});
}

TEST(Tensor, ItemNeedsOneElement) {
  EXPECT_EQ(Tensor::of({3.5f}).item<float>(), 3.5f);
  expect_error<ShapeError>([] { return Tensor::of({1, 2}).item<int>(); }, {"i32[2]", "2 elements"});
}

// Reading converts only where no value can be lost; anything else asks for a cast.
TEST(Tensor, ReadingNeverLosesValues) {
  EXPECT_EQ(Tensor::of({3}).item<int64_t>(), 3);
  EXPECT_EQ(Tensor::of({3}).item<double>(), 3.0);
  EXPECT_EQ(Tensor::of({true}).item<int>(), 1);
  EXPECT_EQ(Tensor::of({0.1f}).item<double>(), double{0.1f});
  EXPECT_EQ(Tensor::scalar(1.5, DType::F16).item<float>(), 1.5f);
  EXPECT_EQ(Tensor::scalar(-2.5, DType::BF16).item<double>(), -2.5);
  expect_error<DTypeError>([] { return Tensor::of({0.1}).item<float>(); }, {"f64[1]", "f32"});
  expect_error<DTypeError>([] { return Tensor::of({3}).item<uint64_t>(); }, {"i32[1]", "u64"});
  expect_error<DTypeError>([] { return Tensor::of({3}).item<float>(); }, {"i32[1]", "f32"});
}

TEST(WeakNumber, FollowsTheTensor) {
  expect_values(Tensor::of<uint8_t>({1, 255}) + 1, std::vector<uint8_t>{2, 0});
  expect_values(Tensor::of({1, 2}) * 3, std::vector<int32_t>{3, 6});
  expect_values(Tensor::of({1.f}) + 1, F{2});
  expect_values(Tensor::of({1, -3}) * 2.5, F{2.5f, -7.5f});
  expect_values(Tensor::of<int64_t>({2}) * 0.5, F{1});
  expect_values(Tensor::of({true, false}) + 2, std::vector<int64_t>{3, 2});
  expect_values(Tensor::of({1, 0}) + true, std::vector<int32_t>{2, 1});
  EXPECT_EQ((Tensor::scalar(1, DType::F16) * 2.0).dtype(), DType::F16);
  EXPECT_EQ((Tensor::scalar(1, DType::BF16) + 10).dtype(), DType::BF16);
  EXPECT_EQ(Tensor::scalar(7).dtype(), DType::I64);
  EXPECT_EQ(Tensor::scalar(7.5).dtype(), DType::F32);
  EXPECT_EQ(Tensor::scalar(true).dtype(), DType::Bool);
  EXPECT_EQ(Tensor::scalar(UINT64_MAX).dtype(), DType::U64);
}

TEST(WeakNumber, KeepsItsExactValue) {
  expect_values(Tensor::of({1.0}) * 0.1, std::vector<double>{0.1});
  expect_values(Tensor::of({1.0}) * 0.1f, std::vector<double>{double{0.1f}});
  expect_values(Tensor::of({1.f}) * 0.1, F{0.1f});
  // 2^24 + 1 rounds once, and to even.
  expect_values(Tensor::of({0.f}) + 16777217, F{16777216});
  expect_values(Tensor::of<int64_t>({0}) + INT64_MIN, std::vector<int64_t>{INT64_MIN});
  expect_values(Tensor::of<uint64_t>({0}) + UINT64_MAX, std::vector<uint64_t>{UINT64_MAX});
}

TEST(WeakNumber, ThatDoesNotFitThrows) {
  const Tensor bytes = Tensor::of<uint8_t>({1});
  expect_error<DTypeError>([&] { return bytes + 300; }, {"300", "u8"});
  expect_error<DTypeError>([&] { return 300 + bytes; }, {"300", "u8"});
  expect_error<DTypeError>([&] { return bytes - -1; }, {"-1", "u8"});
  expect_error<DTypeError>([&] { return bytes < 256; }, {"256", "u8"});
  expect_error<DTypeError>([&] { return where(bytes > 0, bytes, 300); }, {"300", "u8"});
  expect_error<DTypeError>([] { return full({2}, 1.5, DType::I32); }, {"1.5", "i32"});
}

TEST(WeakNumber, OnEitherSide) {
  const Tensor x = Tensor::of({1.f, 4.f});
  expect_values(10 - x, F{9, 6});
  expect_values(8 / x, F{8, 2});
  expect_values(2 > x, std::vector<bool>{true, false});
  expect_values(2 == x, std::vector<bool>{false, false});
  expect_values(1 != x, std::vector<bool>{false, true});
}

// Special values go through the same slot and must not specialize it for those that follow.
TEST(WeakNumber, SpecialValuesDoNotSpecialize) {
  const Tensor x = Tensor::of({kInf, 1.f, -1.f});
  const float numbers[] = {2, 1, 0, -0.f, kNaN, kInf, -1};
  const F expected[] = {{kInf, 2, -2},      {kInf, 1, -1},       {kNaN, 0, -0.f}, {kNaN, -0.f, 0},
                        {kNaN, kNaN, kNaN}, {kInf, kInf, -kInf}, {-kInf, -1, 1}};
  for (size_t i = 0; i < std::size(numbers); ++i) expect_values(x * numbers[i], expected[i]);
}

TEST(Promotion, ConvertsTheValues) {
  expect_values(Tensor::of<uint8_t>({255}) + Tensor::of<int8_t>({-1}), std::vector<int16_t>{254});
  expect_values(Tensor::of({true}) + Tensor::of({true}), std::vector<bool>{true});
  expect_values(Tensor::of({1, 2}) < Tensor::of({1.5f, 1.5f}), std::vector<bool>{true, false});
  expect_values(Tensor::of({7, 8}) / Tensor::of({2, 2}), F{3.5f, 4});
  expect_values(Tensor::of({7, -7}) / 2, F{3.5f, -3.5f});
  expect_values(where(Tensor::of({true, false}), Tensor::of({1, 2}), 0.5), F{1, 0.5f});
  expect_values(exp(Tensor::of({0})), F{1});
}

TEST(Operators, CompoundOnesRebindTheHandle) {
  Tensor a = Tensor::of({1.f, 2.f});
  const Tensor copy = a;
  a += 1;
  a *= Tensor::of({2.f, 3.f});
  expect_values(a, F{4, 9});
  expect_values(copy, F{1, 2});
}

TEST(Operators, BitsAndShifts) {
  const Tensor x = Tensor::of({6, -1});
  expect_values(x & 3, std::vector<int32_t>{2, 3});
  expect_values(x | 1, std::vector<int32_t>{7, -1});
  expect_values(x ^ x, std::vector<int32_t>{0, 0});
  expect_values(x << 1, std::vector<int32_t>{12, -2});
  expect_values(x >> 1, std::vector<int32_t>{3, -1});
  expect_values(~x, std::vector<int32_t>{-7, 0});
  expect_values(!Tensor::of({true, false}), std::vector<bool>{false, true});
}

TEST(Printing, LooksLikeNumPy) {
  EXPECT_EQ(to_string(Tensor::of({1, -20, 3})), "[  1, -20,   3] : i32[3]");
  EXPECT_EQ(to_string(Tensor::of({1.f, 0.5f}).reshape({2, 1})), "[[1. ],\n [0.5]] : f32[2,1]");
  EXPECT_EQ(to_string(Tensor::scalar(true)), "true : bool[]");
  EXPECT_EQ(to_string(zeros({0, 3})), "[] : f32[0,3]");
  EXPECT_EQ(to_string(Tensor::of({kNaN, -kInf})), "[ nan, -inf] : f32[2]");
  using D = std::vector<double>;
  const auto text = [](const Tensor& x) {
    const std::string all = to_string(x);
    return all.substr(0, all.rfind(" : "));
  };
  EXPECT_EQ(text(Tensor::of({1e-5, 1.})), "[1.e-05, 1.e+00]");
  EXPECT_EQ(text(Tensor::of({1234.5678, 0.001})), "[1.2345678e+03, 1.0000000e-03]");
  EXPECT_EQ(text(Tensor::of({3.14159265358979, 2.5})), "[3.14159265, 2.5       ]");
  EXPECT_EQ(text(Tensor::of({1e8, HUGE_VAL, -HUGE_VAL})), "[1.e+08,    inf,   -inf]");
  EXPECT_EQ(text(Tensor::of({1.5f, kInf, -2.25f})), "[ 1.5 ,   inf, -2.25]");
  EXPECT_EQ(text(Tensor::of(D{123456789, 1})), "[1.23456789e+08, 1.00000000e+00]");
  EXPECT_EQ(text(Tensor::of({1.f / 3})), "[0.33333334]");
  EXPECT_EQ(text(Tensor::of({0.f, -0.f})), "[ 0., -0.]");
  EXPECT_EQ(text(full({2}, 0.1, DType::F16)), "[0.1, 0.1]");
  EXPECT_EQ(text(full({1}, 0.1, DType::BF16)), "[0.1]");
  EXPECT_EQ(text(arange(30)),
            "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            " 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]");
  std::ostringstream out;
  out << arange(1001);
  EXPECT_EQ(out.str(), "[   0,    1,    2, ...,  998,  999, 1000] : i64[1001]");
  EXPECT_EQ(to_string(arange(8).reshape({2, 2, 2})),
            "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]] : i64[2,2,2]");
}

}  // namespace
}  // namespace reprise
