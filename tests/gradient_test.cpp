// Tests of gradients: every differentiable op against finite differences in f64, second
// derivatives, subgradients at kinks, chains and ladders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"
#include "small_stack.h"

namespace reprise {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Records `op` over f64 inputs, its value weighted and summed, and the gradients of that sum.
struct Differentiated {
  Graph graph;
  std::vector<Bytes> data;
  std::vector<Value> xs;        ///< the floating point inputs
  std::vector<size_t> numbers;  ///< which input each x is

  std::vector<Bytes> run() const { return interpret(graph, data); }
};

TensorType as_f64(const TensorType& type) {
  return {is_float(type.dtype) ? DType::F64 : type.dtype, type.shape};
}

/// Away from kinks and poles: finite differences mean nothing there.
Bytes draw(const SampleOperand& operand, const TensorType& type, std::mt19937& random) {
  if (!is_float(type.dtype)) {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < type.shape.numel(); ++i) {
      indices.push_back(static_cast<int64_t>(
          random() % std::max<uint64_t>(1, static_cast<uint64_t>(operand.bound))));
    }
    if (type.dtype == DType::I64) return bytes_of(indices);
    Bytes narrow;
    for (int64_t index : indices) {
      const int64_t value = type.dtype == DType::Bool ? static_cast<int64_t>(random() % 2) : index;
      const Bytes bytes = bytes_of(std::vector<int64_t>{value});
      narrow.insert(narrow.end(), bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(size_of(type.dtype)));
    }
    return narrow;
  }
  std::vector<double> values;
  for (int64_t i = 0; i < type.shape.numel(); ++i) {
    const double unit = (static_cast<double>(random()) + 0.5) * 0x1p-32;
    switch (operand.fill) {
      case SampleOperand::Fill::Positive:
      case SampleOperand::Fill::Nonzero:
        values.push_back(0.3 + 2 * unit);
        break;
      case SampleOperand::Fill::Unit:
        values.push_back(0.1 + 0.8 * unit);
        break;
      case SampleOperand::Fill::Normal:
      case SampleOperand::Fill::Extremes:
      case SampleOperand::Fill::Index:
      case SampleOperand::Fill::Binary:
        values.push_back(4 * unit - 2);
        break;
    }
  }
  return bytes_of(values);
}

/// `order` 1: the gradient of the weighted sum; 2: of the weighted sum of that gradient.
Differentiated differentiate(Op op, const Sample& sample, int order, uint32_t seed) {
  Differentiated result;
  GraphBuilder builder(result.graph);
  std::mt19937 random(seed);
  std::vector<Value> operands;
  for (const SampleOperand& operand : sample.operands) {
    const TensorType type = as_f64(operand.type);
    const auto number = static_cast<uint32_t>(result.data.size());
    SampleOperand drawn = operand;
    // A negative base has real powers at integers only, with nothing to differentiate between.
    if (op == Op::Pow && number == 0) drawn.fill = SampleOperand::Fill::Positive;
    result.data.push_back(draw(drawn, type, random));
    operands.push_back(builder.input(type, number));
    if (!is_float(type.dtype)) continue;
    result.xs.push_back(operands.back());
    result.numbers.push_back(number);
  }
  const TensorType target = as_f64(sample.result);
  Value y = builder.record(op, operands, sample.attrs, &target);
  const auto weigh = [&](Value value) {
    const TensorType type = builder.type(value);
    const auto number = static_cast<uint32_t>(result.data.size());
    result.data.push_back(draw({.type = type}, type, random));
    const Value weighted = builder.mul(value, builder.input(type, number));
    return builder.reduce(Op::Sum, weighted, (1u << type.shape.rank()) - 1, false);
  };
  y = weigh(y);
  for (int i = 0; i < order; ++i) {
    const std::vector<Value> gradients =
        gradient(builder, y, builder.ones(builder.type(y)), result.xs);
    if (i + 1 == order) {
      builder.output(y);
      for (Value gradient : gradients) builder.output(gradient);
      break;
    }
    Value sum;
    for (Value gradient : gradients) {
      const Value term = weigh(gradient);
      sum = sum.valid() ? builder.add(sum, term) : term;
    }
    y = sum;
  }
  verify(result.graph);
  return result;
}

