// Tests of the graph container: text form, parse errors, every verifier rule, keys, deep chains.
#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/error.h"
#include "ir/hash.h"
#include "passes/graph_passes.h"
#include "small_stack.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class E, class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "no error of that kind";
}

Node input_node(uint32_t index, const TensorType& type, std::vector<int64_t> strides = {}) {
  return {.op = Op::Input,
          .type = type,
          .operands = {},
          .attrs = Attrs().add_int(index).add_ints(strides)};
}

const TensorType kVector{DType::F32, {4}};

TEST(GraphText, PrintsWhatTheBriefFormSays) {
  Graph graph;
  GraphBuilder builder(graph);
  const Value x = builder.input({DType::F32, {64, 784}}, 0);
  const Value scale = builder.parameter(DType::F32, 0);
  const Value product = builder.mul(x, scale);
  builder.output(builder.reduce(Op::Sum, product, 0b10, false));
  EXPECT_EQ(print(graph), R"(graph {
  %0 = input {index=0, strides=[]} : f32[64,784]
  %1 = parameter {index=0} : f32[]
  %2 = multiply %0, %1 : f32[64,784]
  %3 = sum %2 {axes=[1], keepdims=0} : f32[64]
  return %3
}
)");
}

// Every kind of attribute, leaves without operands, several outputs, an empty graph.
TEST(GraphText, ParsesWhatItPrints) {
  for (const char* text : {"graph {\n  return\n}\n",
                           R"(graph {
  %0 = input {index=3, strides=[-4,1]} : f64[2,3]
  %1 = constant {value=-0} : f32[]
  %2 = constant {value=nan:0x7ff8000000000000} : f16[]
  %3 = constant {value=1e-310} : f64[]
  %4 = cast %0 {dtype=bf16} : bf16[2,3]
  %5 = permute %0 {order=[1,0]} : f64[3,2]
  %6 = slice %5 {starts=[2,0], steps=[-1,1]} : f64[3,2]
  %7 = max %0 {axes=[0,1], keepdims=1} : f64[1,1]
  %8 = iota {axis=1} : i64[2,3]
  return %4, %6, %7, %8, %3, %3
}
)"}) {
    const Graph graph = parse_graph(text);
    EXPECT_EQ(print(graph), text);
    verify(graph);
    EXPECT_EQ(parse_graph(print(graph)), graph);
  }
}

TEST(GraphText, SpacesAndCommentsMeanNothing) {
  const Graph graph =
      parse_graph("graph{%0=input{index=0,strides=[ ]}:f32[ 4 ] # a leaf\n# nothing\n return %0}");
  EXPECT_EQ(graph.size(), 1u);
  EXPECT_EQ(graph[NodeId{0}], input_node(0, kVector));
}

struct ParseFault {
  const char* text;
  const char* error;
};

