// Tests of the graph interpreter on known values: integers, casts, floats, reductions, broadcasts,
// contractions, gathers, leaves. Elementwise cases run as inputs and as folded constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "ir/float16.h"
#include "passes/graph_passes.h"

namespace reprise {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// A graph under construction with the data of its inputs.
class Evaluator {
 public:
  template <class T>
  Value input(const Shape& shape, const std::vector<T>& values, DType dtype = dtype_of<T>) {
    data_.push_back(bytes_of(values));
    return builder.input({dtype, shape}, static_cast<uint32_t>(data_.size() - 1));
  }
  template <class T>
  Value input(const std::vector<T>& values) {
    return input(Shape{static_cast<int64_t>(values.size())}, values);
  }
  /// The element type T stands for the value's dtype, bool as uint8_t, half types as uint16_t.
  template <class T>
  std::vector<T> eval(Value value) {
    Graph whole = graph_;
    whole.add_output(NodeId{value.index});
    verify(whole);
    const Bytes plain = interpret(whole, data_)[0];
    const Graph rewritten = cse(simplify(canonicalize(whole)));
    verify(rewritten);
    EXPECT_EQ(difference(builder.dtype(value), plain, interpret(rewritten, data_)[0]), "");
    return values_of<T>(plain);
  }

 private:
  Graph graph_;
  std::vector<Bytes> data_;

 public:
  GraphBuilder builder{graph_};
};

/// Bits are equal, all NaNs being equal.
template <class T>
void expect_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
  EXPECT_EQ(difference(dtype_of<T>, bytes_of(actual), bytes_of(expected)), "");
}
/// Runs an op over whole inputs, and over constants, element by element, where simplify may fold.
template <class T, class R>
void expect_elementwise(Op op, const std::vector<std::vector<T>>& operands,
                        const std::vector<R>& expected, const Attrs& attrs = {}) {
  Evaluator whole;
  std::vector<Value> values;
  for (const auto& operand : operands) values.push_back(whole.input(operand));
  expect_bits(whole.eval<R>(whole.builder.record(op, values, attrs)), expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    Evaluator folded;
    values.clear();
    for (const auto& operand : operands) {
      values.push_back(folded.builder.constant(static_cast<double>(operand[i]), dtype_of<T>));
    }
    expect_bits(folded.eval<R>(folded.builder.record(op, values, attrs)), {expected[i]});
  }
}

template <class T>
void check_floor_division() {
  const std::vector<T> a = {-7, 7, -7, 7, -8, 8, 0};
  const std::vector<T> b = {2, -2, -2, 2, 3, -3, -5};
  expect_elementwise<T, T>(Op::FloorDivide, {a, b}, {-4, -4, 3, 3, -3, -3, 0});
  expect_elementwise<T, T>(Op::Remainder, {a, b}, {1, -1, -1, 1, 1, -1, 0});
}

TEST(InterpreterIntegers, DivisionFloors) {
  check_floor_division<int8_t>();
  check_floor_division<int16_t>();
  check_floor_division<int32_t>();
  check_floor_division<int64_t>();
}

template <class T>
void check_smallest() {
  const T smallest = std::numeric_limits<T>::min();
  expect_elementwise<T, T>(Op::FloorDivide, {{smallest, smallest}, {-1, 0}}, {smallest, 0});
  expect_elementwise<T, T>(Op::Remainder, {{smallest, smallest}, {-1, 0}}, {0, 0});
  expect_elementwise<T, T>(Op::Negative, {{smallest}}, {smallest});
  expect_elementwise<T, T>(Op::Abs, {{smallest}}, {smallest});
}

TEST(InterpreterIntegers, SmallestOverMinusOneNeverTraps) {
  check_smallest<int8_t>();
  check_smallest<int16_t>();
  check_smallest<int32_t>();
  check_smallest<int64_t>();
}

