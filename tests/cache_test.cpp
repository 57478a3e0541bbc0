// The caches at work: what they find, what they count, what they say about a miss.
#include <cstdlib>
#include <thread>

#include "compiler/once_cache.h"
#include "expect_tensor.h"
#include "frontend/stats.h"

namespace reprise {
namespace {

using F = std::vector<float>;

/// Counters that moved while `work` ran.
template <class Work>
Stats during(const Work& work) {
  const Stats before = stats();
  work();
  Stats after = stats();
  after.plan_hits -= before.plan_hits;
  after.plan_misses -= before.plan_misses;
  after.graph_hits -= before.graph_hits;
  after.plans_compiled -= before.plans_compiled;
  after.kernel_hits -= before.kernel_hits;
  after.kernels_compiled -= before.kernels_compiled;
  after.launches -= before.launches;
  return after;
}

TEST(Caches, EachLevelCountsItsOwn) {
  const Tensor a = Tensor::of({1.f, 2.f, 3.f});
  const auto step = [&] { return (a * a + a).to_vector<float>(); };
  Stats moved = during(step);
  EXPECT_EQ(moved.plan_misses, 1u);
  EXPECT_EQ(moved.plans_compiled, 1u);
  EXPECT_EQ(moved.kernels_compiled + moved.kernel_hits, 1u);
  EXPECT_EQ(moved.launches, 1u);

  moved = during(step);
  EXPECT_EQ(moved.plan_hits, 1u);
  EXPECT_EQ(moved.plan_misses + moved.plans_compiled + moved.kernels_compiled, 0u);

  // Another recording of the same graph: a value that nobody asks for.
  moved = during([&] {
    (void)(a - a);
    return step();
  });
  EXPECT_EQ(moved.plan_misses, 1u);
  EXPECT_EQ(moved.graph_hits, 1u);
  EXPECT_EQ(moved.plans_compiled + moved.kernels_compiled, 0u);

  // A frozen step comes to the same graph: the product was alive when the sum was computed.
  moved = during([&] {
    const Tape tape;
    const Tensor product = a * a;
    (void)tape.freeze({a}, {product, product + a});
  });
  EXPECT_EQ(moved.graph_hits, 1u);

  reset_stats();
  EXPECT_EQ(stats().plan_hits + stats().plan_misses + stats().graph_hits + stats().plans_compiled +
                stats().kernel_hits + stats().kernels_compiled + stats().launches,
            0u);
  EXPECT_GT(stats().cache_bytes, 0u);
  EXPECT_GT(stats().live_nodes, 0u);
}

TEST(Caches, TopologyIsPartOfTheKey) {
  const Tensor a = Tensor::of({1.f, 2.f});
  const Tensor b = Tensor::of({10.f, 20.f});
  for (int round = 0; round < 2; ++round) {
    expect_values(a + a, F{2, 4});
    expect_values(a + b, F{11, 22});
    expect_values(b * b, F{100, 400});
    expect_values(a * b, F{10, 40});
  }
}

TEST(Caches, EqualHashesOfDifferentGraphsAreNoTrouble) {
  all_hashes_collide = true;
  const Tensor a = Tensor::of({1.f, 2.f});
  const Tensor b = Tensor::of({10.f, 20.f});
  for (int round = 0; round < 3; ++round) {
    expect_values(a + b, F{11, 22});
    expect_values(a - b, F{-9, -18});
    expect_values(a * b, F{10, 40});
    expect_values((a + b) * b, F{110, 440});
    expect_scalar(sum(a + b), 33.f);
    expect_values(exp(a - a), F{1, 1});
  }
  const Tape tape;
  const Frozen frozen = tape.freeze({a, b}, {a * b - a});
  expect_values(frozen.replay(b, a)[0], F{0, 20});
  all_hashes_collide = false;
}

TEST(Caches, ScalarsNeverSpecialize) {
  const float nan = NAN, inf = INFINITY;
  const Tensor x = Tensor::of({inf, 1.f, -1.f});
  (void)(x * 7.0).to_vector<float>();
  const Stats moved = during([&] {
    const std::vector<std::pair<double, F>> cases = {
        {2, {inf, 2, -2}},       {1, {inf, 1, -1}},      {0, {nan, 0.f, -0.f}},
        {-0., {nan, -0.f, 0.f}}, {nan, {nan, nan, nan}}, {inf, {inf, inf, -inf}},
        {-1, {-inf, -1, 1}},
    };
    for (const auto& [s, expected] : cases) expect_values(x * s, expected);
  });
  EXPECT_EQ(moved.plan_hits, 7u);
  EXPECT_EQ(moved.plans_compiled + moved.kernels_compiled, 0u);
}

TEST(Caches, ConcurrentMissesCompileOnce) {
  const Tensor a = stored_zeros({DType::F32, {13, 17}});
  const Stats moved = during([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back(
          [&] { EXPECT_EQ(sum(tanh(a * 3 + 1) - a).to_vector<float>().size(), 1u); });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(moved.plans_compiled, 1u);
  EXPECT_EQ(moved.plan_misses, 1u);
  EXPECT_EQ(moved.plan_hits, 7u);
  EXPECT_EQ(moved.kernels_compiled, moved.launches / 8);
}

TEST(Caches, AMissIsExplained) {
  const Tensor a = stored_zeros({DType::F32, {5, 3}});
  const Tensor b = stored_zeros({DType::F32, {5, 3}});
  const Tensor wide = stored_zeros({DType::F32, {5, 4}});
  (void)(a * b + a).to_vector<float>();
  setenv("REPRISE_LOG", "other,cache", 1);
  testing::internal::CaptureStderr();
  (void)(a * b - a).to_vector<float>();
  const std::string op = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  (void)(wide * wide).to_vector<float>();
  const std::string shape = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  (void)(a * b - a).to_vector<float>();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "a hit has nothing to explain";
  unsetenv("REPRISE_LOG");
  EXPECT_NE(op.find("plan miss: `%1 = subtract(%0, $0)` where the nearest of the cached plans has "
                    "`%1 = add(%0, $0)`, after 3 equal entries"),
            std::string::npos)
      << op;
  EXPECT_NE(op.find("kernel miss: "), std::string::npos) << op;
  EXPECT_NE(op.find("graph miss: compiled 1 launches"), std::string::npos) << op;
  EXPECT_NE(shape.find("`$0 = f32[5,4] with strides [16,4]` where"), std::string::npos) << shape;
  testing::internal::CaptureStderr();
  (void)(a * b / a).to_vector<float>();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace reprise
