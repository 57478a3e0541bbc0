// Recording: counts, expansion of composites, what needs no node, gradients that stay small.
#include "ir/builder.h"

#include <gmock/gmock.h>

#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {
namespace {

using testing::ThrowsMessage;

int count(const Graph& graph, Op op) {
  int found = 0;
  for (const Node& node : graph.nodes()) found += node.op == op ? 1 : 0;
  return found;
}

class Recording : public testing::Test {
 protected:
  Value input(const Shape& shape, DType dtype = DType::F32) {
    return b.input({dtype, shape}, next_++);
  }
  /// Node count, for "records nothing more".
  [[nodiscard]] uint32_t size() const { return graph.size(); }
  /// What is left of the graph when `values` are its outputs.
  Graph live(std::initializer_list<Value> values) {
    for (Value value : values) b.output(value);
    return cse(dce(graph));
  }

  Graph graph;
  GraphBuilder b{graph};

 private:
  uint32_t next_ = 0;
};

TEST_F(Recording, ChecksHowManyOperands) {
  const Value x = input({3});
  EXPECT_THAT(([&] { return b.record(Op::Add, {x}); }),
              ThrowsMessage<ShapeError>("add: takes 2 operands, got 1"));
  EXPECT_THAT(([&] { return b.record(Op::Concat, {}, Attrs().add_int(0)); }),
              ThrowsMessage<ShapeError>("concat: takes 1 operands or more, got 0"));
}

TEST_F(Recording, AFailedRecordLeavesNoNode) {
  const Value x = input({3}), y = input({4});
  const uint32_t before = size();
  EXPECT_THROW(b.add(x, y), ShapeError);
  EXPECT_EQ(size(), before);
}

TEST_F(Recording, WhatChangesNothingIsTheOperandItself) {
  const Value x = input({2, 3});
  EXPECT_EQ(b.cast(x, DType::F32), x);
  EXPECT_EQ(b.reshape(x, {2, 3}), x);
  EXPECT_EQ(b.broadcast_to(x, {2, 3}), x);
  EXPECT_EQ(b.unbroadcast(x, {2, 3}), x);
  EXPECT_EQ(b.reduce(Op::Sum, x, 0, false), x);
  EXPECT_EQ(b.reduce(Op::Max, x, 0, true), x);
}

/// A reduction over no axis still changes the dtype: the sum of a bool scalar is an i64.
TEST_F(Recording, ReductionOverNoAxisKeepsItsDtypeRule) {
  const Value flag = input({}, DType::Bool);
  EXPECT_EQ(b.type(b.reduce(Op::Sum, flag, 0, false)), (TensorType{DType::I64, {}}));
  EXPECT_EQ(b.type(b.reduce(Op::ArgMax, input({}), 0, false)), (TensorType{DType::I64, {}}));
  EXPECT_EQ(b.type(b.reduce(Op::Mean, input({}, DType::I32), 0, false)),
            (TensorType{DType::F32, {}}));
}

TEST_F(Recording, ManyOperandsAreTyped) {
  std::vector<Value> parts;
  for (int64_t i = 0; i < 9; ++i) parts.push_back(input({i, 2}));
  EXPECT_EQ(b.shape(b.record(Op::Concat, parts, Attrs().add_int(0))), (Shape{36, 2}));
}

TEST_F(Recording, AttributesLeftOutAreZero) {
  const Value y = b.unary(Op::Gelu, input({3}));
  EXPECT_EQ(b.view(y).attrs, Attrs().add_int(0));
  EXPECT_EQ(b.shape(b.record(Op::CrossEntropy, {input({4, 3}), input({4}, DType::I64)})), Shape{});
}

TEST_F(Recording, CompositesBecomeTheirParts) {
  const Value x = input({4, 5});
  const Value y = b.record(Op::Softmax, {x}, Attrs().add_int(1));
  for (const Node& node : graph.nodes()) EXPECT_NE(op_def(node.op).kind, OpKind::Composite);
  EXPECT_EQ(b.type(y), b.type(x));
  EXPECT_EQ(count(graph, Op::Exp), 1);
  EXPECT_EQ(count(graph, Op::Max), 1);
  EXPECT_EQ(count(graph, Op::Sum), 1);
}

/// Max of an empty row throws; softmax of it has nothing to compute.
TEST_F(Recording, CompositesTakeEmptyTensors) {
  const Value x = input({2, 0});
  EXPECT_EQ(b.shape(b.record(Op::Softmax, {x}, Attrs().add_int(1))), (Shape{2, 0}));
  EXPECT_EQ(b.shape(b.record(Op::LogSumExp, {x}, Attrs().add_int(2).add_int(0))), (Shape{2}));
  EXPECT_EQ(b.shape(b.reduce(Op::Mean, x, 2, false)), (Shape{2}));
  EXPECT_EQ(b.shape(b.reduce(Op::Any, x, 2, false)), (Shape{2}));
  EXPECT_EQ(b.shape(b.record(Op::Concat, {x, x}, Attrs().add_int(1))), (Shape{2, 0}));
  EXPECT_EQ(b.shape(b.record(Op::CrossEntropy, {input({0, 5}), input({0}, DType::I64)})), Shape{});
}

TEST_F(Recording, ConcatNeverAdds) {
  b.record(Op::Concat, {input({3}), input({2}), input({4})}, Attrs().add_int(0));
  EXPECT_EQ(count(graph, Op::Add), 0);
  EXPECT_EQ(count(graph, Op::Where), 2);
}

TEST_F(Recording, UnbroadcastSumsWhatWasRepeated) {
  EXPECT_EQ(b.shape(b.unbroadcast(input({2, 3, 5}), {3, 1})), (Shape{3, 1}));
  EXPECT_EQ(b.shape(b.unbroadcast(input({2, 3}), {})), Shape{});
  EXPECT_EQ(b.shape(b.unbroadcast(input({0, 3}), {1, 3})), (Shape{1, 3}));
  const uint32_t before = size();
  b.unbroadcast(Value{0}, {3, 5});
  EXPECT_EQ(size(), before + 1) << "leading axes need no reshape";
}

TEST_F(Recording, GradientsSumOverBroadcastOperands) {
  const Value x = input({4, 3}), bias = input({3});
  const Value y = b.reduce(Op::Sum, b.add(x, bias), 3, false);
  const Value one = b.constant(1, DType::F32);
  const Value xs[] = {x, bias};
  const std::vector<Value> gradients = gradient(b, y, one, xs);
  EXPECT_EQ(b.shape(gradients[0]), (Shape{4, 3}));
  EXPECT_EQ(b.shape(gradients[1]), (Shape{3}));
}

/// (softmax - onehot) / N: one exp shared with the loss, no reduction over the classes.
TEST_F(Recording, CrossEntropyGradientIsSmall) {
  const Value logits = input({64, 10}), labels = input({64}, DType::I64);
  const Value loss = b.record(Op::CrossEntropy, {logits, labels});
  const Graph forward = [&] {
    Graph copy = graph;
    copy.add_output(NodeId{loss.index});
    return cse(dce(copy));
  }();
  const Value xs[] = {logits};
  const std::vector<Value> gradients = gradient(b, loss, b.constant(1, DType::F32), xs);
  const Graph both = live({loss, gradients[0]});
  EXPECT_EQ(count(both, Op::Exp), 1);
  EXPECT_EQ(count(both, Op::Log), 1);
  EXPECT_EQ(count(both, Op::Sum), count(forward, Op::Sum));
  EXPECT_EQ(count(both, Op::Max), 1);
  EXPECT_LE(both.size(), forward.size() + 16);
}

/// The next layer reads the result anyway; the operand would have to be stored for its sign alone.
TEST_F(Recording, ReluGradientReadsTheResult) {
  const Value x = input({3});
  const Value y = b.unary(Op::Relu, x);
  const Value xs[] = {x};
  const Value g = gradient(b, y, b.ones(b.type(y)), xs)[0];
  EXPECT_EQ(b.view(Value{b.view(g).operands[0].index}).operands[1], NodeId{y.index});
}

TEST_F(Recording, MatmulGradientsAreTwoProducts) {
  const Value a = input({4, 3}), c = input({3, 5});
  const Value y = b.reduce(Op::Sum, b.matmul(a, c), 3, false);
  const Value xs[] = {a, c};
  const std::vector<Value> gradients = gradient(b, y, b.constant(1, DType::F32), xs);
  const Graph only = live({gradients[0], gradients[1]});
  EXPECT_EQ(count(only, Op::Matmul), 2);
  EXPECT_EQ(count(only, Op::Sum), 0);
}

/// The input gradient of a first layer is waste: nothing asks for it.
TEST_F(Recording, NothingIsRecordedForUnwantedOperands) {
  const Value data = input({4, 3}), weights = input({3, 5});
  const Value y = b.reduce(Op::Sum, b.matmul(data, weights), 3, false);
  const int before = count(graph, Op::Matmul);
  const Value xs[] = {weights};
  (void)gradient(b, y, b.constant(1, DType::F32), xs);
  EXPECT_EQ(count(graph, Op::Matmul), before + 1);
}

TEST_F(Recording, DtypesOfHalfPrecisionSurviveComposites) {
  const Value x = input({4, 5}, DType::F16);
  const Value y = b.record(Op::LogSoftmax, {x}, Attrs().add_int(1));
  EXPECT_EQ(b.dtype(y), DType::F16);
  const Value xs[] = {x};
  const Value sum = b.reduce(Op::Sum, y, 3, false);
  EXPECT_EQ(b.dtype(gradient(b, sum, b.constant(1, DType::F16), xs)[0]), DType::F16);
}

}  // namespace
}  // namespace reprise
