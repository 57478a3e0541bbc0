// Temporaries share an arena: never two alive at once in one place, and little more than the most
// that is alive at any moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "compiler/pipeline.h"
#include "ir/kernel.h"
#include "ir/plan.h"
#include "plan_runner.h"
#include "workloads.h"

namespace reprise {
namespace {

SlotId add_slot(Plan& plan, SlotKind kind, int64_t bytes) {
  plan.slots.push_back({.kind = kind, .dtype = DType::U8, .bytes = bytes, .index = 0, .offset = 0});
  return SlotId{static_cast<uint32_t>(plan.slots.size() - 1)};
}

void add_launch(Plan& plan, std::vector<SlotId> buffers) {
  plan.launches.push_back({.kernel = 0, .buffers = std::move(buffers), .params = {}});
  plan.num_kernels = 1;
}

int64_t aligned(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

TEST(PlanMemory, AChainNeedsTwoBuffers) {
  Plan plan;
  SlotId from = add_slot(plan, SlotKind::Input, 1000);
  for (int i = 0; i < 10; ++i) {
    const SlotId to = add_slot(plan, SlotKind::Arena, 1000);
    add_launch(plan, {from, to});
    from = to;
  }
  add_launch(plan, {from, add_slot(plan, SlotKind::Output, 1000)});
  const Plan planned = plan_memory(plan);
  verify(planned);
  EXPECT_EQ(planned.arenas[0], 2 * aligned(1000));
}

TEST(PlanMemory, InputsAndOutputsAreNotInTheArena) {
  Plan plan;
  add_launch(plan, {add_slot(plan, SlotKind::Input, 64), add_slot(plan, SlotKind::Output, 64)});
  EXPECT_EQ(plan_memory(plan).arenas[0], 0);
}

TEST(PlanMemory, EmptySlotsTakeNoPlace) {
  Plan plan;
  const SlotId empty = add_slot(plan, SlotKind::Arena, 0);
  add_launch(plan, {empty});
  EXPECT_EQ(plan_memory(plan).arenas[0], 0);
}

TEST(PlanMemory, PlanningTwiceChangesNothing) {
  Plan plan;
  const SlotId a = add_slot(plan, SlotKind::Arena, 100), b = add_slot(plan, SlotKind::Arena, 300);
  add_launch(plan, {a});
  add_launch(plan, {b});
  const Plan once = plan_memory(plan);
  EXPECT_EQ(plan_memory(once), once);
  EXPECT_EQ(once.arenas[0], aligned(300));
}

TEST(PlanMemory, RandomLifetimesStayNearTheLowerBound) {
  double worst = 1;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Plan plan;
    const size_t launches = 1 + random() % 30;
    std::vector<std::vector<SlotId>> buffers(launches);
    for (int i = 0; i < 40; ++i) {
      const SlotId slot = add_slot(plan, SlotKind::Arena, 1 + random() % 5000);
      const size_t first = random() % launches;
      const size_t last = std::min(launches - 1, first + random() % 6);
      buffers[first].push_back(slot);
      if (last != first) buffers[last].push_back(slot);
    }
    for (auto& list : buffers) add_launch(plan, list);
    const Plan planned = plan_memory(plan);
    verify(planned);  // nothing overlaps (P06)
    const int64_t bound = arena_use(plan).alive;
    EXPECT_GE(planned.arenas[0], bound);
    worst = std::max(worst, static_cast<double>(planned.arenas[0]) / static_cast<double>(bound));
  }
  EXPECT_LE(worst, 1.6);
}

TEST(PlanMemory, ATransformersStepNeedsLittleMoreThanIsAliveAtOnce) {
  for (const int64_t width : {64, 128}) {
    const Graph graph = transformer_step(
        {.batch = 4, .tokens = 64, .width = width, .heads = 4, .layers = 4, .vocabulary = 96});
    const ArenaUse use = arena_use(lower_verified(graph).plan);
    RecordProperty("arena", use.arena);
    RecordProperty("alive", use.alive);
    std::cout << "arena " << use.arena << " alive " << use.alive << " temporaries "
              << use.temporaries << "\n";
    EXPECT_LE(use.arena * 10, use.alive * 13);
  }
}

}  // namespace
}  // namespace reprise