/// Compares the gradient along random directions (or along axes, when
/// there are few) with central differences.
void expect_finite_differences(const Differentiated& given, const std::string& what) {
  const std::vector<Bytes> outputs = given.run();
  std::mt19937 random(3);
  for (size_t i = 0; i < given.xs.size(); ++i) {
    const std::vector<double> gradient = values_of<double>(outputs[i + 1]);
    const std::vector<double> x = values_of<double>(given.data[given.numbers[i]]);
    ASSERT_EQ(gradient.size(), x.size()) << what;
    const size_t tries = std::min<size_t>(x.size(), 4);
    for (size_t attempt = 0; attempt < tries; ++attempt) {
      std::vector<double> direction(x.size());
      for (size_t k = 0; k < x.size(); ++k) {
        direction[k] =
            x.size() <= 4 ? (k == attempt ? 1 : 0) : static_cast<double>(random()) * 0x1p-31 - 1;
      }
      double expected = 0;
      double scale = 1;
      for (size_t k = 0; k < x.size(); ++k) {
        expected += gradient[k] * direction[k];
        scale += std::abs(gradient[k] * direction[k]);
      }
      const auto shifted = [&](double step) {
        Differentiated moved = given;
        std::vector<double> at = x;
        for (size_t k = 0; k < x.size(); ++k) at[k] += step * direction[k];
        moved.data[given.numbers[i]] = bytes_of(at);
        return values_of<double>(moved.run()[0])[0];
      };
      constexpr double kStep = 1e-6;
      const double actual = (shifted(kStep) - shifted(-kStep)) / (2 * kStep);
      if (std::isnan(actual) && std::isnan(expected)) continue;  // outside of what it is for
      EXPECT_NEAR(actual, expected, 2e-5 * scale) << what << ", operand " << i;
    }
  }
}

bool has_float_operand(const Sample& sample) {
  for (const SampleOperand& operand : sample.operands) {
    if (is_float(operand.type.dtype)) return true;
  }
  return false;
}

int64_t work(const Sample& sample) {
  int64_t elements = 0;
  for (const SampleOperand& operand : sample.operands) elements += operand.type.shape.numel();
  return elements;
}

class OpGradients : public testing::TestWithParam<int> {};

/// Op by op, over its own samples; the large ones are left to the oracle tests.
TEST_P(OpGradients, MatchFiniteDifferences) {
  const Op op = static_cast<Op>(GetParam());
  const OpDef& def = op_def(op);
  ASSERT_NE(def.samples, nullptr);
  for (const Sample& sample : def.samples()) {
    if (!has_float_operand(sample) || work(sample) > 600) continue;
    if (op == Op::Complex) continue;  // complex_test has the gradients of pairs
    if (op == Op::Cast && !is_float(sample.attrs.as_type(0))) continue;
    if (op == Op::Cast && sample.attrs.as_type(0) != DType::F64)
      continue;  // steps are rounded away
    std::string what = str(def.name);
    for (const SampleOperand& operand : sample.operands) what += str(" ", operand.type);
    const Differentiated given = differentiate(op, sample, 1, 5);
    expect_finite_differences(given, what);
  }
}

