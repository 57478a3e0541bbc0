// What fusion stores and in how many kernels, and that kernels never wait for each other in a
// circle.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "graph_samples.h"
#include "ir/builder.h"
#include "passes/graph_passes.h"
#include "passes/lower.h"
#include "plan_runner.h"
#include "random_program.h"
#include "workloads.h"

namespace reprise {
namespace {

/// The nodes that each group may read from memory: stored ones, found by walking what it computes.
std::vector<std::vector<uint32_t>> groups_read(const Graph& graph, const Fusion& fusion) {
  std::vector<uint32_t> stored_by(graph.size(), UINT32_MAX);
  for (uint32_t g = 0; g < fusion.groups.size(); ++g) {
    for (NodeId store : fusion.groups[g].stores) stored_by[store.index] = g;
  }
  std::vector<std::vector<uint32_t>> reads(fusion.groups.size());
  for (uint32_t g = 0; g < fusion.groups.size(); ++g) {
    std::vector<NodeId> pending(fusion.groups[g].stores.begin(), fusion.groups[g].stores.end());
    std::vector<bool> seen(graph.size());
    while (!pending.empty()) {
      const NodeId node = pending.back();
      pending.pop_back();
      if (seen[node.index]) continue;
      seen[node.index] = true;
      const uint32_t home = stored_by[node.index];
      if (home != UINT32_MAX && home != g) {
        reads[g].push_back(home);
        continue;
      }
      for (NodeId operand : graph[node].operands) pending.push_back(operand);
    }
  }
  return reads;
}

TEST(Fuse, GroupsReadOnlyWhatEarlierGroupsStore) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const Graph graph = random_program(seed).graph;
    const Fusion fusion = fuse(graph);
    const auto reads = groups_read(graph, fusion);
    for (uint32_t g = 0; g < reads.size(); ++g) {
      for (uint32_t from : reads[g]) {
        ASSERT_LT(from, g) << "seed " << seed << "\n" << print(graph) << print(fusion, graph);
      }
    }
  }
}

TEST(Fuse, AGroupHasAtMostOneAnchorInReach) {
  Graph graph;
  GraphBuilder b(graph);
  const Value x = b.input({DType::F32, {4, 8}}, 0);
  const Value a = b.reduce(Op::Sum, x, 2, false), c = b.reduce(Op::Max, x, 2, false);
  b.output(b.add(a, c));
  const Fusion fusion = fuse(graph);
  ASSERT_EQ(fusion.groups.size(), 2);
  // One of them waits for the other and adds it in its epilogue.
  EXPECT_EQ(fusion.groups[0].stores.size() + fusion.groups[1].stores.size(), 2);
}

TEST(Fuse, AnEpilogueStoresWhatOthersReadToo) {
  Graph graph;
  GraphBuilder b(graph);
  const Value x = b.input({DType::F32, {4, 8}}, 0), w = b.input({DType::F32, {8, 3}}, 1);
  const Value before = b.matmul(x, w);
  b.output(before);
  b.output(b.unary(Op::Tanh, before));
  const Fusion fusion = fuse(graph);
  ASSERT_EQ(fusion.groups.size(), 1);
  EXPECT_EQ(fusion.groups[0].stores.size(), 2);
}

TEST(Fuse, ACircleThroughAReductionIsNotClosed) {
  Graph graph;
  GraphBuilder b(graph);
  const Value x = b.input({DType::F32, {4, 8}}, 0), w = b.input({DType::F32, {8, 8}}, 1);
  const Value y = b.matmul(x, w);
  // The sum needs all of y; what uses both cannot be in y's epilogue.
  b.output(b.div(y, b.reduce(Op::Sum, y, 2, true)));
  const Fusion fusion = fuse(graph);
  EXPECT_EQ(fusion.groups.size(), 3);
  EXPECT_EQ(lowering_difference(graph, 1), "");
}

TEST(Fuse, DearValuesWithSeveralReadersAreStoredCheapOnesAreNot) {
  for (const bool dear : {false, true}) {
    Graph graph;
    GraphBuilder b(graph);
    Value x = b.input({DType::F32, {4, 8}}, 0);
    x = dear ? b.unary(Op::Tanh, b.unary(Op::Exp, b.unary(Op::Erf, x))) : b.neg(x);
    b.output(b.reduce(Op::Sum, x, 1, false));
    b.output(b.reduce(Op::Sum, x, 2, false));
    b.output(b.reduce(Op::Max, x, 2, false));
    EXPECT_EQ(fuse(graph).groups.size(), dear ? 4 : 3);
  }
}

TEST(Fuse, ValuesReadThroughABroadcastAreComputedOnce) {
  Graph graph;
  GraphBuilder b(graph);
  const Value rows = b.input({DType::F32, {64, 1}}, 0), x = b.input({DType::F32, {64, 64}}, 1);
  b.output(b.mul(x, b.unary(Op::Exp, rows)));
  EXPECT_EQ(fuse(graph).groups.size(), 2);
}

TEST(Fuse, ArithmeticOnParametersCostsNoLaunch) {
  Graph graph;
  GraphBuilder b(graph);
  const Value x = b.input({DType::F32, {64}}, 0), rate = b.parameter(DType::F32, 0);
  const Value scale = b.unary(Op::Exp, b.unary(Op::Log, b.unary(Op::Sqrt, rate)));
  b.output(b.mul(x, scale));
  b.output(b.add(b.reduce(Op::Sum, x, 1, false), scale));
  EXPECT_EQ(fuse(graph).groups.size(), 2);
}

TEST(Fuse, ATrainingStepIsFewLaunches) {
  const Graph graph = mlp_step({784, 256, 128, 10}, 64);
  const Lowered lowered = lower_verified(graph);
  // Three layers forward; one pass over the logits' rows; the loss beside the last hidden gradient;
  // the first hidden gradient beside the last layer's updates; the other two layers' updates.
  EXPECT_LE(lowered.plan.launches.size(), 7) << print(fuse(graph), graph);
  // Every parameter and both of its moments are updated in place.
  EXPECT_EQ(lowered.plan.donations.size(), 18) << print(lowered.plan);
}

TEST(Fuse, ATrainingStepGivesTheInterpretersBits) {
  const Graph graph = mlp_step({13, 9, 7, 5}, 6);
  GraphInputs inputs = sample_inputs(graph, 1);
  const Bytes labels = bytes_of(std::vector<int64_t>{0, 4, 2, 1, 3, 4});
  std::copy(labels.begin(), labels.end(), inputs.storage[1].begin());
  EXPECT_EQ(lowering_difference(graph, inputs), "");
}

}  // namespace
}  // namespace reprise