TEST(GraphText, ErrorsNameLineAndColumn) {
  const ParseFault faults[] = {
      {"grap {", "line 1, column 1: expected 'graph', found 'grap'"},
      {"graph {\n  %0 = input {index=0, strides=[]} : f32[4]\n}\n",
       "line 3, column 1: expected a value '%N' or 'return', found '}'"},
      {"graph {\n  %1 = constant {value=0} : f32[]\n  return\n}\n",
       "line 2, column 3: values are numbered in order: expected %0, found %1"},
      {"graph {\n  %0 = wibble : f32[4]\n  return\n}\n", "line 2, column 8: unknown op 'wibble'"},
      {"graph {\n  %0 = exp %0 : f32[4]\n  return\n}\n",
       "line 2, column 12: %0 is not defined yet"},
      {"graph {\n  %0 = exp %7 : f32[4]\n  return\n}\n",
       "line 2, column 12: %7 is not defined yet"},
      {"graph {\n  return %0\n}\n", "line 2, column 10: %0 is not defined yet"},
      {"graph {\n  %0 = constant {valu=0} : f32[]\n  return\n}\n",
       "line 2, column 18: expected the attribute 'value' of constant, found 'valu'"},
      {"graph {\n  %0 = constant {value=zero} : f32[]\n  return\n}\n",
       "line 2, column 24: expected a number, found 'zero'"},
      {"graph {\n  %0 = constant : f32[]\n  return\n}\n",
       "line 2, column 17: expected the attribute 'value' of constant, found ':'"},
      {"graph {\n  %0 = input {index=0} : f32[4]\n  return\n}\n",
       "line 2, column 22: expected the attribute 'strides' of input, found '}'"},
      {"graph {\n  %0 = input {index=0, strides=[]} : f32[4]\n  %1 = sum %0 {axes=[0]} : f32[]\n  "
       "return\n}\n",
       "line 3, column 24: expected the attribute 'keepdims' of sum, found '}'"},
      {"graph {\n  %0 = constant {value=0}\n  return\n}\n",
       "line 3, column 3: expected ':', found 'return'"},
      {"graph {\n  %0 = constant {value=0} : f31[]\n  return\n}\n",
       "line 2, column 29: expected a dtype, found 'f31'"},
      {"graph {\n  %0 = iota {axis=0} : f32[1,1,1,1,1,1,1,1,1]\n  return\n}\n",
       "rank 9 exceeds kMaxDims=8"},
      {"graph {\n  %0 = iota {axis=0} : f32[-2]\n  return\n}\n", "line 2, column"},
      {"graph {\n  %0 = input {index=0, strides=[]} : f32[4]\n  %1 = sum %0 {axes=[8], keepdims=0} "
       ": f32[]\n  return\n}\n",
       "axis 8 is not in [0,8)"},
      {"graph {\n  %0 = input {index=0, strides=[]} : f32[4]\n  %1 = sum %0 {axes=[1,0], "
       "keepdims=0} : f32[]\n  return\n}\n",
       "axes are listed in ascending order"},
      {"graph {\n  return\n}\ngraph", "line 4, column 1: expected the end of the text"},
      {"graph {", "found the end of the text"},
  };
  for (const ParseFault& fault : faults) {
    EXPECT_THAT(error_of<ParseError>([&] { (void)parse_graph(fault.text); }),
                HasSubstr(fault.error))
        << fault.text;
  }
}

std::string rule_broken(const Graph& graph) {
  return error_of<InternalError>([&] { verify(graph); });
}

TEST(GraphVerifier, G01OpIsInTheTable) {
  Graph graph;
  graph.add({.op = static_cast<Op>(60000), .type = kVector, .operands = {}, .attrs = {}});
  EXPECT_THAT(rule_broken(graph), StartsWith("G01: %0 = op#60000"));
}

TEST(GraphVerifier, G02CompositesAreNoNodes) {
  Graph graph;
  graph.add(input_node(0, kVector));
  graph.add({.op = Op::Softmax, .type = kVector, .operands = {NodeId{0}}, .attrs = {}});
  EXPECT_THAT(rule_broken(graph), StartsWith("G02: %1 = softmax %0"));
}

TEST(GraphVerifier, G03OperandCount) {
  Graph graph;
  graph.add(input_node(0, kVector));
  graph.add({.op = Op::Add, .type = kVector, .operands = {NodeId{0}}, .attrs = {}});
  EXPECT_THAT(rule_broken(graph), StartsWith("G03: %1 = add %0 : f32[4]: 1 operands"));
}

TEST(GraphVerifier, G04OperandsPrecede) {
  Graph graph;
  graph.add({.op = Op::Exp, .type = kVector, .operands = {NodeId{1}}, .attrs = {}});
  graph.add(input_node(0, kVector));
  EXPECT_THAT(rule_broken(graph), StartsWith("G04: %0 = exp %1"));
  Graph itself;
  itself.add({.op = Op::Exp, .type = kVector, .operands = {NodeId{0}}, .attrs = {}});
  EXPECT_THAT(rule_broken(itself), StartsWith("G04"));
}

TEST(GraphVerifier, G05AttributesMatchTheSchema) {
  const auto broken = [](Op op, Attrs attrs, TensorType type) {
    Graph graph;
    graph.add(input_node(0, {DType::F32, {4}}));
    graph.add({.op = op, .type = type, .operands = {NodeId{0}}, .attrs = std::move(attrs)});
    return rule_broken(graph);
  };
  EXPECT_THAT(broken(Op::Sum, Attrs(), {DType::F32, {}}), StartsWith("G05: %1 = sum %0 {?[]}"));
  EXPECT_THAT(broken(Op::Sum, Attrs().add_int(1), {DType::F32, {}}), StartsWith("G05"));
  EXPECT_THAT(broken(Op::Sum, Attrs().add_int(1 << kMaxDims).add_int(0), {DType::F32, {}}),
              StartsWith("G05"));
  EXPECT_THAT(broken(Op::Exp, Attrs().add_int(1), kVector), StartsWith("G05"));
  EXPECT_THAT(broken(Op::Cast, Attrs().add_int(kNumDTypes), kVector), StartsWith("G05"));
  EXPECT_THAT(broken(Op::Permute, Attrs().add_int(2).add_int(0), kVector), StartsWith("G05"));
  EXPECT_THAT(broken(Op::Permute, Attrs().add_int(-1), kVector), StartsWith("G05"));
}