std::vector<int> differentiable_ops() {
  std::vector<int> ops;
  for (int i = 0; i < num_ops(); ++i) {
    const OpDef& def = op_def(static_cast<Op>(i));
    const bool logic = def.name == "any" || def.name == "all";  // composites that give bools
    if (def.kind == OpKind::Composite ? def.samples != nullptr && !logic
                                      : def.gradient != nullptr) {
      ops.push_back(i);
    }
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(All, OpGradients, testing::ValuesIn(differentiable_ops()),
                         [](const auto& info) {
                           return std::string(op_def(static_cast<Op>(info.param)).name);
                         });

class SecondGradients : public testing::TestWithParam<Op> {};

/// Gradients are ordinary ops, so they differentiate again.
TEST_P(SecondGradients, MatchFiniteDifferences) {
  int checked = 0;
  for (const Sample& sample : op_def(GetParam()).samples()) {
    if (!has_float_operand(sample) || work(sample) > 100) continue;
    const Differentiated given = differentiate(GetParam(), sample, 2, 9);
    expect_finite_differences(given, str(GetParam()));
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(Several, SecondGradients,
                         testing::Values(Op::Multiply, Op::Divide, Op::Exp, Op::Log, Op::Tanh,
                                         Op::Sigmoid, Op::Sqrt, Op::Rsqrt, Op::Reciprocal, Op::Erf,
                                         Op::Gelu, Op::Square, Op::Sin, Op::Cos, Op::Pow, Op::Where,
                                         Op::Sum, Op::Matmul, Op::Softmax, Op::LogSumExp),
                         [](const auto& info) { return std::string(op_def(info.param).name); });

/// Builds y from inputs of f64 and gives y and its gradients.
struct Result {
  std::vector<double> y;
  std::vector<std::vector<double>> gradients;
};
template <class Function>
Result gradients_of(const std::vector<std::vector<double>>& inputs, Function function) {
  Graph graph;
  GraphBuilder builder(graph);
  std::vector<Value> xs;
  std::vector<Bytes> data;
  for (const auto& input : inputs) {
    data.push_back(bytes_of(input));
    xs.push_back(builder.input({DType::F64, {static_cast<int64_t>(input.size())}},
                               static_cast<uint32_t>(xs.size())));
  }
  const Value y = function(builder, xs);
  builder.output(y);
  for (Value gradient : gradient(builder, y, builder.ones(builder.type(y)), xs)) {
    builder.output(gradient);
  }
  verify(graph);
  const std::vector<Bytes> outputs = interpret(graph, data);
  Result result{.y = values_of<double>(outputs[0]), .gradients = {}};
  for (size_t i = 1; i < outputs.size(); ++i) {
    result.gradients.push_back(values_of<double>(outputs[i]));
  }
  return result;
}

using Doubles = std::vector<double>;

Value constant(Builder& builder, double value) {
  return builder.constant(value, DType::F64);
}

TEST(Subgradients, TheBranchNotTakenContributesNothing) {
  const Doubles logarithm = gradients_of({{0, 2, 3}}, [](Builder& b, const auto& x) {
                              const Value log2 =
                                  b.div(b.unary(Op::Log, x[0]), constant(b, 0.6931471805599453));
                              const Value twice = b.mul(x[0], constant(b, 2));
                              const Value large = b.binary(Op::Greater, x[0], constant(b, 2));
                              return b.where(large, log2, twice);
                            }).gradients[0];
  EXPECT_THAT(logarithm, testing::ElementsAre(2, 2, testing::DoubleNear(0.48089835, 1e-8)));
  EXPECT_EQ(gradients_of({{0, kInf}},
                         [](Builder& b, const std::vector<Value>& x) {
                           const Value small = b.binary(Op::Less, x[0], constant(b, 1));
                           return b.where(small, b.unary(Op::Cos, x[0]), constant(b, 0));
                         })
                .gradients[0],
            (Doubles{0, 0}));
  EXPECT_EQ(gradients_of({{-1, -4}},
                         [](Builder& b, const std::vector<Value>& x) {
                           const Value positive = b.binary(Op::Greater, x[0], constant(b, 0));
                           return b.where(positive, b.unary(Op::Sqrt, x[0]), x[0]);
                         })
                .gradients[0],
            (Doubles{1, 1}));
  EXPECT_EQ(gradients_of({{5}},
                         [](Builder& b, const std::vector<Value>& x) {
                           const Value never = b.constant(0, DType::Bool);
                           return b.where(never, b.div(x[0], constant(b, 0)), constant(b, 1));
                         })
                .gradients[0],
            (Doubles{0}));
}

TEST(Subgradients, TiesShareEqually) {
  EXPECT_EQ(gradients_of({{.6, .6, .3}},
                         [](Builder& b, const std::vector<Value>& x) {
                           return b.reduce(Op::Max, x[0], 1, false);
                         })
                .gradients[0],
            (Doubles{.5, .5, 0}));
  const Result both = gradients_of({{1, 2, 3}, {1, 3, 2}}, [](Builder& b, const auto& x) {
    return b.binary(Op::Maximum, x[0], x[1]);
  });
  EXPECT_EQ(both.gradients[0], (Doubles{.5, 0, 1}));
  EXPECT_EQ(both.gradients[1], (Doubles{.5, 1, 0}));
  EXPECT_EQ(
      gradients_of({{-1, 0, 2}}, [](Builder& b, const auto& x) { return b.unary(Op::Relu, x[0]); })
          .gradients[0],
      (Doubles{0, 0, 1}));
}

TEST(Subgradients, NanIsWhatAnExtremumChose) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Op op : {Op::Max, Op::Min}) {
    const auto folded = [&](const Doubles& values) {
      return gradients_of({values},
                          [&](Builder& b, const auto& x) { return b.reduce(op, x[0], 1, false); })
          .gradients[0];
    };
    EXPECT_EQ(folded({1, nan, 3}), (Doubles{0, 1, 0}));
    EXPECT_EQ(folded({nan, 1, nan, 3}), (Doubles{0.5, 0, 0.5, 0}));
  }
  for (const Op op : {Op::Maximum, Op::Minimum}) {
    const auto two =
        gradients_of({{1, nan, nan, 2}, {nan, 1, nan, 2}},
                     [&](Builder& b, const auto& x) { return b.binary(op, x[0], x[1]); });
    EXPECT_EQ(two.gradients[0], (Doubles{0, 1, 0.5, 0.5}));
    EXPECT_EQ(two.gradients[1], (Doubles{1, 0, 0.5, 0.5}));
  }
}

TEST(Subgradients, CornersOfTwoOperandsAreFinite) {
  const auto angle = gradients_of({{0, 0, -2}, {0, -1, 0}}, [](Builder& b, const auto& x) {
    return b.binary(Op::Atan2, x[0], x[1]);
  });
  EXPECT_EQ(angle.gradients[0], (Doubles{0, -1, 0}));
  EXPECT_EQ(angle.gradients[1], (Doubles{0, 0, 0.5}));
  // The square of the distance would vanish, or overflow.
  for (const double size : {1e-200, 1e200}) {
    const auto far = gradients_of({{size}, {size}}, [](Builder& b, const auto& x) {
      return b.binary(Op::Atan2, x[0], x[1]);
    });
    EXPECT_NEAR(far.gradients[0][0] * size, 0.5, 1e-15);
  }
  const auto power = gradients_of({{0, 0, 2}, {0, 2, 0}}, [](Builder& b, const auto& x) {
    return b.binary(Op::Pow, x[0], x[1]);
  });
  EXPECT_EQ(power.gradients[0], (Doubles{0, 0, 0}));
  EXPECT_EQ(power.gradients[1], (Doubles{0, 0, std::log(2.0)}));
}

TEST(Subgradients, KinksAtZeroAreFinite) {
  EXPECT_EQ(
      gradients_of({{0, -2}}, [](Builder& b, const auto& x) { return b.unary(Op::Abs, x[0]); })
          .gradients[0],
      (Doubles{0, -1}));
  // ||x|| at 0: the square root's cotangent meets a zero.
  EXPECT_EQ(gradients_of({{0, 0}},
                         [](Builder& b, const auto& x) {
                           const Value squares = b.unary(Op::Square, x[0]);
                           return b.unary(Op::Sqrt, b.reduce(Op::Sum, squares, 1, false));
                         })
                .gradients[0],
            (Doubles{0, 0}));
  // A cotangent of zero through the root of zero is zero, not NaN.
  EXPECT_EQ(gradients_of({{0}},
                         [](Builder& b, const auto& x) {
                           return b.mul(b.unary(Op::Sqrt, x[0]), constant(b, 0));
                         })
                .gradients[0],
            (Doubles{0}));
}

TEST(Gradients, HigherOrders) {
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F64, {}}, 0);
  const Value xs[] = {x};
  Value y = builder.mul(builder.mul(x, x), x);
  for (int order = 0; order < 4; ++order) {
    builder.output(y);
    y = gradient(builder, y, builder.constant(1, DType::F64), xs)[0];
  }
  const std::vector<Bytes> outputs = interpret(graph, {bytes_of(Doubles{3})});
  const double expected[] = {27, 27, 18, 6};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(values_of<double>(outputs[i])[0], expected[i]);
}

