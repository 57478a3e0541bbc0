// How many launches common workloads are, which they are and why; and that they give the bits of
// their ops computed one by one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiled_graph.h"
#include "plan_runner.h"
#include "random_heads.h"
#include "workloads.h"

namespace reprise {
namespace {

size_t num_launches(const Graph& graph) {
  return lower_verified(graph).plan.launches.size();
}

/// What the plan and kernel interpreters and what compiled code gives, against op by op, with NaN,
/// infinities and all, then with numbers that stay finite.
void expect_op_by_op(const Graph& graph, int64_t bound) {
  for (const Draw draw : {Draw::Anything, Draw::Small}) {
    const GraphInputs inputs = workload_inputs(graph, 7, draw, bound);
    EXPECT_EQ(lowering_difference(graph, inputs), "");
    EXPECT_EQ(compiled_difference(graph, inputs), "") << print(graph);
  }
}

constexpr Op kRowOps[] = {Op::Softmax,   Op::LogSoftmax, Op::LogSumExp,
                          Op::LayerNorm, Op::RmsNorm,    Op::CrossEntropy};

// A row stays in cache from its first fold to its last store: every grid point runs all stages of
// its row. Means over rows and the column sums of gamma and beta need all rows: they are a second
// phase of the same launch.
TEST(FusionCounts, RowsAreOneLaunch) {
  for (const Op op : kRowOps) {
    for (const Rows rows : {Rows::Forward, Rows::WithGradient}) {
      const Lowered lowered = lower_verified(row_op(op, {64, 100}, rows));
      EXPECT_EQ(lowered.plan.launches.size(), 1) << op << "\n" << describe_launches(lowered);
      const Phase& first = lowered.kernels[0].phases[0];
      ASSERT_EQ(first.parts.size(), 1) << op;
      EXPECT_EQ(first.parts[0].grid, std::vector<int64_t>{64}) << op;
      const bool over_rows = op == Op::CrossEntropy || (rows == Rows::WithGradient &&
                                                        (op == Op::LayerNorm || op == Op::RmsNorm));
      EXPECT_EQ(lowered.kernels[0].phases.size(), over_rows ? 2 : 1) << op;
    }
  }
}

TEST(FusionCounts, RowsGiveTheBitsOfTheirOps) {
  for (const Op op : kRowOps) {
    for (const Shape& shape : {Shape{17, 33}, Shape{64, 100}, Shape{3, 1}, Shape{5, 300}}) {
      expect_op_by_op(row_op(op, shape, Rows::WithGradient), shape[1]);
    }
  }
}

// Three products with bias and relu in their write-back; one pass over the logits' rows for loss
// and gradient; the loss' mean beside the second hidden gradient; the first hidden gradient,
// through relu, beside the last layer's weights, which are updated where their gradient is written;
// the others' weights. Biases are column sums beside the products.
TEST(FusionCounts, AClassifiersStepIsSevenLaunches) {
  for (const Update update : {update_sgd, update_momentum, update_adam, update_adamw}) {
    for (const WeightLayout layout : {WeightLayout::InOut, WeightLayout::OutIn}) {
      const Graph graph = mlp_step({784, 256, 128, 10}, 64, update, layout);
      const Lowered lowered = lower_verified(graph);
      EXPECT_EQ(lowered.plan.launches.size(), 7) << describe_launches(lowered);
      // In place: each parameter with all its moments.
      const size_t each = update == update_sgd ? 1 : update == update_momentum ? 2 : 3;
      EXPECT_EQ(lowered.plan.donations.size(), 6 * each) << print(lowered.plan);
    }
  }
}

TEST(FusionCounts, AClassifiersStepGivesTheBitsOfItsOps) {
  for (const Update update : {update_sgd, update_momentum, update_adam, update_adamw}) {
    for (const WeightLayout layout : {WeightLayout::InOut, WeightLayout::OutIn}) {
      expect_op_by_op(mlp_step({13, 9, 17, 5}, 11, update, layout), 5);
    }
  }
}

TEST(FusionCounts, AnUpdateOfManyParametersIsOneLaunch) {
  std::vector<Shape> shapes;
  for (int64_t i = 1; i <= 24; ++i) {
    shapes.push_back({i * 7 % 31 + 1, i * 5 % 17 + 1});
    shapes.push_back({i * 5 % 17 + 1});
  }
  for (const Update update : {update_sgd, update_momentum, update_adam, update_adamw}) {
    const Graph graph = update_only(shapes, update);
    const Lowered lowered = lower_verified(graph);
    EXPECT_EQ(lowered.plan.launches.size(), 1) << describe_launches(lowered);
    EXPECT_EQ(lowered.plan.donations.size(), graph.outputs().size());
    expect_op_by_op(graph, 1);
  }
}

// 1 layer norm; 2 queries, keys and values of all heads; 3 scores, scale, mask, softmax and the
// mixing of values, a head after the other, stored with tokens outside of heads; 4 projection, bias
// and residual; 5 layer norm; 6 product, bias and gelu; 7 product, bias and residual.
TEST(FusionCounts, ATransformerBlockIsSevenLaunches) {
  const TransformerShape shape{.batch = 4, .tokens = 64, .width = 64, .heads = 4};
  const Lowered lowered = lower_verified(transformer_forward(shape));
  EXPECT_EQ(lowered.plan.launches.size(), 7) << describe_launches(lowered);
}

// Heads are shared out among threads: with fewer than 16 of all batches, points are blocks of their
// rows.
TEST(FusionCounts, ATransformerBlockOfFewHeadsIsSevenLaunches) {
  const TransformerShape shape{.batch = 2, .tokens = 64, .width = 64, .heads = 4};
  const Lowered lowered = lower_verified(transformer_forward(shape));
  EXPECT_EQ(lowered.plan.launches.size(), 7) << describe_launches(lowered);
}

// Forward 7 a layer and, going back, 8 (one of them the attention of all heads); embedding and
// first norm are one, then logits, loss, what the loss sends back, and the embeddings' gradients.
TEST(FusionCounts, ATransformersStepGrowsByFifteenLaunchesALayer) {
  TransformerShape shape{.batch = 4, .tokens = 64, .width = 64, .heads = 4, .vocabulary = 96};
  const size_t one = num_launches(transformer_step(shape));
  shape.layers = 3;
  const size_t three = num_launches(transformer_step(shape));
  EXPECT_LE(one, 22);
  EXPECT_LE(three - one, 30);
}

TEST(FusionCounts, ATransformersStepGivesTheBitsOfItsOps) {
  const TransformerShape shape{
      .batch = 4, .tokens = 9, .width = 20, .heads = 4, .layers = 2, .vocabulary = 13};
  expect_op_by_op(transformer_step(shape), 9);
}

TEST(FusionCounts, CompiledRandomHeads) {
  const char* count = std::getenv("REPRISE_RANDOM_GRAPHS");
  const uint32_t graphs = count != nullptr ? static_cast<uint32_t>(std::atoi(count)) : 12;
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    const Graph graph = random_heads(seed);
    EXPECT_EQ(compiled_difference(graph, sample_inputs(graph, seed)), "") << "seed " << seed << "\n"
                                                                          << print(graph);
  }
}

}  // namespace
}  // namespace reprise
