// Values at the edges of each op's definition, through the reference interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {
namespace {

using D = std::vector<double>;
using F = std::vector<float>;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Records over inputs given with their values, and evaluates.
class Semantics : public testing::Test {
 protected:
  template <class T>
  Value given(const std::vector<T>& values, const Shape& shape) {
    data_.push_back(bytes_of(values));
    return b.input({dtype_of<T>, shape}, static_cast<uint32_t>(data_.size() - 1));
  }
  template <class T>
  Value given(const std::vector<T>& values) {
    return given(values, {static_cast<int64_t>(values.size())});
  }
  template <class T>
  std::vector<T> value_of(Value value) {
    Graph graph = graph_;
    graph.add_output(NodeId{value.index});
    verify(graph);
    return values_of<T>(interpret(graph, data_)[0]);
  }
  /// The gradient of the sum of `y`.
  Value gradient_of(Value y, Value x) {
    const Value seed = b.ones(b.type(y));
    const Value xs[] = {x};
    return gradient(b, y, seed, xs)[0];
  }
  Value sum(Value x) { return b.reduce(Op::Sum, x, (1u << b.shape(x).rank()) - 1, false); }
  template <class T>
  void expect(Value value, const std::vector<T>& wanted) {
    const std::vector<T> got = value_of<T>(value);
    EXPECT_EQ(difference(dtype_of<T>, bytes_of(got), bytes_of(wanted)), "");
  }
  void expect_near(Value value, const std::vector<double>& wanted, double tolerance) {
    const D got = value_of<double>(b.cast(value, DType::F64));
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(wanted[i])) {
        EXPECT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
      } else if (std::isinf(wanted[i])) {
        EXPECT_EQ(got[i], wanted[i]) << i;
      } else {
        EXPECT_NEAR(got[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << i;
      }
    }
  }

  Graph graph_;
  GraphBuilder b{graph_};

 private:
  std::vector<Bytes> data_;
};

TEST_F(Semantics, SignOfZeroAndNaN) {
  expect(b.unary(Op::Sign, given(D{-3, -0.0, 0, 2, kNaN, kInf, -kInf})),
         D{-1, 0, 0, 1, kNaN, 1, -1});
  expect(b.unary(Op::Sign, given(std::vector<uint8_t>{0, 200})), std::vector<uint8_t>{0, 1});
  expect(b.unary(Op::Sign, given(std::vector<int8_t>{-128, 0, 5})), std::vector<int8_t>{-1, 0, 1});
}

TEST_F(Semantics, FloorDivideAndRemainderOfFloats) {
  const D x = {7.5, -7.5, 7.5, -7.5, 5, -5, 1, 0, 1, -6, kInf, kNaN};
  const D y = {2, 2, -2, -2, kInf, kInf, 0.1, 3, 0, 3, 2, 1};
  // 1 // 0.1 is 9: the quotient rounds up to 10, but 0.1 is a little more than a tenth.
  const D quotient = {3, -4, -4, 3, 0, -1, 9, 0, kInf, -2, kNaN, kNaN};
  const D remainder = {1.5, 0.5, -0.5, -1.5, 5, kInf, std::fmod(1, 0.1), 0, kNaN, 0, kNaN, kNaN};
  expect_near(b.binary(Op::Remainder, given(x), given(y)), remainder, 0);
  const D got = value_of<double>(b.binary(Op::FloorDivide, given(x), given(y)));
  for (size_t i = 0; i + 2 < quotient.size(); ++i) EXPECT_EQ(got[i], quotient[i]) << i;
  expect(b.binary(Op::FloorDivide, given(F{7.5f, -7.5f, 1}), given(F{2, 2, 0.1f})), F{3, -4, 9});
}

TEST_F(Semantics, RemainderInvariantForF32) {
  F x, y;
  for (int i = 0; i < 200; ++i) {
    x.push_back(static_cast<float>(std::sin(i) * 1000));
    y.push_back(static_cast<float>(std::cos(i * 3 + 1)));
  }
  const F remainder = value_of<float>(b.binary(Op::Remainder, given(x), given(y)));
  for (size_t i = 0; i < x.size(); ++i) {
    float wanted = std::fmod(x[i], y[i]);
    if (wanted != 0 && std::signbit(wanted) != std::signbit(y[i])) wanted += y[i];
    EXPECT_EQ(remainder[i], wanted) << x[i] << " % " << y[i];
  }
}

TEST_F(Semantics, PowAtItsEdges) {
  const double edges[] = {-kInf, -3, -2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 3, kInf, kNaN};
  D x, y, wanted;
  for (double base : edges) {
    for (double exponent : edges) {
      x.push_back(base);
      y.push_back(exponent);
      wanted.push_back(std::pow(base, exponent));
    }
  }
  const D got = value_of<double>(b.binary(Op::Pow, given(x), given(y)));
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(testing::Message() << x[i] << " ** " << y[i]);
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << got[i];
      continue;
    }
    EXPECT_EQ(std::signbit(got[i]), std::signbit(wanted[i]));
    if (std::isinf(wanted[i]) || wanted[i] == 0) {
      EXPECT_EQ(got[i], wanted[i]);
    } else {
      EXPECT_NEAR(got[i], wanted[i], 1e-15 * std::abs(wanted[i]));
    }
  }
}