TEST(InterpreterIntegers, Wrap) {
  expect_elementwise<uint8_t, uint8_t>(Op::Subtract, {{5, 200, 250, 0}, {10, 100, 10, 50}},
                                       {251, 100, 240, 206});
  expect_elementwise<int8_t, int8_t>(Op::Add, {{100, 127, -128}, {100, 1, -1}}, {-56, -128, 127});
  expect_elementwise<int8_t, int8_t>(Op::Multiply, {{16, -16, 127}, {16, 8, 127}}, {0, -128, 1});
  expect_elementwise<int64_t, int64_t>(Op::Multiply,
                                       {{3037000500, int64_t{1} << 62}, {3037000500, 2}},
                                       {-9223372036709301616, std::numeric_limits<int64_t>::min()});
  expect_elementwise<int32_t, int32_t>(Op::Add, {{2147483647}, {1}}, {-2147483648});
}

// (200 + 100) // 2 in u8 is 22: no widened intermediates.
TEST(InterpreterIntegers, WrapBetweenOps) {
  Evaluator e;
  const Value sum = e.builder.add(e.input<uint8_t>({200}), e.input<uint8_t>({100}));
  const Value half = e.builder.binary(Op::FloorDivide, sum, e.builder.constant(2, DType::U8));
  EXPECT_EQ(e.eval<uint8_t>(half), std::vector<uint8_t>{22});
}

TEST(InterpreterCasts, FloatToIntegerSaturates) {
  const std::vector<float> x = {kNan,        kInf,          -kInf,        3e9f, -3e9f,
                                2147483648., -2147483648.f, 2147483520.f, -0.9f};
  const int32_t low = std::numeric_limits<int32_t>::min();
  const int32_t high = std::numeric_limits<int32_t>::max();
  expect_elementwise<float, int32_t>(Op::Cast, {x},
                                     {0, high, low, high, low, high, low, 2147483520, 0},
                                     Attrs().add_type(DType::I32));
  expect_elementwise<float, int64_t>(
      Op::Cast, {{kInf, -kInf, kNan}},
      {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), 0},
      Attrs().add_type(DType::I64));
  expect_elementwise<float, uint8_t>(Op::Cast, {{-1, 256, 255.9f, kNan}}, {0, 255, 255, 0},
                                     Attrs().add_type(DType::U8));
  expect_elementwise<int32_t, int8_t>(Op::Cast, {{300, -129, 127}}, {44, 127, 127},
                                      Attrs().add_type(DType::I8));
}

TEST(InterpreterCasts, HalfRoundingIsRealBetweenOps) {
  const std::vector<float> x = {65504,  65519, 65520,         65536,
                                -65520, 1e-8f, 5.9604645e-8f, 2.9802322e-8f};
  const std::vector<float> rounded = {65504, 65504, kInf, kInf, -kInf, 0, 5.9604645e-8f, 0};
  Evaluator e;
  const Value half = e.builder.cast(e.input(x), DType::F16);
  expect_bits(e.eval<float>(e.builder.cast(half, DType::F32)), rounded);
  Evaluator pair;
  const Value back = pair.builder.cast(
      pair.builder.cast(pair.input<float>({65536, 1.0004883f}), DType::F16), DType::F32);
  expect_bits<float>(pair.eval<float>(back), {kInf, 1.0f});
}

TEST(InterpreterCasts, BfloatRoundsToNearestEven) {
  Evaluator e;
  const Value x =
      e.input<float>({0.26914087f, 1.00390625f, 1.01171875f, 3.4028235e38f,
                      std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(0x7FFFFFFFu)});
  const Value back = e.builder.cast(e.builder.cast(x, DType::BF16), DType::F32);
  expect_bits<float>(e.eval<float>(back), {0.26953125f, 1.0f, 1.015625f, kInf, kNan, kNan});
}

