// Lowered graphs give the bits of the graph interpreter, in the number of launches that fusion
// promises.
#include "passes/lower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "graph_samples.h"
#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"
#include "plan_runner.h"
#include "random_heads.h"
#include "random_program.h"
#include "small_stack.h"

namespace reprise {
namespace {

size_t num_launches(const Graph& graph) {
  return lower_verified(graph).plan.launches.size();
}

/// Inputs are numbered in the order they are made.
class Sketch {
 public:
  GraphBuilder b{graph};
  Graph graph;

  Value input(const Shape& shape, DType dtype = DType::F32, std::span<const int64_t> strides = {}) {
    return b.input({dtype, shape}, next_++, strides);
  }
  void expect_same(uint32_t seed = 1) { EXPECT_EQ(lowering_difference(graph, seed), ""); }

 private:
  uint32_t next_ = 0;
};

TEST(Lower, AnElementwiseChainIsOneLaunchOverOneAxis) {
  Sketch s;
  const Value x = s.input({3, 5, 7}), y = s.input({3, 5, 7});
  s.b.output(s.b.unary(Op::Tanh, s.b.add(s.b.mul(x, y), s.b.constant(2, DType::F32))));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  ASSERT_EQ(lowered.kernels.size(), 1);
  EXPECT_EQ(lowered.kernels[0].phases[0].parts[0].grid, std::vector<int64_t>{105});
}

TEST(Lower, BroadcastOperandsKeepTheAxesTheyNeed) {
  Sketch s;
  const Value x = s.input({4, 3, 5}), row = s.input({5}), column = s.input({3, 1});
  s.b.output(s.b.mul(s.b.add(x, row), column));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, TransposedAndFlippedReadsAreIndexMaps) {
  Sketch s;
  const Value x = s.input({4, 6});
  const int64_t starts[] = {3, 4}, steps[] = {-1, -2};
  const Value flipped = s.b.slice(x, starts, steps, {4, 3});
  s.b.output(s.b.add(s.b.transpose(s.b.unary(Op::Exp, flipped)), s.b.constant(1, DType::F32)));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, AReshapeSplitsTheLoopThatMakesItAffine) {
  Sketch s;
  const Value x = s.input({6, 4});
  const Value y = s.b.reshape(s.b.transpose(x), {24});
  s.b.output(s.b.neg(y));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  ASSERT_EQ(lowered.kernels.size(), 1);
  EXPECT_EQ(lowered.kernels[0].phases[0].parts[0].grid, (std::vector<int64_t>{4, 6}));
}

TEST(Lower, AReshapeThatNoSplitMakesAffineDividesIndices) {
  Sketch s;
  const Value x = s.input({6, 10});
  const int64_t starts[] = {0, 1}, steps[] = {1, 1};
  // 54 elements of a row of 9, cut into rows of 27, then transposed: 27 is no multiple of 9's axis.
  const Value y = s.b.reshape(s.b.slice(x, starts, steps, {6, 9}), {2, 27});
  const Value z = s.b.reshape(s.b.transpose(y), {54});
  s.b.output(s.b.neg(s.b.reshape(z, {9, 6})));
  s.expect_same();
}

TEST(Lower, PadsMaskTheirLoads) {
  Sketch s;
  const Value x = s.input({3, 4});
  const int64_t low[] = {1, 0}, high[] = {2, 3};
  s.b.output(s.b.pad(x, low, high));
  // Outside the padded value is 0, not exp(0).
  s.b.output(s.b.pad(s.b.unary(Op::Exp, x), low, high));
  const int64_t twice_low[] = {2, 1}, twice_high[] = {0, 1};
  s.b.output(s.b.unary(Op::Exp, s.b.pad(s.b.pad(x, low, high), twice_low, twice_high)));
  s.expect_same();
}

TEST(Lower, ReductionsOverAnyAxes) {
  for (const Op op : {Op::Sum, Op::Prod, Op::Max, Op::Min, Op::ArgMax, Op::ArgMin}) {
    for (uint32_t mask = 1; mask < 8; ++mask) {
      Sketch s;
      const Value x = s.input({3, 70, 5});
      const bool one_axis = mask == 1 || mask == 2 || mask == 4;
      if ((op == Op::ArgMax || op == Op::ArgMin) && !one_axis) continue;
      s.b.output(s.b.reduce(op, x, mask, mask % 2 == 0));
      s.expect_same(mask);
      EXPECT_EQ(num_launches(s.graph), 1);
    }
  }
}

TEST(Lower, ReductionsTakeInWhatComesBeforeAndAfter) {
  Sketch s;
  const Value x = s.input({8, 33}), y = s.input({8});
  const Value sum = s.b.reduce(Op::Sum, s.b.mul(x, x), 2, false);
  s.b.output(s.b.unary(Op::Sqrt, s.b.add(sum, y)));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, LongReductionsAreFoldedInBlocks) {
  for (const Op op : {Op::Sum, Op::Max, Op::ArgMax, Op::ArgMin}) {
    for (const Shape& shape : {Shape{2, 3 * kReduceBlock + 17}, Shape{2, kReduceBlock},
                               Shape{2, kReduceBlock + 1}, Shape{2, 2 * kReduceBlock}}) {
      Sketch s;
      s.b.output(s.b.unary(Op::Negative, s.b.reduce(op, s.input(shape), 2, false)));
      s.expect_same();
      EXPECT_EQ(num_launches(s.graph), 1);
    }
  }
}

TEST(Lower, LongReductionsOverSeveralAxesKeepTheLinearOrder) {
  {
    Sketch s;  // contiguous: one linear index
    s.b.output(s.b.reduce(Op::Sum, s.input({129, 257}), 3, false));
    s.expect_same();
    const Lowered lowered = lower_verified(s.graph);
    for (const Part& part : lowered.kernels[0].phases[0].parts) {
      for (const Access& access : part.stages[0].body.accesses) {
        EXPECT_FALSE(access.dynamic.valid());
      }
    }
  }
  {
    Sketch s;  // blocks are whole rows: the loop is split
    s.b.output(s.b.reduce(Op::Sum, s.input({40, 3, 1024}), 5, false));
    s.expect_same();
  }
  {
    Sketch s;  // neither
    s.b.output(s.b.reduce(Op::Sum, s.input({40, 3, 999}), 5, false));
    s.expect_same();
  }
}

TEST(Lower, EmptyReductionsGiveIdentities) {
  Sketch s;
  const Value x = s.input({2, 0, 3});
  s.b.output(s.b.reduce(Op::Sum, x, 2, false));
  s.b.output(s.b.reduce(Op::Prod, x, 2, true));
  s.b.output(s.b.reduce(Op::Sum, x, 4, false));  // empty result
  s.b.output(s.b.add(x, x));
  s.expect_same();
}

TEST(Lower, NarrowIntegersAndBoolsSumIn64Bits) {
  for (const DType dtype : {DType::Bool, DType::U8, DType::I8, DType::I32, DType::I64}) {
    Sketch s;
    s.b.output(s.b.reduce(Op::Sum, s.input({3, 300}, dtype), 2, false));
    s.b.output(s.b.reduce(Op::Max, s.input({3, 300}, dtype), 2, false));
    s.expect_same();
  }
}

TEST(Lower, HalfTypesFoldInF32) {
  for (const DType dtype : {DType::F16, DType::BF16}) {
    Sketch s;
    const Value x = s.input({5, 100}, dtype), y = s.input({100, 4}, dtype);
    s.b.output(s.b.reduce(Op::Sum, x, 2, false));
    s.b.output(s.b.reduce(Op::Max, x, 2, false));
    s.b.output(s.b.reduce(Op::ArgMax, x, 2, false));
    s.b.output(s.b.matmul(x, y));
    s.expect_same();
  }
}

TEST(Lower, AMatmulTakesInBiasAndActivation) {
  Sketch s;
  const Value x = s.input({9, 17}), w = s.input({17, 6}), bias = s.input({6});
  s.b.output(s.b.unary(Op::Relu, s.b.add(s.b.matmul(x, w), bias)));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  ASSERT_EQ(lowered.plan.launches.size(), 1);
  EXPECT_EQ(lowered.kernels[0].phases[0].parts[0].stages[0].kind, StageKind::Contraction);
}

TEST(Lower, TransposedOperandsOfAMatmulAreStrides) {
  Sketch s;
  const Value x = s.input({17, 9}), w = s.input({6, 17});
  s.b.output(s.b.matmul(s.b.transpose(x), s.b.transpose(w)));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, BatchAxesOfAMatmulBroadcast) {
  Sketch s;
  const Value x = s.input({2, 1, 4, 5}), w = s.input({3, 5, 6}), scale = s.input({2, 3, 1, 1});
  s.b.output(s.b.mul(s.b.matmul(x, w), scale));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, BatchesThatShareTheSecondOperandAreRows) {
  Sketch s;
  const Value x = s.input({2, 3, 4, 5}), w = s.input({5, 6}), bias = s.input({6});
  s.b.output(s.b.unary(Op::Relu, s.b.add(s.b.matmul(x, w), bias)));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  const Part& part = lowered.kernels[0].phases[0].parts[0];
  EXPECT_TRUE(part.grid.empty());
  EXPECT_EQ(part.stages[0].parallel, (std::vector<int64_t>{24, 6}));
}

TEST(Lower, BatchesOfStridedRowsStayLoops) {
  Sketch s;
  const Value x = s.input({3, 4, 5, 2}), w = s.input({1, 1, 5, 6}), v = s.input({4, 5, 6});
  const int64_t order[] = {0, 3, 1, 2};
  s.b.output(s.b.matmul(s.b.permute(x, order), w));
  s.b.output(s.b.matmul(
      s.b.permute(x, order),
      s.b.slice(v, std::array<int64_t, 3>{1, 0, 0}, std::array<int64_t, 3>{1, 1, 1}, {2, 5, 6})));
  s.expect_same();
}

TEST(Lower, ThinMatmulsAndEmptySums) {
  for (const auto& [m, k, n] :
       {std::tuple{1, 5, 7}, {7, 5, 1}, {1, 1, 1}, {4, 0, 4}, {0, 3, 2}, {3, 1, 2}}) {
    Sketch s;
    const Value product = s.b.matmul(s.input({m, k}), s.input({k, n}));
    s.b.output(product);
    s.b.output(s.b.add(product, s.b.constant(1, DType::F32)));
    s.expect_same();
  }
}

TEST(Lower, OperandsOfAMatmulThatAreNoViewsAreStored) {
  Sketch s;
  const Value x = s.input({4, 6}), row = s.input({6}), w = s.input({6, 4});
  s.b.output(s.b.matmul(s.b.unary(Op::Exp, x), w));
  s.b.output(s.b.matmul(s.b.broadcast_to(row, {4, 6}), w));
  s.b.output(s.b.matmul(s.b.ones({DType::F32, {4, 6}}), w));
  s.expect_same();
}

TEST(Lower, GathersClampAndWrap) {
  for (int64_t axis : {0, 1}) {
    Sketch s;
    const Value x = s.input({5, 7, 3}), indices = s.input({2, 4}, DType::I64);
    s.b.output(s.b.record(Op::Gather, {s.b.neg(x), indices}, Attrs().add_int(axis)));
    s.b.output(s.b.record(Op::Gather, {s.b.transpose(x), indices}, Attrs().add_int(axis)));
    s.expect_same();
  }
}

TEST(Lower, ParametersConstantsAndIndices) {
  Sketch s;
  const Value rate = s.b.parameter(DType::F32, 0), offset = s.b.parameter(DType::F32, 3);
  const Value x = s.b.mul(s.b.iota({DType::F32, {3, 4}}, 1), rate);
  s.b.output(s.b.add(x, offset));
  s.b.output(s.b.transpose(s.b.iota({DType::I32, {3, 4}}, 0)));
  s.b.output(s.b.constant(2.5, DType::F64));
  s.b.output(rate);
  s.expect_same();
}

TEST(Lower, OutputsThatAreViewsOfInputsNeedNoLaunch) {
  Sketch s;
  const Value x = s.input({4, 6});
  const int64_t starts[] = {1, 2}, steps[] = {1, 2};
  s.b.output(x);
  s.b.output(s.b.transpose(x));
  s.b.output(s.b.slice(x, starts, steps, {3, 2}));
  s.b.output(s.b.reshape(x, {2, 12}));
  s.b.output(x);
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 0);
  EXPECT_EQ(lower_verified(s.graph).plan.aliases.size(), 5);
}

TEST(Lower, AnOutputReturnedTwiceIsStoredOnce) {
  Sketch s;
  const Value y = s.b.neg(s.input({4, 6}));
  s.b.output(y);
  s.b.output(y);
  s.b.output(s.b.reshape(y, {24}));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  EXPECT_EQ(lowered.plan.launches.size(), 1);
  EXPECT_EQ(lowered.plan.aliases.size(), 2);
}

TEST(Lower, StridedInputs) {
  Sketch s;
  const int64_t strides[] = {1, 10};
  const Value x = s.input({4, 6}, DType::F32, strides), w = s.input({6, 3});
  s.b.output(s.b.neg(x));
  s.b.output(s.b.reduce(Op::Sum, x, 1, false));
  s.b.output(s.b.matmul(x, w));
  s.b.output(s.b.reshape(x, {24}));
  s.expect_same();
}

TEST(Lower, UpdatesInPlaceAreDonations) {
  Sketch s;
  const Value p = s.input({4, 6}), g = s.input({4, 6}), m = s.input({4, 6});
  const Value rate = s.b.parameter(DType::F32, 0);
  const Value new_m = s.b.add(s.b.mul(m, s.b.constant(0.9, DType::F32)), g);
  s.b.output(new_m);
  s.b.output(s.b.sub(p, s.b.mul(rate, new_m)));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  EXPECT_EQ(lowered.plan.launches.size(), 1);
  // The first input that fits an output takes it.
  ASSERT_EQ(lowered.plan.donations.size(), 2);
  EXPECT_EQ(lowered.plan.donations[0], (Donation{0, 1}));
  EXPECT_EQ(lowered.plan.donations[1], (Donation{1, 0}));
}

TEST(Lower, AnInputReadElsewhereIsNotDonated) {
  Sketch s;
  const Value x = s.input({6, 6});
  s.b.output(s.b.add(x, s.b.transpose(x)));  // other points read what this one overwrites
  s.expect_same();
  EXPECT_TRUE(lower_verified(s.graph).plan.donations.empty());
}

TEST(Lower, EqualKernelsAreOne) {
  Sketch s;
  Value x = s.input({64});
  for (int i = 0; i < 5 * kMaxFusedOps; ++i) x = s.b.add(x, s.b.constant(1, DType::F32));
  s.b.output(x);
  const Lowered lowered = lower_verified(s.graph);
  EXPECT_GE(lowered.plan.launches.size(), 5);
  EXPECT_LE(lowered.plan.launches.size(), 7);
  EXPECT_LE(lowered.kernels.size(), 3);
  s.expect_same();
}

TEST(Lower, AChainOf100000OpsNeedsNoRecursion) {  // CASES KER-07
  run_on_small_stack([] {
    Sketch s;
    Value x = s.input({2});
    for (int i = 0; i < 100000; ++i) x = s.b.add(x, s.b.constant(1, DType::F32));
    s.b.output(x);
    const Lowered lowered = lower_verified(s.graph);
    EXPECT_LE(lowered.plan.launches.size(), 250);
    EXPECT_LE(lowered.kernels.size(), 3);
  });
}

TEST(Lower, AChainOf20000MovementsNeedsNoRecursion) {
  run_on_small_stack([] {
    Sketch s;
    Value x = s.input({4, 6});
    for (int i = 0; i < 20000; ++i) {
      x = s.b.neg(s.b.reshape(s.b.transpose(x), {4, 6}));
    }
    s.b.output(x);
    EXPECT_LE(lower_verified(s.graph).plan.launches.size(), 20000);
  });
}

TEST(Lower, SharedSubexpressionsDoNotExplode) {  // CASES KER-05
  Sketch s;
  Value a = s.input({3}), b = s.input({3});
  for (int i = 0; i < 60; ++i) {
    const Value sum = s.b.add(a, b);
    b = s.b.sub(a, b);
    a = sum;
  }
  s.b.output(a);
  s.b.output(b);
  const Lowered lowered = lower_verified(s.graph);
  size_t ops = 0;
  for (const Kernel& kernel : lowered.kernels) {
    for (const Phase& phase : kernel.phases) {
      for (const Part& part : phase.parts) ops += part.stages[0].body.instrs.size();
    }
  }
  EXPECT_LE(ops, 200);
  s.expect_same();
}

TEST(Lower, ManyDistinctInputsAreSplit) {  // CASES KER-01
  for (const int count : {40, 433, 2602}) {
    Sketch s;
    Value sum = s.input({1});
    for (int i = 1; i < count; ++i) sum = s.b.add(sum, s.input({1}));
    s.b.output(sum);
    for (const Kernel& kernel : lower_verified(s.graph).kernels) {
      EXPECT_LE(kernel.buffers.size(), 140);
    }
    s.expect_same();
  }
}

TEST(Lower, SoftmaxIsOneLaunchOfFourStages) {
  for (const Shape& shape : {Shape{6, 40}, Shape{40}, Shape{2, 3, 5, 7}}) {
    Sketch s;
    s.b.output(s.b.record(Op::Softmax, {s.input(shape)}, Attrs().add_int(shape.rank() - 1)));
    s.expect_same();
    const Lowered lowered = lower_verified(s.graph);
    ASSERT_EQ(lowered.plan.launches.size(), 1);
    // Maximum, exponentials, their sum, the quotient.
    EXPECT_EQ(lowered.kernels[0].phases[0].parts[0].stages.size(), 4);
    // All but the result are locals: nothing else has memory.
    EXPECT_EQ(lowered.plan.slots.size(), 2);
  }
}

TEST(Lower, StagesThatWouldReadOtherPointsStayApart) {
  Sketch s;
  const Value x = s.input({20, 20});
  const Value rows = s.b.reduce(Op::Sum, x, 2, true);
  s.b.output(s.b.sub(x, rows));
  s.b.output(s.b.sub(x, s.b.transpose(rows)));  // each row needs the sums of all
  s.b.output(s.b.reduce(Op::Sum, rows, 3, false));
  s.expect_same();
  EXPECT_GE(num_launches(s.graph), 2);
}

TEST(Lower, ASumOverRowsDoesNotTakeTheirGridAway) {
  Sketch s;
  const Value x = s.input({64, 10});
  const Value rows = s.b.unary(Op::Log, s.b.reduce(Op::Sum, x, 2, true));
  s.b.output(s.b.reduce(Op::Sum, rows, 1, false));
  s.b.output(s.b.sub(x, rows));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  // The total is a second phase over what the rows have left.
  ASSERT_EQ(lowered.plan.launches.size(), 1);
  ASSERT_EQ(lowered.kernels[0].phases.size(), 2);
  EXPECT_EQ(lowered.kernels[0].phases[0].parts[0].grid, std::vector<int64_t>{64});
}

TEST(Lower, FewLongRowsKeepTheirThreads) {
  Sketch s;
  const Value x = s.input({3, 16000});
  s.b.output(s.b.sub(x, s.b.reduce(Op::Max, x, 2, true)));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 2);
}