TEST_F(Semantics, PowOfF32IsCorrectToOneUlp) {
  F x, y;
  for (int i = 0; i < 500; ++i) {
    x.push_back(static_cast<float>(std::exp(std::sin(i) * 3)));
    y.push_back(static_cast<float>(std::cos(i * 7) * 20));
  }
  const F got = value_of<float>(b.binary(Op::Pow, given(x), given(y)));
  for (size_t i = 0; i < x.size(); ++i) {
    const float wanted = static_cast<float>(std::pow(double{x[i]}, double{y[i]}));
    EXPECT_LE(std::abs(got[i] - wanted), std::abs(wanted) * 1.2e-7) << x[i] << " ** " << y[i];
  }
}

TEST_F(Semantics, PowOfF64IsCorrectToOneUlp) {
  // Small exponents and such that the result nearly overflows or is a denormal.
  D x, y;
  for (int i = 0; i < 2000; ++i) {
    x.push_back(std::exp(std::sin(i) * 3));
    y.push_back(std::cos(i * 7) * (i % 2 == 0 ? 3 : 240));
  }
  for (double base : {2.0, 3.0, 10.0, 0.5, 7.0}) {
    for (int exponent = -20; exponent <= 20; ++exponent) {
      x.push_back(base);
      y.push_back(exponent);
    }
  }
  x.insert(x.end(), {5e-324, 1e-310, 1e308, 2, 2, 2, 1.0000000000000002, 0.9999999999999999});
  y.insert(y.end(), {0.5, -0.9, 1, -1074, 1023, -1022.5, 1e17, 1e18});
  const D got = value_of<double>(b.binary(Op::Pow, given(x), given(y)));
  for (size_t i = 0; i < x.size(); ++i) {
    const double wanted = std::pow(x[i], y[i]);  // 0.52 ulp in the C library
    const double ulp = std::nextafter(wanted, kInf) - wanted;
    EXPECT_LE(std::abs(got[i] - wanted), ulp) << x[i] << " ** " << y[i];
    const bool is_whole = x[i] == std::trunc(x[i]) && y[i] == std::trunc(y[i]) && y[i] >= 0;
    if (is_whole && wanted < 0x1p53) {
      EXPECT_EQ(got[i], wanted) << x[i] << " ** " << y[i];
    }
  }
}

TEST_F(Semantics, IntegerPowWraps) {
  using I = std::vector<int32_t>;
  expect(b.binary(Op::Pow, given(I{2, 3, -2, 2, 0, 1, -1, -1, 7, 0}),
                  given(I{10, 4, 3, 32, 0, -5, -5, -4, -1, -1})),
         I{1024, 81, -8, 0, 1, 1, -1, 1, 0, 0});
  expect(b.binary(Op::Pow, given(std::vector<uint8_t>{3, 2, 255}),
                  given(std::vector<uint8_t>{5, 8, 255})),
         std::vector<uint8_t>{243, 0, 255});
  expect(b.binary(Op::Pow, given(std::vector<int64_t>{3}), given(std::vector<int64_t>{39})),
         std::vector<int64_t>{4052555153018976267});
}