TEST(GraphVerifier, G06TypeIsTheInferredOne) {
  Graph graph;
  graph.add(input_node(0, kVector));
  graph.add({.op = Op::Exp, .type = {DType::F32, {5}}, .operands = {NodeId{0}}, .attrs = {}});
  EXPECT_THAT(rule_broken(graph),
              StartsWith("G06: %1 = exp %0 : f32[5]: the op's rule gives f32[4]"));
  // What inference refuses is reported under the same rule.
  Graph refused;
  refused.add(input_node(0, {DType::F32, {3}}));
  refused.add(input_node(1, {DType::F32, {4}}));
  refused.add({.op = Op::Add, .type = kVector, .operands = {NodeId{0}, NodeId{1}}, .attrs = {}});
  EXPECT_THAT(rule_broken(refused), StartsWith("G06: %2 = add %0, %1 : f32[4]: "));
}

TEST(GraphVerifier, G07LeavesOfOneIndexAgree) {
  Graph types;
  types.add(input_node(0, kVector));
  types.add(input_node(0, {DType::F32, {2, 2}}));
  EXPECT_THAT(rule_broken(types), StartsWith("G07: %1 = input"));
  Graph layouts;
  layouts.add(input_node(0, kVector));
  layouts.add(input_node(0, kVector, {-1}));
  EXPECT_THAT(rule_broken(layouts), StartsWith("G07"));
  Graph strides;
  strides.add(input_node(0, kVector, {4, 1}));
  EXPECT_NE(rule_broken(strides), "no error of that kind");
  Graph parameters;
  for (DType dtype : {DType::F32, DType::I32}) {
    parameters.add(
        {.op = Op::Parameter, .type = {dtype, {}}, .operands = {}, .attrs = Attrs().add_int(0)});
  }
  EXPECT_THAT(rule_broken(parameters), StartsWith("G07"));
  // The same leaf mentioned twice is fine, and so are an input and a parameter of one index.
  Graph fine;
  fine.add(input_node(0, kVector));
  fine.add(input_node(0, kVector));
  fine.add(
      {.op = Op::Parameter, .type = {DType::F32, {}}, .operands = {}, .attrs = Attrs().add_int(0)});
  verify(fine);
}

TEST(GraphVerifier, G08OutputsExist) {
  Graph graph;
  graph.add(input_node(0, kVector));
  graph.add_output(NodeId{1});
  EXPECT_THAT(rule_broken(graph), StartsWith("G08: output %1"));
  Graph invalid;
  invalid.add_output(NodeId{});
  EXPECT_THAT(rule_broken(invalid), StartsWith("G08"));
}

TEST(GraphKeys, EveryPartCounts) {
  const auto build = [](const TensorType& type, std::vector<int64_t> strides, Op op, double value,
                        bool swap, bool both) {
    Graph graph;
    GraphBuilder builder(graph);
    const Value x = builder.input(type, 0, strides);
    const Value c = builder.constant(value, type.dtype);
    const Value y = swap ? builder.binary(op, c, x) : builder.binary(op, x, c);
    builder.output(y);
    if (both) builder.output(x);
    return graph;
  };
  const std::vector<Graph> graphs = {
      build({DType::F32, {4}}, {}, Op::Add, 0.0, false, false),
      build({DType::F64, {4}}, {}, Op::Add, 0.0, false, false),
      build({DType::F32, {5}}, {}, Op::Add, 0.0, false, false),
      build({DType::F32, {2, 2}}, {}, Op::Add, 0.0, false, false),
      build({DType::F32, {4}}, {2}, Op::Add, 0.0, false, false),
      build({DType::F32, {4}}, {}, Op::Subtract, 0.0, false, false),
      build({DType::F32, {4}}, {}, Op::Add, -0.0, false, false),
      build({DType::F32, {4}}, {}, Op::Add, 0.0, true, false),
      build({DType::F32, {4}}, {}, Op::Add, 0.0, false, true),
  };
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (size_t j = 0; j < graphs.size(); ++j) {
      EXPECT_EQ(key_bytes(graphs[i]) == key_bytes(graphs[j]), i == j) << i << " " << j;
      EXPECT_EQ(hash(graphs[i]) == hash(graphs[j]), i == j) << i << " " << j;
    }
  }
  EXPECT_EQ(hash(graphs[0]), hash(parse_graph(print(graphs[0]))));
}