// exp's gradient reuses its result, so the second pass walks into the first one's ops.
TEST(Gradients, SecondOrderThroughReusedResults) {
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F64, {}}, 0);
  const Value xs[] = {x};
  const Value y = builder.unary(Op::Exp, builder.mul(x, builder.constant(3, DType::F64)));
  const Value one = builder.constant(1, DType::F64);
  const Value first = gradient(builder, y, one, xs)[0];
  builder.output(y);
  builder.output(gradient(builder, first, one, xs)[0]);
  const std::vector<Bytes> outputs = interpret(graph, {bytes_of(Doubles{0.5})});
  EXPECT_DOUBLE_EQ(values_of<double>(outputs[1])[0], 9 * values_of<double>(outputs[0])[0]);
}

TEST(Gradients, OfAValueByItselfIsTheSeed) {
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F32, {3}}, 0);
  const Value seed = builder.input({DType::F32, {3}}, 1);
  const Value xs[] = {x, x};
  EXPECT_EQ(gradient(builder, x, seed, xs), (std::vector<Value>{seed, seed}));
}

// An intermediate value may be asked for together with what it was computed from.
TEST(Gradients, OfIntermediateValues) {
  const Result result =
      gradients_of({{3}}, [](Builder& b, const auto& x) { return b.mul(x[0], x[0]); });
  EXPECT_EQ(result.gradients[0], Doubles{6});
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F64, {}}, 0);
  const Value square = builder.mul(x, x);
  const Value y = builder.mul(square, square);
  const Value xs[] = {square, x};
  for (Value g : gradient(builder, y, builder.constant(1, DType::F64), xs)) builder.output(g);
  const std::vector<Bytes> outputs = interpret(graph, {bytes_of(Doubles{3})});
  EXPECT_EQ(values_of<double>(outputs[0])[0], 18);
  EXPECT_EQ(values_of<double>(outputs[1])[0], 108);
}

