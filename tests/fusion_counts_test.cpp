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

// Blocks of rows, and for the gradients of keys and values blocks of columns, whose scores are
// computed again. Rows that are left over are a phase of the same launch.
// Heads that are many and lie in a cache whole are points; others are cut into blocks of queries,
// and of keys going back.
TEST(FusionCounts, LongAttentionIsOneLaunchAndOneMoreGoingBack) {
  for (const int64_t tokens : {256, 509}) {
    for (const int64_t heads_each : {1, 3, 16}) {
      for (const int64_t behind : {-1, 0}) {
        const HeadsShape shape{
            .batch = 2, .heads = heads_each, .tokens = tokens, .width = 16, .behind = behind};
        const Lowered forward = lower_verified(heads(shape, Rows::Forward));
        EXPECT_EQ(forward.plan.launches.size(), 1) << describe_launches(forward);
        const bool whole = heads_each == 16;
        EXPECT_EQ(forward.kernels[0].phases.size(), whole || tokens == 256 ? 1 : 2);
        const Lowered step = lower_verified(heads(shape, Rows::WithGradient));
        EXPECT_EQ(step.plan.launches.size(), whole ? 1 : 2) << describe_launches(step);
      }
    }
  }
}

/// Bytes of all locals of a kernel's phase that needs most, and of what lies in the arena.
int64_t bytes_beside_arguments(const Lowered& lowered) {
  int64_t bytes = 0;
  for (const Kernel& kernel : lowered.kernels) {
    int64_t locals = 0;
    for (const Buffer& buffer : kernel.buffers) {
      if (buffer.kind != BufferKind::Local) continue;
      locals += buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
    }
    bytes = std::max(bytes, locals);
  }
  for (const Slot& slot : lowered.plan.slots) {
    if (slot.kind == SlotKind::Arena) bytes += slot.bytes;
  }
  return bytes;
}

// Twice the tokens take at most twice the memory.
TEST(FusionCounts, TheMemoryOfLongAttentionIsLinear) {
  for (const int64_t heads_each : {1, 20}) {
    for (const Rows rows : {Rows::Forward, Rows::WithGradient}) {
      HeadsShape shape{.batch = 1, .heads = heads_each, .tokens = 2048, .width = 32, .behind = 0};
      const int64_t once = bytes_beside_arguments(lower_verified(heads(shape, rows)));
      shape.tokens *= 2;
      const int64_t twice = bytes_beside_arguments(lower_verified(heads(shape, rows)));
      EXPECT_LE(twice, 2 * once);
      EXPECT_LT(twice, heads_each * shape.tokens * shape.tokens);
    }
  }
}

TEST(FusionCounts, LongAttentionGivesTheBitsOfItsOps) {
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    expect_op_by_op(heads({.batch = 2, .heads = 3, .tokens = 137, .width = 7, .dtype = dtype},
                          Rows::WithGradient),
                    1);
  }
  // The first queries see nothing: rows of NaN.
  for (const int64_t batch : {1, 2, 17}) {
    const HeadsShape shape{.batch = batch, .heads = 1, .tokens = 200, .width = 5, .behind = 3};
    expect_op_by_op(heads(shape, Rows::WithGradient), 1);
  }
}

// What a step sends back waits for the loss of all tokens: scores are computed again there.
TEST(FusionCounts, ATransformersStepOverManyTokensKeepsNoScores) {
  for (const int64_t batch : {2, 6}) {
    const TransformerShape shape{
        .batch = batch, .tokens = 160, .width = 12, .heads = 3, .layers = 2, .vocabulary = 13};
    const Graph graph = transformer_step(shape);
    const Lowered lowered = lower_verified(graph);
    for (const Slot& slot : lowered.plan.slots) {
      EXPECT_LT(slot.bytes, 4 * shape.batch * shape.heads * shape.tokens * shape.tokens)
          << describe_launches(lowered);
    }
    expect_op_by_op(graph, 13);
  }
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