TEST(GraphKeys, HashesAreTheSameInEveryProcess) {
  EXPECT_EQ(to_string(hash_bytes(std::string_view(""))), "99aa06d3014798d86001c324468d497f");
}

// Two recordings of the same computation in different orders share one canonical graph.
TEST(Canonicalize, RecordingOrderDoesNotMatter) {
  Graph first;
  {
    GraphBuilder builder(first);
    const Value a = builder.input(kVector, 0);
    const Value b = builder.input(kVector, 1);
    const Value e = builder.unary(Op::Exp, a);
    const Value l = builder.unary(Op::Log, b);
    builder.output(builder.add(builder.mul(e, l), a));
  }
  Graph second;
  {
    GraphBuilder builder(second);
    const Value b = builder.input(kVector, 1);
    const Value l = builder.unary(Op::Log, b);
    const Value a = builder.input(kVector, 0);
    const Value e = builder.unary(Op::Exp, a);
    const Value product = builder.mul(l, e);
    (void)builder.unary(Op::Tanh, product);  // dead
    builder.output(builder.add(a, product));
  }
  EXPECT_EQ(print(canonicalize(first)), print(canonicalize(second)));
  EXPECT_EQ(canonicalize(canonicalize(first)), canonicalize(first));
}

// Passes walk chains and doubling ladders (2^n paths) without recursion, node by node.
TEST(DeepGraphs, PassesDoNotRecurse) {
  constexpr int kLength = 100'000;
  run_on_small_stack([] {
    Graph chain;
    GraphBuilder builder(chain);
    const Value x = builder.input({DType::F32, {2}}, 0);
    const Value one = builder.constant(1, DType::F32);
    Value y = x;
    for (int i = 0; i < kLength; ++i) y = builder.add(y, one);
    builder.output(y);
    verify(chain);
    EXPECT_EQ(dce(chain).size(), chain.size());
    EXPECT_EQ(cse(chain).size(), chain.size());
    EXPECT_EQ(canonicalize(chain).size(), chain.size());
    EXPECT_EQ(simplify(chain).size(), chain.size());
    EXPECT_EQ(parse_graph(print(chain)), chain);
    EXPECT_EQ(hash(chain), hash(dce(chain)));
  });
}

TEST(DeepGraphs, ChainsOfEveryRewriteCollapse) {
  constexpr int kLength = 100'000;
  run_on_small_stack([] {
    Graph graph;
    GraphBuilder builder(graph);
    const Value x = builder.input({DType::F32, {2, 3}}, 0);
    const Value one = builder.constant(1, DType::F32);
    const std::array<int64_t, 2> order = {1, 0};
    Value y = x;
    Value sum = builder.constant(0, DType::I32);
    const Value two = builder.constant(2, DType::I32);
    for (int i = 0; i < kLength / 4; ++i) {
      y = builder.mul(y, one);
      y = builder.permute(y, order);
      y = builder.neg(y);
      y = builder.reshape(y, i % 2 == 0 ? Shape{6} : Shape{2, 3});
      if (i % 2 == 0) y = builder.reshape(y, Shape{2, 3});
      sum = builder.add(sum, two);
    }
    builder.output(y);
    builder.output(sum);
    const Graph simple = simplify(canonicalize(graph));
    verify(simple);
    EXPECT_EQ(simple[simple.outputs()[1]].op, Op::Constant);
    EXPECT_EQ(simple[simple.outputs()[1]].attrs.as_float(0), kLength / 2);
  });
}

TEST(DeepGraphs, SharedSubexpressionsAreVisitedOnce) {
  run_on_small_stack([] {
    Graph graph;
    GraphBuilder builder(graph);
    Value a = builder.input({DType::F32, {}}, 0);
    Value b = builder.input({DType::F32, {}}, 1);
    for (int i = 0; i < 20'000; ++i) {
      const Value sum = builder.add(a, b);
      b = builder.sub(a, b);
      a = sum;
    }
    builder.output(a);
    EXPECT_EQ(cse(simplify(canonicalize(graph))).size(), graph.size() - 1);
  });
}

}  // namespace
}  // namespace reprise