TEST(Gradients, NothingIsRecordedForWhatNobodyAsks) {
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F32, {3}}, 0);
  const Value other = builder.input({DType::F32, {3}}, 1);
  const Value deep = builder.unary(Op::Tanh, builder.unary(Op::Exp, other));
  const Value y = builder.add(x, deep);
  const Value seed = builder.ones(builder.type(y));
  const uint32_t before = graph.size();
  const Value xs[] = {x};
  EXPECT_EQ(gradient(builder, y, seed, xs)[0], seed);
  EXPECT_EQ(graph.size(), before);
}

template <class E, class Function>
void expect_error(const std::string& text, Function function) {
  try {
    function();
    ADD_FAILURE() << "no error: " << text;
  } catch (const E& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(Gradients, WrongArgumentsAreNamed) {
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F32, {3}}, 0);
  const Value integers = builder.input({DType::I32, {3}}, 1);
  const Value y = builder.neg(x);
  const Value ones = builder.ones({DType::F32, {3}});
  const Value xs[] = {x, integers};
  expect_error<DTypeError>("x1 of i32[3]", [&] { (void)gradient(builder, y, ones, xs); });
  const Value just_x[] = {x};
  expect_error<ShapeError>("f32[4]", [&] {
    (void)gradient(builder, y, builder.ones({DType::F32, {4}}), just_x);
  });
  expect_error<DTypeError>("f64[3]", [&] {
    (void)gradient(builder, y, builder.ones({DType::F64, {3}}), just_x);
  });
  expect_error<DTypeError>("i32[3]", [&] {
    (void)gradient(builder, integers, builder.ones({DType::I32, {3}}), just_x);
  });
}

TEST(Gradients, LongChainsDoNotRecurse) {
  constexpr int kLength = 100'000;
  run_on_small_stack([] {
    Graph graph;
    GraphBuilder builder(graph);
    const Value x = builder.input({DType::F64, {2}}, 0);
    Value y = x;
    for (int i = 0; i < kLength; ++i) y = builder.mul(y, builder.constant(1, DType::F64));
    const Value xs[] = {x};
    builder.output(gradient(builder, y, builder.ones(builder.type(y)), xs)[0]);
    const Graph simple = simplify(canonicalize(graph));
    EXPECT_EQ(values_of<double>(interpret(simple, {bytes_of(Doubles{5, 7})})[0]), (Doubles{1, 1}));
  });
}

// 2^60 paths from y to x: each value is differentiated once.
TEST(Gradients, SharedSubexpressionsDoNotExplode) {
  const Result result = gradients_of({{1}}, [](Builder& b, const auto& x) {
    Value a = x[0];
    Value c = constant(b, 0);
    for (int i = 0; i < 60; ++i) {
      const Value sum = b.add(a, c);
      c = b.sub(a, c);
      a = sum;
    }
    return a;
  });
  EXPECT_EQ(result.y[0], 1073741824);
  EXPECT_EQ(result.gradients[0][0], 1073741824);
}

}  // namespace
}  // namespace reprise