TEST_F(Semantics, ErfinvInvertsErf) {
  D x;
  F narrow;
  for (int i = -999; i <= 999; ++i) x.push_back(i / 1000.0);
  for (int i = 4; i <= 52; ++i) x.push_back(1 - std::ldexp(1.0, -i));
  for (int i = 1; i <= 300; i += 20) x.push_back(-std::ldexp(1.0, -i));
  for (double value : x) narrow.push_back(static_cast<float>(value));
  const D got = value_of<double>(b.unary(Op::Erfinv, given(x)));
  const F got_narrow = value_of<float>(b.unary(Op::Erfinv, given(narrow)));
  constexpr double kTwoOverRootPi = 1.1283791670955125739;
  for (size_t i = 0; i < x.size(); ++i) {
    // One Newton step, in the half where erfc keeps its bits, measures the error.
    const auto error = [](double y, double x) {
      const double a = std::abs(y), t = std::abs(x);
      const double miss = a < 0.5 ? std::erf(a) - t : (1 - t) - std::erfc(a);
      return a == 0 ? 0.0 : std::abs(miss / (kTwoOverRootPi * std::exp(-a * a)) / a);
    };
    EXPECT_LT(error(got[i], x[i]), 1e-15) << x[i];
    if (std::abs(narrow[i]) < 1 && std::abs(narrow[i]) > 1e-37f) {
      EXPECT_LT(error(got_narrow[i], narrow[i]), 3e-7) << narrow[i];
    }
  }
  expect(b.unary(Op::Erfinv, given(D{-1, 1, 0, -0.0, 1.5, kNaN})),
         D{-kInf, kInf, 0, -0.0, kNaN, kNaN});
}

