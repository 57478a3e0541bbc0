// Random programs in every mode against the reference interpreter; and that a failure is made
// small.
//
// The programs differ from day to day. REPRISE_FUZZ_SEED takes a seed that was printed.
#include "tests/fuzz/fuzz_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <regex>

#include "ir/error.h"
#include "random_program.h"
#include "tests/fuzz/reduce_program.h"

namespace reprise {
namespace {

// Sanitizers make compiling several times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kPrograms = 150;
#else
constexpr int kPrograms = 1000;
#endif

uint64_t seed_of_today() {
  if (const char* wanted = std::getenv("REPRISE_FUZZ_SEED"))
    return std::strtoull(wanted, nullptr, 0);
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(
      std::chrono::system_clock::now().time_since_epoch());
  return static_cast<uint64_t>(hours.count() / 24) * 100000;
}

TEST(FuzzPrograms, EveryModeGivesTheInterpretersBits) {
  FuzzOptions options;
  options.seed = seed_of_today();
  options.count = kPrograms;
  options.sample = true;
  std::cout << "REPRISE_FUZZ_SEED=" << options.seed << std::endl;
  std::ostringstream text;
  const FuzzResult result = fuzz_programs(options, text);
  EXPECT_EQ(result.failures, 0) << text.str();
  EXPECT_EQ(result.programs, kPrograms);
}

/// Between them, few programs have every op that is no composite, and every dtype.
TEST(FuzzPrograms, CoverTheOpTable) {
  std::vector<int> ops(static_cast<size_t>(num_ops())), dtypes(kNumDTypes);
  int assigns = 0, strided = 0, empty = 0, large = 0;
  for (uint64_t seed = 0; seed < 1600; ++seed) {
    const Program program = random_program(seed);
    verify(program.graph);
    assigns += !program.assigns.empty();
    for (const Node& node : program.graph.nodes()) {
      ++ops[static_cast<size_t>(node.op)];
      ++dtypes[static_cast<size_t>(node.type.dtype)];
      strided += node.op == Op::Input && !node.attrs.ints(1).empty();
      empty += node.type.shape.numel() == 0;
      large += node.type.shape.numel() > 4096;
    }
  }
  for (int i = 0; i < num_ops(); ++i) {
    const Op op = static_cast<Op>(i);
    if (op_def(op).kind == OpKind::Composite) continue;
    EXPECT_GT(ops[static_cast<size_t>(i)], 10) << op;
  }
  for (int d = 0; d <= static_cast<int>(DType::F64); ++d) {
    EXPECT_GT(dtypes[static_cast<size_t>(d)], 50) << static_cast<DType>(d);
  }
  EXPECT_GT(assigns, 100);
  EXPECT_GT(strided, 100);
  EXPECT_GT(empty, 100);
  EXPECT_GT(large, 20);
}

TEST(FuzzPrograms, AreTheSameForTheSameSeed) {
  for (const uint64_t seed : {1u, 20000u, 4000000000u}) {
    const Program a = random_program(seed), b = random_program(seed);
    EXPECT_EQ(print(a), print(b));
    EXPECT_EQ(a.data.inputs, b.data.inputs);
    EXPECT_EQ(a.data.parameters, b.data.parameters);
  }
}

// Faults, as a mode that is wrong about one thing would show them.

int64_t count_ops(const Graph& graph) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                       [](const Node& node) { return op_def(node.op).kind != OpKind::Leaf; });
}

template <Op op>
std::string says_op_is_wrong(const Program& program) {
  for (const Node& node : program.graph.nodes()) {
    if (node.op == op) return str("output 0, ", node.type, ", element 0: wrong");
  }
  return {};
}

template <Op op>
void expect_one_op_found() {
  int found = 0;
  for (uint64_t seed = 1; found < 3; ++seed) {
    const Program program = random_program(seed);
    if (says_op_is_wrong<op>(program).empty()) continue;
    ++found;
    const Program small =
        reduce_program(program, [](const Program& p) { return !says_op_is_wrong<op>(p).empty(); });
    EXPECT_EQ(count_ops(small.graph), 1) << print(small) << "from\n" << print(program);
    EXPECT_EQ(small.graph.outputs().size(), 1u);
    EXPECT_TRUE(small.assigns.empty());
    for (const Node& node : small.graph.nodes()) {
      EXPECT_LE(node.type.shape.numel(), 8) << print(small);
    }
  }
}

TEST(ReduceProgram, FindsTheOneOp) {
  expect_one_op_found<Op::Erf>();
  expect_one_op_found<Op::FloorDivide>();
  expect_one_op_found<Op::Sum>();
  expect_one_op_found<Op::Matmul>();
  expect_one_op_found<Op::Permute>();
  expect_one_op_found<Op::Gather>();
}

/// What fails only for some values keeps them.
TEST(ReduceProgram, KeepsTheDataThatFails) {
  const auto is_negative_somewhere = [](const Program& program) {
    Graph graph = program.graph;
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const Node& node = graph[NodeId{i}];
      if (node.op != Op::Tanh || node.type.dtype != DType::F32) continue;
      graph.add_output(NodeId{i});
      for (const float value : values_of<float>(reference_outputs(graph, program.data).back())) {
        if (value < -0.5f) return true;
      }
    }
    return false;
  };
  for (uint64_t seed = 1, found = 0; found < 3; ++seed) {
    const Program program = random_program(seed);
    if (!is_negative_somewhere(program)) continue;
    ++found;
    const Program small = reduce_program(program, is_negative_somewhere);
    EXPECT_EQ(count_ops(small.graph), 1) << print(small);
    EXPECT_TRUE(is_negative_somewhere(small));
  }
}

/// Two ops that are wrong only together, in values that only step by step come about.
TEST(ReduceProgram, KeepsWhatMustStayTogether) {
  const auto reads_an_exp = [](const Program& program) {
    for (const Node& node : program.graph.nodes()) {
      if (node.op != Op::Sum) continue;
      if (program.graph[node.operands[0]].op == Op::Exp) return true;
    }
    return false;
  };
  for (uint64_t seed = 1, found = 0; found < 3; ++seed) {
    const Program program = random_program(seed);
    if (!reads_an_exp(program)) continue;
    ++found;
    EXPECT_EQ(count_ops(reduce_program(program, reads_an_exp).graph), 2) << seed;
  }
}

TEST(ReduceProgram, SaysHowToSeeIt) {
  const Mode faulty{"faulty", 1, says_op_is_wrong<Op::Erf>, "interpreter"};
  uint64_t seed = 1;
  while (says_op_is_wrong<Op::Erf>(random_program(seed)).empty()) ++seed;
  const Program program = random_program(seed);
  const std::string text = describe_failure(program, faulty, faulty.run(program));
  EXPECT_NE(text.find("%1 = erf %0 : f"), std::string::npos) << text;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(
      text, match,
      std::regex("reprise run (\\S+)/graph.txt --input input0=(\\S+) --compare interpreter\n")))
      << text;
  const std::filesystem::path folder = match[1].str();
  EXPECT_TRUE(std::filesystem::exists(folder / "input0.npy"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace reprise
