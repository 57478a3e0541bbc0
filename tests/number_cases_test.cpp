// Small inputs where numbers go wrong in systems like this one, each in every mode: integers,
// casts, signs and special values, reductions of them.
#include <limits>
#include <numeric>

#include "every_mode.h"
#include "expect_tensor.h"

namespace reprise {
namespace {

using F = std::vector<float>;
constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};

Tensor integers(std::initializer_list<int64_t> values, DType dtype) {
  return Tensor::of(values).cast(dtype);
}
Tensor floats(std::initializer_list<float> values, DType dtype = DType::F32) {
  return Tensor::of(values).cast(dtype);
}
Tensor bools(const std::vector<bool>& values) {
  return Tensor::of(values);
}
int64_t least(DType dtype) {
  return static_cast<int64_t>(~uint64_t{0} << (8 * size_of(dtype) - 1));
}

TEST(Int01, FloorDivisionAndRemainderOfNegatives) {
  for (const DType dtype : kSigned) {
    const Tensor a = integers({-7, 7, -7, 7, -8, 8, 0}, dtype);
    const Tensor b = integers({2, -2, -2, 2, 3, -3, -5}, dtype);
    expect_elementwise([](auto x) { return floor_divide(x[0], x[1]); }, {a, b},
                       integers({-4, -4, 3, 3, -3, -3, 0}, dtype));
    expect_elementwise([](auto x) { return x[0] % x[1]; }, {a, b},
                       integers({1, -1, -1, 1, 1, -1, 0}, dtype));
    expect_elementwise([](auto x) { return floor_divide(x[0], x[1]) * x[1] + x[0] % x[1]; }, {a, b},
                       a);
  }
}

// The quotient has more digits than a float: what one division leaves is nothing like the
// remainder.
TEST(Float, RemaindersOfLargeQuotients) {
  const auto remainder = [](auto x) { return x[0] % x[1]; };
  expect_elementwise(remainder,
                     {floats({1e+30f, -1e+30f, 1e+30f, 3e+38f, 16777216.0f, 10000000000.0f, 1.0f,
                              -1.0f, 7.0f, 1e+30f, 5.0f, -5.0f, 0.0f, 1.0f}),
                      floats({7.0f, 7.0f, -7.0f, 1e-45f, 3.0f, 0.1f, 1e-30f, 1e-30f, kInf, 0.0f,
                              -kInf, kInf, -2.0f, kNaN})},
                     floats({1.0f, 6.0f, -6.0f, 0.0f, 1.0f, 0x1.6a0beep-4f, 0x1.d7fc8p-101f,
                             0x1.621ap-102f, 7.0f, kNaN, -kInf, kInf, -0.0f, kNaN}));
  expect_elementwise(
      remainder,
      {Tensor::of({1e+300, -1e+300, 1e+300, 5e-324, 9007199254740992.0, 1e+308, -0.0}),
       Tensor::of({7.0, 7.0, 1e-05, 1e-323, 3.0, 1.5e-323, 7.0})},
      Tensor::of({1.0, 6.0, 0x1.9c99d483af53ep-18, 0x0.0000000000001p-1022, 2.0,
                  0x0.0000000000002p-1022, 0.0}));
  // The quotient of the largest f16 and the least has 40 digits.
  expect_elementwise(remainder,
                     {floats({65504.0f, -65504.0f, 65504.0f}, DType::F16),
                      floats({1.8e-07f, 0.0999756f, -3e-05f}, DType::F16)},
                     floats({0x1p-23f, 0x1p-8f, -0x1.88p-19f}, DType::F16));
  expect_elementwise(
      remainder,
      {floats({3e+38f, -3e+38f, 1e+30f}, DType::BF16), floats({7.0f, 7.0f, -1e-40f}, DType::BF16)},
      floats({2.0f, 5.0f, -0.0f}, DType::BF16));
  const auto quotient = [](auto x) { return floor_divide(x[0], x[1]); };
  expect_elementwise(
      quotient,
      {floats({1e+30f, 7.0f, -7.0f, kInf, 5.0f, -5.0f, -0.0f, -1.0f, 1.0f}),
       floats({3.0f, 0.0f, 0.0f, 3.0f, kInf, kInf, 3.0f, 1e-30f, -3e+38f})},
      floats({0x1.0d43b8p+98f, kInf, -kInf, kInf, 0.0f, -1.0f, -0.0f, -0x1.93e594p+99f, -1.0f}));
  expect_elementwise(quotient,
                     {Tensor::of({1e+300, -1e-300, 1.0, -5.0, 9007199254740994.0}),
                      Tensor::of({3.0, 1e+300, 0.1, -1.7e+308, -1.0})},
                     Tensor::of({0x1.fdafb60009cdp+994, -1.0, 9.0, 0.0, -0x1.0000000000001p+53}));
}

TEST(Int04, TheLeastNumberHasNoOpposite) {
  for (const DType dtype : kSigned) {
    const Tensor x = integers({least(dtype)}, dtype);
    const Tensor minus = integers({-1}, dtype);
    const Tensor zero = integers({0}, dtype);
    expect_elementwise([](auto v) { return floor_divide(v[0], v[1]); }, {x, minus}, x);
    expect_elementwise([](auto v) { return floor_divide(v[0], -1); }, {x}, x);
    expect_elementwise([](auto v) { return v[0] % v[1]; }, {x, minus}, zero);
    expect_elementwise([](auto v) { return v[0] % -1; }, {x}, zero);
    expect_elementwise([](auto v) { return -v[0]; }, {x}, x);
    expect_elementwise([](auto v) { return abs(v[0]); }, {x}, x);
    expect_elementwise([](auto v) { return floor_divide(v[0], v[1]); }, {x, zero}, zero);
    expect_elementwise([](auto v) { return v[0] % v[1]; }, {x, zero}, zero);
  }
}

TEST(Int05, ArithmeticWraps) {
  const auto u8 = [](std::initializer_list<int64_t> v) { return integers(v, DType::U8); };
  const auto i8 = [](std::initializer_list<int64_t> v) { return integers(v, DType::I8); };
  expect_elementwise([](auto x) { return x[0] - x[1]; },
                     {u8({5, 200, 250, 0}), u8({10, 100, 10, 50})}, u8({251, 100, 240, 206}));
  expect_elementwise([](auto x) { return x[0] + x[1]; }, {i8({100, 127, -128}), i8({100, 1, -1})},
                     i8({-56, -128, 127}));
  expect_elementwise([](auto x) { return x[0] * x[1]; }, {i8({16, -16, 127}), i8({16, 8, 127})},
                     i8({0, -128, 1}));
  // Nothing in between is wider than it says.
  expect_elementwise([](auto x) { return floor_divide(x[0] + x[1], 2); }, {u8({200}), u8({100})},
                     u8({22}));
  expect_elementwise([](auto x) { return x[0] + 1; }, {Tensor::of({INT64_MAX})},
                     Tensor::of({INT64_MIN}));
}

TEST(Int07, FoldingWrapsAsRunningDoes) {
  const auto product = [](auto x) { return x[0] * x[1]; };
  expect_elementwise(product,
                     {Tensor::of({int64_t{3037000500}}), Tensor::of({int64_t{3037000500}})},
                     Tensor::of({int64_t{-9223372036709301616}}));
  expect_elementwise(product, {Tensor::of({int64_t{1} << 52}), Tensor::of({int64_t{1} << 11})},
                     Tensor::of({INT64_MIN}));
  expect_elementwise([](auto x) { return x[0] * 2; }, {Tensor::of({int64_t{1} << 62})},
                     Tensor::of({INT64_MIN}));
  expect_elementwise([](auto x) { return x[0] + x[1]; }, {Tensor::of({INT32_MAX}), Tensor::of({1})},
                     Tensor::of({INT32_MIN}));
}

TEST(Cast01, FloatsToIntegersSaturate) {
  const Tensor x =
      floats({kNaN, kInf, -kInf, 3e9f, -3e9f, 2147483648.0f, -2147483648.0f, 2147483520.0f, -0.9f});
  expect_elementwise([](auto v) { return v[0].cast(DType::I32); }, {x},
                     Tensor::of({0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX,
                                 INT32_MIN, 2147483520, 0}));
  const Tensor edges = floats({kNaN, kInf, -kInf, 0x1p63f, -0x1p63f, 1e30f});
  expect_elementwise(
      [](auto v) { return v[0].cast(DType::I64); }, {edges},
      Tensor::of({int64_t{0}, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX}));
  const Tensor small = floats({kNaN, kInf, -kInf, 300, -300, -1, 127.9f, 255.9f});
  expect_elementwise([](auto v) { return v[0].cast(DType::I8); }, {small},
                     integers({0, 127, -128, 127, -128, -1, 127, 127}, DType::I8));
  expect_elementwise([](auto v) { return v[0].cast(DType::U8); }, {small},
                     integers({0, 255, 0, 255, 0, 0, 127, 255}, DType::U8));
}

TEST(Cast04, RoundingToHalfIsReal) {
  const auto back = [](auto x) { return x[0].cast(DType::F16).cast(DType::F32); };
  expect_elementwise(
      back, {floats({65504, 65519, 65520, 65536, -65520, 1e-8f, 5.9604645e-8f, 2.9802322e-8f})},
      floats({65504, 65504, kInf, kInf, -kInf, 0, 5.9604645e-8f, 0}));
  expect_elementwise(back, {floats({65536, 1.0004883f})}, floats({kInf, 1}));
}

TEST(Cast06, RoundingToBfloat16KeepsNaN) {
  const auto back = [](auto x) { return x[0].cast(DType::BF16).cast(DType::F32); };
  const float quiet = std::bit_cast<float>(0x7f800001u);
  const float full = std::bit_cast<float>(0x7fffffffu);
  expect_in_every_mode(
      back, {floats({0.26914087f, 1.00390625f, 1.01171875f, 3.4028235e38f, quiet, full})},
      floats({0.26953125f, 1, 1.015625f, kInf, kNaN, kNaN}));
}

TEST(Fp01, MaximumAndMinimumKeepNaN) {
  const Tensor a = floats({kNaN, 1, kNaN, 2, -0.0f});
  const Tensor b = floats({1, kNaN, kNaN, 3, -0.0f});
  for (const DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const std::vector<Tensor> inputs{a.cast(dtype), b.cast(dtype)};
    expect_elementwise([](auto x) { return maximum(x[0], x[1]); }, inputs,
                       floats({kNaN, kNaN, kNaN, 3, -0.0f}, dtype));
    expect_elementwise([](auto x) { return minimum(x[0], x[1]); }, inputs,
                       floats({kNaN, kNaN, kNaN, 2, -0.0f}, dtype));
  }
}

/// Row r has a NaN at r: every place in a row of every length.
TEST(Fp01, ReductionsFindNaNInAnyLane) {
  for (int64_t n = 1; n <= 67; ++n) {
    const Tensor x = where(eye(n) == 1, kNaN, ones({n, n}));
    realize(std::vector{x});
    for (const int64_t axis : {0, 1}) {
      expect_same(max(x, axis), full({n}, kNaN, DType::F32));
      expect_same(min(x, axis), full({n}, kNaN, DType::F32));
    }
  }
}

TEST(Fp02, ArgmaxFindsTheFirst) {
  const auto argmax_of = [](std::initializer_list<float> x, int64_t expected) {
    expect_in_every_mode([](auto v) { return argmax(v[0]); }, {floats(x)},
                         Tensor::scalar(expected, DType::I64));
  };
  argmax_of({kNaN, 4.6151f}, 0);
  argmax_of({1, kNaN, 3, kNaN}, 1);
  argmax_of({3, 1, 3}, 0);
  argmax_of({kNaN, kNaN}, 0);
  argmax_of({-kInf, -kInf}, 0);
  expect_in_every_mode([](auto v) { return argmin(v[0]); }, {floats({1, kNaN, 3})},
                       Tensor::scalar(1, DType::I64));
  F far(100000, 0);
  far[7] = far[99993] = 5;
  expect_in_every_mode([](auto v) { return argmax(v[0]); }, {Tensor::of(far)},
                       Tensor::scalar(7, DType::I64));
}

TEST(Fp04, NoIdentityEatsSpecialValues) {
  const Tensor x = floats({1, kInf, kNaN, -2, 0.0f, -0.0f});
  const Tensor zero = zeros_like(x);
  expect_elementwise([](auto v) { return v[0] * 0; }, {x},
                     floats({0, kNaN, kNaN, -0.0f, 0, -0.0f}));
  expect_elementwise([](auto v) { return v[0] * v[1]; }, {x, zero},
                     floats({0, kNaN, kNaN, -0.0f, 0, -0.0f}));
  expect_elementwise([](auto v) { return v[0] - v[0]; }, {x}, floats({0, kNaN, kNaN, 0, 0, 0}));
  expect_elementwise([](auto v) { return v[0] / v[0]; }, {x},
                     floats({1, kNaN, kNaN, 1, kNaN, kNaN}));
  expect_elementwise([](auto v) { return 0 / v[0]; }, {x}, floats({0, 0, kNaN, -0.0f, kNaN, kNaN}));
  expect_elementwise([](auto v) { return v[0] + 0; }, {x}, floats({1, kInf, kNaN, -2, 0, 0}));
  expect_elementwise([](auto v) { return pow(v[0], 0); }, {x}, floats({1, 1, 1, 1, 1, 1}));
  expect_elementwise([](auto v) { return isnan(v[0] / v[0]); }, {x},
                     bools({false, true, true, false, true, true}));
}

TEST(Fp06, ZerosKeepTheirSign) {
  expect_elementwise([](auto x) { return 1 / -x[0]; }, {floats({0.0f, -0.0f})},
                     floats({-kInf, kInf}));
  expect_elementwise([](auto x) { return 1 / (ceil(x[0]) + 0.0); }, {floats({-0.5f, -0.1f, -0.9f})},
                     floats({kInf, kInf, kInf}));
  expect_elementwise([](auto x) { return copysign(x[0], x[1]); }, {floats({1}), floats({-0.0f})},
                     floats({-1}));
  expect_elementwise([](auto x) { return sign(x[0]); }, {floats({-0.0f, 0.0f})}, floats({0, 0}));
}

/// So far below zero sigmoid is exp: down to the denormals, and 0 at last. No NaN at either end.
TEST(Fp09, SigmoidKeepsItsSmallValues) {
  const auto function = [](auto x) { return sigmoid(x[0]); };
  const Tensor x = floats({-20, -88.73f, -90, -100, -103, -200, -kInf});
  expect_elementwise(function, {x}, exp(x));
  const Tensor wide = Tensor::of({-40.0, -710.0, -745.0, -800.0});
  expect_elementwise(function, {wide}, exp(wide));
  expect_elementwise(function, {floats({0, 200, kInf, kNaN})}, floats({0.5f, 1, 1, kNaN}));
}

/// Long enough for every thread of the pool.
TEST(Fp09, DenormalsAreNumbers) {
  constexpr int64_t kLength = 1 << 20;
  const auto everywhere = [](const Function1& f, float x, float expected) {
    SCOPED_TRACE(x);
    const Tensor values =
        f(std::vector{full({kLength}, x) + stored_zeros({DType::F32, {kLength}})});
    EXPECT_EQ(min(values).item<float>(), expected);
    EXPECT_EQ(max(values).item<float>(), expected);
  };
  everywhere([](auto x) { return x[0] * 1e10f; }, 1e-40f, 1e-40f * 1e10f);
  everywhere([](auto x) { return x[0] * 1e-10f; }, 1e-30f, 1e-30f * 1e-10f);
  everywhere([](auto x) { return (x[0] == 0).cast(DType::F32); }, 1e-45f, 0);
  everywhere([](auto x) { return sqrt(x[0]); }, 1e-40f, std::sqrt(1e-40f));
  const Tensor logs = log(floats({1e-45f, 1e-40f}));
  expect_near(logs, {2}, F{-103.27893f, -92.10340f}, 1e-6);
}

TEST(Fp11, NothingIsContracted) {
  expect_in_every_mode([](auto v) { return v[0] * v[2] + v[1] * v[2]; },
                       {floats({1e20f}), floats({-1e20f}), floats({1e10f})}, floats({0}));
  expect_elementwise([](auto v) { return v[0] * v[1] - v[0] * v[1]; },
                     {floats({0.1f}), floats({0.3f})}, floats({0}));
}

TEST(Sm02, RowsOfMinusInfinity) {
  const Tensor x = Tensor::of(F{-kInf, 0, -kInf, -kInf, -kInf, -kInf}, {2, 3});
  expect_in_every_mode([](auto v) { return softmax(v[0]); }, {x},
                       Tensor::of(F{0, 1, 0, kNaN, kNaN, kNaN}, {2, 3}));
  expect_in_every_mode([](auto v) { return logsumexp(v[0], 1); }, {x}, floats({0, -kInf}));
  expect_in_every_mode([](auto v) { return logsumexp(v[0]); }, {floats({kInf, 1})},
                       Tensor::scalar(kInf, DType::F32));
  const Tape tape;  // the other row's gradient stays finite
  const Tensor gradient = tape.gradient(sum(softmax(x) * Tensor::of({1.0f, 2.0f, 3.0f})), x);
  expect_tensor(gradient[0], {3}, F{-0.0f, 0, 0});
}

TEST(Red01, AxesOfExtentZero) {
  const Tensor x = zeros({2, 0, 3});
  const auto over = [&](auto reduce, const Tensor& input, int64_t axis, const Tensor& expected) {
    expect_in_every_mode([&](auto v) { return reduce(v[0], axis); }, {input}, expected);
  };
  const auto sums = [](const Tensor& v, int64_t axis) { return sum(v, axis); };
  over(sums, x, 1, zeros({2, 3}));
  over([](const Tensor& v, int64_t axis) { return prod(v, axis); }, x, 1, ones({2, 3}));
  over([](const Tensor& v, int64_t axis) { return mean(v, axis); }, x, 1, full({2, 3}, kNaN));
  over([](const Tensor& v, int64_t axis) { return any(v != 0, axis); }, x, 1,
       zeros({2, 3}, DType::Bool));
  over([](const Tensor& v, int64_t axis) { return all(v != 0, axis); }, x, 1,
       ones({2, 3}, DType::Bool));
  expect_error<ShapeError>([&] { return max(x, 1); }, {"[2,0,3]"});
  expect_error<ShapeError>([&] { return min(x, 1); }, {"[2,0,3]"});
  expect_error<ShapeError>([&] { return argmax(x, 1); }, {"[2,0,3]"});
  over(sums, x, 2, zeros({2, 0}));
  expect_same(sum(x), zeros({}));
  over([](const Tensor& v, int64_t axis) { return max(v, axis); }, zeros({0, 4}), 1, zeros({0}));
  over([](const Tensor& v, int64_t axis) { return max(v, axis); }, zeros({2, 0}), 0, zeros({0}));
}

TEST(Red03, DegreesOfFreedomOfAVariance) {
  const auto variance = [](std::initializer_list<float> x, double correction, float expected) {
    expect_in_every_mode([&](auto v) { return var(v[0], {}, KeepDims::No, correction); },
                         {floats(x)}, Tensor::scalar(expected, DType::F32));
  };
  variance({4}, 0, 0);
  variance({4}, 1, kNaN);
  variance({1, 2}, 2, kInf);
  variance({1, 2}, 3, kInf);
  const Tensor none = zeros({0});
  expect_in_every_mode(
      [](auto v) {
        return std::vector{var(v[0]), mean(v[0])};
      },
      {none}, {Tensor::scalar(kNaN, DType::F32), Tensor::scalar(kNaN, DType::F32)});
}

TEST(Red05, LongSumsStayExact) {
  const auto stored_ones = [](const Shape& shape) {
    Tensor x = stored_zeros({DType::F32, shape}) + 1;
    realize(std::vector{x});
    return x;
  };
  EXPECT_EQ(sum(stored_ones({16777220})).item<float>(), 16777220);
  expect_values(mean(stored_ones({20000000, 2}), 0), F{1, 1});
}

TEST(Red08, SumsOfIntegersAreWide) {
  expect_in_every_mode([](auto v) { return sum(v[0]); }, {full({300}, 255, DType::U8)},
                       Tensor::scalar(76500, DType::U64));
  expect_in_every_mode([](auto v) { return sum(v[0]); }, {full({300}, true)},
                       Tensor::scalar(300, DType::I64));
  expect_in_every_mode([](auto v) { return sum(v[0]); }, {Tensor::of({INT32_MAX, INT32_MAX})},
                       Tensor::scalar(int64_t{4294967294}, DType::I64));
}

TEST(Mm01, ProductsOverNothing) {
  const auto product = [](auto v) { return matmul(v[0], v[1]); };
  expect_in_every_mode(product, {zeros({4, 0}), zeros({0, 4})}, zeros({4, 4}));
  expect_in_every_mode(product, {zeros({0, 3}), zeros({3, 2})}, zeros({0, 2}));
  expect_in_every_mode(product, {zeros({3, 2, 0}), zeros({3, 0, 3})}, zeros({3, 2, 3}));
  const Tensor c = Tensor::of({1.0f, -0.0f, 3.0f, 4.0f}, {2, 2});
  expect_in_every_mode([](auto v) { return v[2] + matmul(v[0], v[1]); },
                       {zeros({2, 0}), zeros({0, 2}), c},
                       Tensor::of({1.0f, 0.0f, 3.0f, 4.0f}, {2, 2}));
}

}  // namespace
}  // namespace reprise