TEST(Lower, AViewOfAProductIsStoredWhereItIsComputed) {
  Sketch s;
  const Value x = s.input({3, 4, 5, 6}), y = s.input({3, 4, 6, 7}), row = s.input({4, 7});
  const int64_t order[] = {0, 2, 1, 3};
  const Value product = s.b.matmul(x, y);
  const Value moved = s.b.permute(s.b.unary(Op::Exp, product), order);  // [3,5,4,7]
  const Value flat = s.b.reshape(s.b.add(moved, row), {15, 28});
  s.b.output(flat);
  s.b.output(s.b.add(flat, s.input({28})));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, AProductsViewIsStoredOnceForAllProductsThatReadIt) {
  Sketch s;
  const Value x = s.input({3, 4, 5, 6}), y = s.input({3, 4, 6, 7});
  const int64_t order[] = {0, 2, 1, 3};
  const Value mixed = s.b.permute(s.b.matmul(x, y), order);  // [3,5,4,7]
  s.b.output(s.b.matmul(s.b.reshape(mixed, {3, 5, 28}), s.input({28, 9})));
  s.b.output(s.b.matmul(s.b.transpose(s.b.reshape(mixed, {15, 28})), s.input({15, 11})));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  EXPECT_EQ(lowered.plan.launches.size(), 2);
  EXPECT_EQ(std::count_if(lowered.plan.slots.begin(), lowered.plan.slots.end(),
                          [](const Slot& slot) { return slot.kind == SlotKind::Arena; }),
            1);
}