// Each op on half types rounds: 2048 + 1 + 1 is 2048 in f16, where f32 throughout would give 2050.
TEST(InterpreterFloats, HalfArithmeticRoundsAfterEveryOp) {
  Evaluator e;
  const Value x = e.input<uint16_t>(Shape{1}, {f16_from_float(2048)}, DType::F16);
  const Value one = e.builder.constant(1, DType::F16);
  EXPECT_EQ(e.eval<uint16_t>(e.builder.add(e.builder.add(x, one), one)),
            std::vector<uint16_t>{f16_from_float(2048)});
}

TEST(InterpreterFloats, MaximumPropagatesNanAndOrdersZeros) {
  expect_elementwise<float, float>(Op::Maximum,
                                   {{kNan, 1, kNan, -0.f, 0.f}, {1, kNan, kNan, 0.f, -0.f}},
                                   {kNan, kNan, kNan, 0.f, 0.f});
  expect_elementwise<float, float>(Op::Minimum, {{kNan, 1, -0.f, 0.f}, {1, kNan, 0.f, -0.f}},
                                   {kNan, kNan, -0.f, -0.f});
}

TEST(InterpreterFloats, ReducedMaximumSeesNanAnywhere) {
  for (int64_t n = 1; n < 67; ++n) {
    for (int64_t p = 0; p < n; ++p) {
      std::vector<float> values(static_cast<size_t>(n), 1.0f);
      values[static_cast<size_t>(p)] = kNan;
      for (Op op : {Op::Max, Op::Min}) {
        Evaluator e;
        expect_bits<float>(e.eval<float>(e.builder.reduce(op, e.input(values), 1, false)), {kNan});
      }
    }
  }
}

int64_t argument(Op op, const std::vector<float>& values) {
  Evaluator e;
  return e.eval<int64_t>(e.builder.reduce(op, e.input(values), 1, false))[0];
}

TEST(InterpreterFloats, ArgumentsOfExtremes) {
  EXPECT_EQ(argument(Op::ArgMax, {kNan, 4.6151f}), 0);
  EXPECT_EQ(argument(Op::ArgMax, {1, kNan, 3, kNan}), 1);
  EXPECT_EQ(argument(Op::ArgMax, {3, 1, 3}), 0);
  EXPECT_EQ(argument(Op::ArgMax, {kNan, kNan}), 0);
  EXPECT_EQ(argument(Op::ArgMax, {-kInf, -kInf}), 0);
  EXPECT_EQ(argument(Op::ArgMin, {1, kNan, 3}), 1);
  std::vector<float> long_row(100000);
  long_row[7] = long_row[99993] = 5;
  EXPECT_EQ(argument(Op::ArgMax, long_row), 7);
}

TEST(InterpreterFloats, NoIdentityEatsSpecialValues) {
  const std::vector<float> x = {1, kInf, kNan, -2, 0.f, -0.f};
  const std::vector<float> zero(6, 0.f);
  expect_elementwise<float, float>(Op::Multiply, {x, zero}, {0.f, kNan, kNan, -0.f, 0.f, -0.f});
  expect_elementwise<float, float>(Op::Subtract, {x, x}, {0, kNan, kNan, 0, 0, 0});
  expect_elementwise<float, float>(Op::Divide, {x, x}, {1, kNan, kNan, 1, kNan, kNan});
  expect_elementwise<float, float>(Op::Divide, {zero, x}, {0.f, 0.f, kNan, -0.f, kNan, kNan});
  expect_elementwise<float, float>(Op::Add, {x, zero}, {1, kInf, kNan, -2, 0.f, 0.f});
  expect_elementwise<float, float>(Op::Pow, {x, zero}, {1, 1, 1, 1, 1, 1});
}