TEST_F(Semantics, PhiloxGivesThePublishedWords) {
  // The first known answer of the Random123 distribution: counter 0, key 0.
  const TensorType words{DType::U32, {4}};
  const Value zero = given(std::vector<uint64_t>{0}, {});
  expect(b.record(Op::RandomBits, {zero, zero}, {}, &words),
         std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_F(Semantics, RandomBitsContinueAcrossCallsAndShapes) {
  const Value key = given(std::vector<uint64_t>{0x123456789abcdef0}, {});
  const TensorType whole{DType::U32, {3, 8}}, part{DType::U32, {4}};
  const auto all = value_of<uint32_t>(
      b.record(Op::RandomBits, {key, given(std::vector<uint64_t>{UINT32_MAX}, {})}, {}, &whole));
  for (uint64_t block = 0; block < 6; ++block) {
    const auto four = value_of<uint32_t>(b.record(
        Op::RandomBits, {key, given(std::vector<uint64_t>{UINT32_MAX + block}, {})}, {}, &part));
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(four[i], all[block * 4 + i]);
  }
}

TEST_F(Semantics, UniformIsBelowOneAndNormalIsFinite) {
  const Value key = given(std::vector<uint64_t>{7}, {});
  const Value counter = given(std::vector<uint64_t>{100}, {});
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    SCOPED_TRACE(name(dtype));
    const TensorType type{dtype, {4096}};
    const D uniform =
        value_of<double>(b.cast(b.record(Op::Uniform, {key, counter}, {}, &type), DType::F64));
    const D normal =
        value_of<double>(b.cast(b.record(Op::Normal, {key, counter}, {}, &type), DType::F64));
    double mean = 0, square = 0, total = 0;
    for (size_t i = 0; i < 4096; ++i) {
      EXPECT_GE(uniform[i], 0);
      EXPECT_LT(uniform[i], 1);
      EXPECT_TRUE(std::isfinite(normal[i]));
      total += uniform[i];
      mean += normal[i];
      square += normal[i] * normal[i];
    }
    EXPECT_NEAR(total / 4096, 0.5, 0.02);
    EXPECT_NEAR(mean / 4096, 0, 0.06);
    EXPECT_NEAR(square / 4096, 1, 0.09);
  }
}

TEST_F(Semantics, SoftmaxRowsOfMinusInfinity) {
  const Value x = given(D{-kInf, 0, -kInf, -kInf, -kInf, -kInf, 1, 1, 1}, {3, 3});
  const double third = 1.0 / 3;
  expect(b.record(Op::Softmax, {x}, Attrs().add_int(1)),
         D{0, 1, 0, kNaN, kNaN, kNaN, third, third, third});
  expect(b.record(Op::LogSumExp, {given(D{-kInf, -kInf, kInf, 1, 0, -kInf}, {3, 2})},
                  Attrs().add_int(2).add_int(0)),
         D{-kInf, kInf, 0});
  const D gradients =
      value_of<double>(gradient_of(b.record(Op::LogSumExp, {x}, Attrs().add_int(2).add_int(0)), x));
  EXPECT_EQ(gradients[1], 1);
  EXPECT_NEAR(gradients[6], third, 1e-15);
}

TEST_F(Semantics, CrossEntropyAndItsGradient) {
  const Value logits = given(D{1, 2, 3, 0, -1, 5}, {2, 3});
  const Value labels = given(std::vector<int64_t>{2, 0});
  const Value loss = b.record(Op::CrossEntropy, {logits, labels});
  D p = {1, 2, 3, 0, -1, 5};
  double wanted = 0;
  for (size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (size_t c = 0; c < 3; ++c) sum += std::exp(p[3 * row + c]);
    wanted -= (p[3 * row + (row == 0 ? 2 : 0)] - std::log(sum)) / 2;
    for (size_t c = 0; c < 3; ++c) p[3 * row + c] = std::exp(p[3 * row + c]) / sum / 2;
  }
  p[2] -= 0.5;
  p[3] -= 0.5;
  expect_near(loss, {wanted}, 1e-14);
  expect_near(gradient_of(loss, logits), p, 1e-14);
  const Value outside = given(std::vector<int64_t>{3, 0});
  EXPECT_THROW(value_of<double>(b.record(Op::CrossEntropy, {logits, outside})), IndexError);
}

TEST_F(Semantics, GradientsOfTheBranchNotTaken) {
  const auto constant = [&](double value) { return b.constant(value, DType::F64); };
  const auto above = [&](Value x, double bound) {
    return b.binary(Op::Greater, x, constant(bound));
  };
  const Value x = given(D{0, 2, 3});
  const Value logs = b.div(b.unary(Op::Log, x), constant(std::log(2)));
  expect_near(gradient_of(sum(b.where(above(x, 2), logs, b.mul(x, constant(2)))), x),
              {2, 2, 0.48089834696298783}, 1e-14);
  const Value far = given(D{0, kInf});
  expect(gradient_of(sum(b.where(above(far, 1), constant(0), b.unary(Op::Cos, far))), far),
         D{-0.0, 0});
  const Value low = given(D{-1, -4});
  expect(gradient_of(sum(b.where(above(low, 0), b.unary(Op::Sqrt, low), low)), low), D{1, 1});
  // Overflow in the branch not taken.
  const Value large = given(D{1000, 0});
  expect(gradient_of(sum(b.where(above(large, 1), large, b.unary(Op::Exp, large))), large),
         D{1, 1});
  const Value a = given(D{1});
  expect(gradient_of(sum(b.where(above(a, 2), b.div(a, constant(0)), constant(1))), a), D{0});
}

TEST_F(Semantics, GradientsOfTies) {
  const auto attrs = Attrs().add_int(1).add_int(0);
  const Value x = given(D{.6, .6, .3});
  expect(gradient_of(b.record(Op::Max, {x}, attrs), x), D{.5, .5, 0});
  const Value y = given(D{1, 2, 3}), z = given(D{1, 3, 2});
  expect(gradient_of(b.binary(Op::Maximum, y, z), y), D{.5, 0, 1});
  expect(gradient_of(b.binary(Op::Minimum, y, z), z), D{.5, 0, 1});
  const Value around = given(D{-1, 0, 2});
  expect(gradient_of(b.unary(Op::Relu, around), around), D{0, 0, 1});
}

TEST_F(Semantics, GradientsAtZero) {
  const Value x = given(D{0, 0});
  const Value norm = b.unary(Op::Sqrt, sum(b.mul(x, x)));
  expect(gradient_of(norm, x), D{0, 0});
  const Value same = given(D{1, 1, 1, 1});
  const Value mean = b.reduce(Op::Mean, same, 1, true);
  const Value deviation =
      b.unary(Op::Sqrt, b.reduce(Op::Mean, b.unary(Op::Square, b.sub(same, mean)), 1, false));
  expect(gradient_of(deviation, same), D{0, 0, 0, 0});
  const Value products = b.mul(b.unary(Op::Sqrt, x), b.constant(0, DType::F64));
  expect(gradient_of(products, x), D{0, 0});
  expect(gradient_of(b.unary(Op::Abs, x), x), D{0, 0});
}

TEST_F(Semantics, ProdGradientCountsZeros) {
  const Value x = given(D{2, 3, 4, 2, 0, 4, 0, 0, 4}, {3, 3});
  expect(gradient_of(b.reduce(Op::Prod, x, 2, false), x), D{12, 8, 6, 0, 8, 0, 0, 0, 0});
}

TEST_F(Semantics, SecondDerivatives) {
  const Value x = given(D{3});
  const Value cube = b.mul(b.mul(x, x), x);
  const Value first = gradient_of(cube, x);
  expect(first, D{27});
  expect(gradient_of(first, x), D{18});
  // The cotangent of the inner product is 0 here, its derivative is not.
  const Value zero = given(D{0});
  const Value square = b.unary(Op::Square, b.mul(zero, b.constant(3, DType::F64)));
  expect(gradient_of(gradient_of(square, zero), zero), D{18});
  const Value half = given(D{0.5});
  const Value growth = b.unary(Op::Exp, b.mul(half, b.constant(3, DType::F64)));
  expect_near(gradient_of(gradient_of(growth, half), half), {9 * std::exp(1.5)}, 1e-14);
}

/// Sums of weighted elements: the gradient puts each weight where its element was read.
TEST_F(Semantics, SliceGradientsPutBackWhatWasRead) {
  for (const Sample& sample : op_def(Op::Slice).samples()) {
    const TensorType& type = sample.operands[0].type;
    if (type.shape.numel() > 1000) continue;
    D values, weights;
    for (int64_t i = 0; i < type.shape.numel(); ++i) values.push_back(static_cast<double>(i));
    const Value x = given(values, type.shape);
    const TensorType result{DType::F64, sample.result.shape};
    const Value taken = b.record(Op::Slice, {x}, sample.attrs, &result);
    const D read = value_of<double>(taken);
    for (size_t i = 0; i < read.size(); ++i) weights.push_back(static_cast<double>(i) + 1);
    const Value weighted = b.mul(taken, given(weights, result.shape));
    D wanted(values.size());
    for (size_t i = 0; i < read.size(); ++i) wanted[static_cast<size_t>(read[i])] += weights[i];
    SCOPED_TRACE(testing::Message() << type << " to " << result);
    expect(gradient_of(weighted, x), wanted);
  }
}

TEST_F(Semantics, GatherGradientsAddUpRepeatedReads) {
  const Value x = given(D{1, 2, 3, 4, 5, 6}, {2, 3});
  const Value indices = given(std::vector<int64_t>{2, -1, 0, 2});
  const Value picked = b.record(Op::Gather, {x, indices}, Attrs().add_int(1));
  expect(picked, D{3, 3, 1, 3, 6, 6, 4, 6});
  const Value weights = given(D{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  expect(gradient_of(b.mul(picked, weights), x), D{3, 0, 7, 7, 0, 19});
}

TEST_F(Semantics, ConcatKeepsEveryBit) {
  const Value x = given(F{-0.0f, 1}), y = given(F{-0.0f, std::numeric_limits<float>::infinity()});
  const Value joined = b.record(Op::Concat, {x, y}, Attrs().add_int(0));
  expect(joined, F{-0.0f, 1, -0.0f, std::numeric_limits<float>::infinity()});
  expect(gradient_of(b.mul(joined, given(F{1, 2, 3, 4})), y), F{3, 4});
}

TEST_F(Semantics, ShiftsPastTheWidth) {
  using I = std::vector<int32_t>;
  const Value counts = given(std::vector<int64_t>{0, 4, 31, 32, 256, -1, int64_t{1} << 40});
  expect(b.binary(Op::LeftShift, given(I{1, 1, 1, 1, 1, 1, 1}), counts),
         I{1, 16, INT32_MIN, 0, 0, 0, 0});
  expect(b.binary(Op::RightShift, given(I{-8, -8, -8, -8, -8, -8, 8}), counts),
         I{-8, -1, -1, -1, -1, -1, 0});
}

TEST_F(Semantics, MeansOfIntegersAndHalves) {
  const auto all = Attrs().add_int(1).add_int(0);
  expect(b.record(Op::Mean, {given(std::vector<int32_t>{INT32_MAX, INT32_MAX, 1})}, all),
         F{static_cast<float>((2.0 * INT32_MAX + 1) / 3)});
  // The sum overflows f16, the mean does not.
  const Value x = b.cast(given(F{60000, 60000, 60000}), DType::F16);
  expect(b.cast(b.record(Op::Mean, {x}, all), DType::F32), F{60000});
  expect(b.record(Op::Mean, {given(F{}, {0})}, all), F{std::numeric_limits<float>::quiet_NaN()});
}

}  // namespace
}  // namespace reprise
