// Every graph pass, alone and in the pipeline's order, keeps the bits of random graphs.
#include "passes/graph_passes.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "random_program.h"

namespace reprise {
namespace {

/// Empty when both give the same bits, or the same error, on sampled inputs.
std::string bits_changed(const Graph& before, const Graph& after, uint32_t seed) {
  const GraphInputs inputs = sample_inputs(before, seed);
  const std::vector<Bytes> x = interpret(before, inputs);
  const std::vector<Bytes> y = interpret(after, inputs);
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string found = difference(before[before.outputs()[i]].type.dtype, x[i], y[i]);
    if (!found.empty()) {
      return str("output ", i, ", ", found, "\n", print(before), "became\n", print(after));
    }
  }
  return {};
}

TEST(GraphPasses, KeepTheBitsOfRandomGraphs) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_program(seed).graph;
    verify(graph);
    Graph all = graph;
    for (const GraphPass& pass : graph_passes()) {
      const Graph one = pass.run(graph);
      verify(one);
      ASSERT_EQ(bits_changed(graph, one, seed), "") << pass.name << ", seed " << seed;
      // What a pass leaves without readers is for dce to drop.
      EXPECT_EQ(dce(pass.run(one)), dce(one)) << pass.name << " is not done after one run:\n"
                                              << print(graph);
      all = pass.run(all);
    }
    verify(all);
    ASSERT_EQ(bits_changed(graph, all, seed), "") << "seed " << seed;
  }
}

/// Graphs print and parse to themselves, whatever is in them.
TEST(GraphPasses, RandomGraphsSurviveTheirText) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_program(seed).graph;
    EXPECT_EQ(parse_graph(print(graph)), graph) << print(graph);
  }
}

}  // namespace
}  // namespace reprise