TEST(InterpreterFloats, SignedZero) {
  Evaluator e;
  const Value one = e.builder.constant(1, DType::F32);
  const Value x = e.input<float>({0.f, -0.f});
  expect_bits<float>(e.eval<float>(e.builder.div(one, e.builder.neg(x))), {-kInf, kInf});
  const Value up = e.builder.unary(Op::Ceil, e.input<float>({-0.5f, -0.1f, -0.9f}));
  const Value shifted = e.builder.add(up, e.builder.constant(0, DType::F32));
  expect_bits<float>(e.eval<float>(e.builder.div(one, shifted)), {kInf, kInf, kInf});
}

TEST(InterpreterFloats, DenormalsAreKept) {
  expect_elementwise<float, float>(Op::Multiply, {{1e-40f, 1e-30f}, {1e10f, 1e-10f}},
                                   {1e-40f * 1e10f, 1e-30f * 1e-10f});
  expect_elementwise<float, uint8_t>(Op::Equal, {{1e-45f}, {0}}, {0});
  Evaluator e;
  const std::vector<float> log =
      e.eval<float>(e.builder.unary(Op::Log, e.input<float>({1e-45f, 1e-40f})));
  EXPECT_NEAR(log[0], -103.27893, 1e-3);
  EXPECT_NEAR(log[1], -92.10340, 1e-3);
}

TEST(InterpreterFloats, NoContractionAcrossOps) {
  Evaluator e;
  const Value x = e.input<float>({1e10f});
  const Value a = e.builder.mul(e.input<float>({1e20f}), x);
  const Value b = e.builder.mul(e.input<float>({-1e20f}), x);
  expect_bits<float>(e.eval<float>(e.builder.add(a, b)), {0});
}

TEST(InterpreterReductions, EmptyAxes) {
  Evaluator e;
  const Value x = e.input<float>(Shape{2, 0, 3}, {});
  expect_bits(e.eval<float>(e.builder.reduce(Op::Sum, x, 0b010, false)), std::vector<float>(6, 0));
  expect_bits(e.eval<float>(e.builder.reduce(Op::Prod, x, 0b010, false)), std::vector<float>(6, 1));
  expect_bits<float>(e.eval<float>(e.builder.reduce(Op::Sum, x, 0b111, false)), {0});
  EXPECT_TRUE(e.eval<float>(e.builder.reduce(Op::Sum, x, 0b100, false)).empty());
  EXPECT_TRUE(e.eval<float>(e.builder.reduce(Op::Max, x, 0b001, false)).empty());
  EXPECT_THROW((void)e.builder.reduce(Op::Max, x, 0b010, false), ShapeError);
  EXPECT_THROW((void)e.builder.reduce(Op::ArgMin, x, 0b010, false), ShapeError);
}

// One serial f32 accumulator stops at 2^24, whichever axis is summed.
TEST(InterpreterReductions, LongSumsStayAccurate) {
  constexpr int64_t kLength = 16777220;
  Evaluator e;
  const Value row = e.input(std::vector<float>(kLength, 1.0f));
  expect_bits<float>(e.eval<float>(e.builder.reduce(Op::Sum, row, 1, false)), {kLength});
}

// The order of the definition: partials by index mod 64, then a halving tree, blocks of 16384.
TEST(InterpreterReductions, FollowTheDefinedOrder) {
  for (const int64_t n : {1, 2, 3, 63, 64, 65, 100, 1000, 16384, 16385, 40000}) {
    std::mt19937 random(7);
    const Bytes data = sample_elements(DType::F32, n, Draw::Small, random);
    const std::vector<float> x = values_of<float>(data);
    const auto block = [](const float* begin, int64_t count) {
      std::vector<float> partials(begin, begin + std::min<int64_t>(count, 64));
      for (int64_t i = 64; i < count; ++i) partials[static_cast<size_t>(i % 64)] += begin[i];
      for (size_t half = 32; half > 0; half /= 2) {
        for (size_t p = 0; p < half; ++p) {
          if (p + half < partials.size()) partials[p] += partials[p + half];
        }
      }
      return partials[0];
    };
    std::vector<float> blocks;
    for (int64_t begin = 0; begin < n; begin += 16384) {
      blocks.push_back(block(x.data() + begin, std::min<int64_t>(16384, n - begin)));
    }
    const float expected = block(blocks.data(), static_cast<int64_t>(blocks.size()));
    Evaluator e;
    expect_bits<float>(e.eval<float>(e.builder.reduce(Op::Sum, e.input(x), 1, false)), {expected});
  }
}