TEST(Lower, TwoPlacesOfOneProductDoNotMeet) {
  Sketch s;
  const Value x = s.input({5, 5, 6}), y = s.input({5, 6, 7});
  const int64_t order[] = {1, 0, 2};
  const Value product = s.b.matmul(x, y);
  const Value moved = s.b.permute(product, order), again = s.b.permute(s.b.neg(product), order);
  s.b.output(s.b.add(moved, again));
  s.b.output(s.b.add(product, moved));  // reads another element than its own
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 2);
}

TEST(Lower, AViewOfASumIsStoredWhereItIsComputed) {
  Sketch s;
  const Value x = s.input({4, 6, 5, 3});
  const int64_t order[] = {1, 0, 2};
  const Value sum = s.b.reduce(Op::Sum, x, 8, false);
  s.b.output(s.b.unary(Op::Exp, s.b.reshape(s.b.permute(sum, order), {24, 5})));
  s.expect_same();
  EXPECT_EQ(num_launches(s.graph), 1);
}

TEST(Lower, FoldsOfOneInputArePassedOnce) {
  Sketch s;
  const Value x = s.input({64, 33});
  const Value sum = s.b.reduce(Op::Sum, x, 2, true);
  const Value largest = s.b.reduce(Op::Max, x, 2, true);
  s.b.output(s.b.add(s.b.mul(s.b.sub(x, largest), sum), s.b.constant(1, DType::F32)));
  s.b.output(s.b.reduce(Op::ArgMin, x, 2, false));
  s.expect_same();
  const Lowered lowered = lower_verified(s.graph);
  ASSERT_EQ(lowered.kernels.size(), 1);
  EXPECT_EQ(lowered.kernels[0].phases[0].parts[0].stages.size(), 2);
}

// Ops meet in ways nobody thinks of: masks of masks, views of views, groups that could depend on
// each other.
TEST(Lower, RandomGraphs) {
  const char* count = std::getenv("REPRISE_RANDOM_GRAPHS");
  const uint32_t graphs = count != nullptr ? static_cast<uint32_t>(std::atoi(count)) : 400;
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    const Graph graph = with_forward_strides(random_program(seed).graph);
    try {
      ASSERT_EQ(lowering_difference(graph, seed), "") << "seed " << seed;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what() << print(graph)
             << print(fuse(graph), graph);
    }
  }
}

TEST(Lower, RandomHeads) {
  const char* count = std::getenv("REPRISE_RANDOM_GRAPHS");
  const uint32_t graphs = count != nullptr ? static_cast<uint32_t>(std::atoi(count)) : 300;
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    const Graph graph = random_heads(seed);
    try {
      ASSERT_EQ(lowering_difference(graph, seed), "") << "seed " << seed;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what() << print(graph)
             << print(fuse(graph), graph);
    }
  }
}

}  // namespace
}  // namespace reprise