TEST(InterpreterReductions, IntegersSumIn64Bits) {
  Evaluator e;
  const Value bytes = e.input(std::vector<uint8_t>(300, 255));
  EXPECT_EQ(e.eval<uint64_t>(e.builder.reduce(Op::Sum, bytes, 1, false))[0], 76500u);
  const Value bools = e.input(Shape{300}, std::vector<uint8_t>(300, 1), DType::Bool);
  EXPECT_EQ(e.eval<int64_t>(e.builder.reduce(Op::Sum, bools, 1, false))[0], 300);
  const Value large = e.input<int32_t>({2147483647, 2147483647});
  EXPECT_EQ(e.eval<int64_t>(e.builder.reduce(Op::Sum, large, 1, false))[0], 4294967294);
}

TEST(InterpreterReductions, HalfTypesAccumulateInF32) {
  Evaluator e;
  const std::vector<uint16_t> ones(4096, f16_from_float(1));
  const Value x = e.input(Shape{4096}, ones, DType::F16);
  EXPECT_EQ(e.eval<uint16_t>(e.builder.reduce(Op::Sum, x, 1, false))[0], f16_from_float(4096));
}

TEST(InterpreterReductions, AnyAxesInAnyPlace) {
  std::vector<int64_t> values(24);
  for (size_t i = 0; i < 24; ++i) values[i] = static_cast<int64_t>(i);
  Evaluator e;
  const Value x = e.input(Shape{2, 3, 4}, values);
  EXPECT_EQ(e.eval<int64_t>(e.builder.reduce(Op::Sum, x, 0b101, false)),
            (std::vector<int64_t>{60, 92, 124}));
  EXPECT_EQ(e.eval<int64_t>(e.builder.reduce(Op::Max, x, 0b010, true)),
            (std::vector<int64_t>{8, 9, 10, 11, 20, 21, 22, 23}));
  // The index is linear over all reduced axes.
  EXPECT_EQ(e.eval<int64_t>(e.builder.reduce(Op::ArgMax, x, 0b110, false)),
            (std::vector<int64_t>{11, 11}));
}

TEST(InterpreterBroadcasts, EmptyShapes) {
  Evaluator e;
  const Value none = e.input<float>(Shape{0, 3}, {});
  const Value row = e.input<float>(Shape{1, 3}, {1, 2, 3});
  EXPECT_TRUE(e.eval<float>(e.builder.add(none, row)).empty());
  EXPECT_EQ(e.builder.shape(e.builder.add(none, row)), (Shape{0, 3}));
  const Value empty = e.input<float>(Shape{0}, {});
  EXPECT_EQ(e.builder.shape(e.builder.add(empty, e.input<float>({1}))), Shape{0});
  EXPECT_THROW((void)e.builder.add(empty, e.input<float>({1, 2, 3})), ShapeError);
}

TEST(InterpreterMovement, EveryKind) {
  Evaluator e;
  const Value x = e.input<int32_t>(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  const int64_t swap[] = {1, 0};
  EXPECT_EQ(e.eval<int32_t>(e.builder.permute(x, swap)), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(e.eval<int32_t>(e.builder.reshape(e.builder.permute(x, swap), Shape{6})),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  const int64_t starts[] = {1, 2};
  const int64_t steps[] = {-1, -2};
  EXPECT_EQ(e.eval<int32_t>(e.builder.slice(x, starts, steps, Shape{2, 2})),
            (std::vector<int32_t>{5, 3, 2, 0}));
  const int64_t low[] = {0, 1};
  const int64_t high[] = {1, 0};
  EXPECT_EQ(e.eval<int32_t>(e.builder.pad(x, low, high)),
            (std::vector<int32_t>{0, 0, 1, 2, 0, 3, 4, 5, 0, 0, 0, 0}));
  EXPECT_EQ(e.eval<int32_t>(
                e.builder.broadcast_to(e.input<int32_t>(Shape{2, 1}, {7, 8}), Shape{2, 2, 2})),
            (std::vector<int32_t>{7, 7, 8, 8, 7, 7, 8, 8}));
}

TEST(InterpreterLeaves, StridedInputs) {
  const std::vector<int32_t> storage = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Graph graph;
  GraphBuilder builder(graph);
  const int64_t strides[] = {4, -1};  // rows of four, read backwards
  builder.output(builder.input({DType::I32, {3, 4}}, 0, strides));
  const void* pointers[] = {storage.data() + 3};
  EXPECT_EQ(values_of<int32_t>(interpret(graph, Numerics{}, pointers, {})[0]),
            (std::vector<int32_t>{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}));
}

TEST(InterpreterLeaves, AnyNonzeroByteIsTrue) {
  Evaluator e;
  const Value x = e.input<uint8_t>(Shape{4}, {0, 1, 2, 255}, DType::Bool);
  EXPECT_EQ(e.eval<uint8_t>(x), (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST(InterpreterLeaves, ParametersConstantsIndices) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.output(builder.parameter(DType::F32, 1));
  builder.output(builder.constant(0.1, DType::F64));
  builder.output(builder.iota({DType::F32, {2, 3}}, 1));
  const std::vector<Bytes> outputs =
      interpret(graph, {}, std::vector<uint64_t>{0, std::bit_cast<uint32_t>(2.5f)});
  EXPECT_EQ(values_of<float>(outputs[0]), std::vector<float>{2.5f});
  EXPECT_EQ(values_of<double>(outputs[1]), std::vector<double>{0.1});
  EXPECT_EQ(values_of<float>(outputs[2]), (std::vector<float>{0, 1, 2, 0, 1, 2}));
}

// The first known answer of Random123's philox4x32-10, and counters that run on block by block.
TEST(InterpreterLeaves, RandomBitsArePhilox) {
  const auto bits = [](uint64_t counter, int64_t n) {
    Graph graph;
    GraphBuilder builder(graph);
    const TensorType type{DType::U32, {n}};
    const Value key = builder.parameter(DType::U64, 0);
    const Value first = builder.parameter(DType::U64, 1);
    builder.output(builder.record(Op::RandomBits, {key, first}, {}, &type));
    return values_of<uint32_t>(interpret(graph, {}, std::vector<uint64_t>{0, counter})[0]);
  };
  const std::vector<uint32_t> start = bits(0, 11);
  EXPECT_EQ(std::vector(start.begin(), start.begin() + 4),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::vector<uint32_t> later = bits(1, 7);
  EXPECT_EQ(std::vector(start.begin() + 4, start.end()), later);
}

TEST(InterpreterContractions, NothingToSumGivesZero) {
  Evaluator e;
  const auto product = [&](const Shape& a, const Shape& b) {
    const Value x = e.input(a, std::vector<float>(static_cast<size_t>(a.numel()), 1));
    const Value y = e.input(b, std::vector<float>(static_cast<size_t>(b.numel()), 1));
    return e.builder.matmul(x, y);
  };
  expect_bits(e.eval<float>(product({4, 0}, {0, 4})), std::vector<float>(16, 0));
  EXPECT_EQ(e.builder.shape(product({0, 3}, {3, 2})), (Shape{0, 2}));
  expect_bits(e.eval<float>(product({3, 2, 0}, {3, 0, 3})), std::vector<float>(18, 0));
}

TEST(InterpreterContractions, ChainOverK) {
  const std::vector<float> a = {0.1f, 0.2f, 0.3f, 1e8f};
  const std::vector<float> b = {3, 1e8f, -1e8f, 0.7f};
  float fused = 0;
  float separate = 0;
  for (size_t k = 0; k < 4; ++k) {
    fused = std::fma(a[k], b[k], fused);
    separate = a[k] * b[k] + separate;
  }
  Graph graph;
  GraphBuilder builder(graph);
  builder.output(builder.matmul(builder.input({DType::F32, {1, 4}}, 0),
                                builder.input({DType::F32, {4, 1}}, 1)));
  const void* pointers[] = {a.data(), b.data()};
  for (const bool fma : {true, false}) {
    const Numerics numerics{.fma = fma};
    expect_bits<float>(values_of<float>(interpret(graph, numerics, pointers, {})[0]),
                       {fma ? fused : separate});
  }
}

TEST(InterpreterContractions, BatchesBroadcast) {
  Evaluator e;
  const Value a = e.input<int64_t>(Shape{2, 1, 1, 2}, {1, 2, 3, 4});
  const Value b = e.input<int64_t>(Shape{3, 2, 1}, {1, 10, 2, 20, 3, 30});
  EXPECT_EQ(e.eval<int64_t>(e.builder.matmul(a, b)),
            (std::vector<int64_t>{21, 42, 63, 43, 86, 129}));
  const Value wrapping = e.builder.matmul(e.input<int8_t>(Shape{1, 2}, {100, 100}),
                                          e.input<int8_t>(Shape{2, 1}, {2, 1}));
  EXPECT_EQ(e.eval<int8_t>(wrapping)[0], static_cast<int8_t>(300));
}

TEST(InterpreterGathers, AxesAndNegativeIndices) {
  Evaluator e;
  const Value x = e.input<int32_t>(Shape{2, 3}, {0, 1, 2, 10, 11, 12});
  const Value indices = e.input<int64_t>(Shape{2, 2}, {0, -1, 2, 1});
  EXPECT_EQ(e.eval<int32_t>(e.builder.record(Op::Gather, {x, indices}, Attrs().add_int(1))),
            (std::vector<int32_t>{0, 2, 2, 1, 10, 12, 12, 11}));
  const Value row =
      e.builder.record(Op::Gather, {x, e.input<int32_t>(Shape{}, {-1})}, Attrs().add_int(0));
  EXPECT_EQ(e.eval<int32_t>(row), (std::vector<int32_t>{10, 11, 12}));
}

TEST(InterpreterGathers, OutOfRangeThrows) {
  for (const int64_t index : {10, -11}) {
    Evaluator e;
    const Value x = e.input(std::vector<float>(10));
    const Value picked =
        e.builder.record(Op::Gather, {x, e.input<int64_t>({index})}, Attrs().add_int(0));
    try {
      (void)e.eval<float>(picked);
      ADD_FAILURE() << "index " << index << " was accepted";
    } catch (const IndexError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("extent 10"));
    }
  }
}

TEST(InterpreterComposites, RowsOfMinusInfinity) {
  Evaluator e;
  const Value x = e.input<float>(Shape{2, 3}, {-kInf, 0, -kInf, -kInf, -kInf, -kInf});
  const Attrs last = Attrs().add_int(1);
  expect_bits<float>(e.eval<float>(e.builder.record(Op::Softmax, {x}, last)),
                     {0, 1, 0, kNan, kNan, kNan});
  const Attrs axes = Attrs().add_int(0b10).add_int(0);
  expect_bits<float>(e.eval<float>(e.builder.record(Op::LogSumExp, {x}, axes)), {0, -kInf});
  const Value large = e.input<float>(Shape{1, 2}, {kInf, 1});
  expect_bits<float>(e.eval<float>(e.builder.record(Op::LogSumExp, {large}, axes)), {kInf});
}

}  // namespace
}  // namespace reprise
