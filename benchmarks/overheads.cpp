// What the library itself costs: recording an op, realizing or replaying a chain, compiling one.
#include <benchmark/benchmark.h>

#include <chrono>

#include "frontend/reprise.h"

namespace {

namespace rp = reprise;

void record_op(benchmark::State& state) {
  const rp::Tensor a = rp::stored_zeros({rp::DType::F32, {1}});
  const rp::Tensor b = rp::stored_zeros({rp::DType::F32, {1}});
  while (state.KeepRunningBatch(1000)) {
    const rp::Tape tape;
    for (int i = 0; i < 1000; ++i) benchmark::DoNotOptimize(a * b);
  }
}
BENCHMARK(record_op);

void record_op_with_literal(benchmark::State& state) {
  const rp::Tensor a = rp::stored_zeros({rp::DType::F32, {1}});
  while (state.KeepRunningBatch(1000)) {
    const rp::Tape tape;
    for (int i = 0; i < 1000; ++i) benchmark::DoNotOptimize(a * 2.0f);
  }
}
BENCHMARK(record_op_with_literal);

rp::Tensor chain_of_100(const rp::Tensor& a) {
  rp::Tensor x = a;
  for (int i = 0; i < 100; ++i) x = x * a;
  return x;
}

/// Realizing 100 recorded ops whose plan is cached; recording them is not counted.
void realize_chain_of_100(benchmark::State& state) {
  const rp::Tensor a = rp::stored_zeros({rp::DType::F32, {1}});
  for (auto _ : state) {
    const rp::Tape tape;
    const rp::Tensor x = chain_of_100(a);
    const auto start = std::chrono::steady_clock::now();
    tape.realize(x);
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(realize_chain_of_100)->UseManualTime();

/// The same chain frozen, its result dropped at once.
void replay_chain_of_100(benchmark::State& state) {
  const rp::Tensor a = rp::stored_zeros({rp::DType::F32, {1}});
  rp::Frozen step;
  {
    const rp::Tape tape;
    step = tape.freeze({a}, {chain_of_100(a)});
  }
  for (auto _ : state) benchmark::DoNotOptimize(step.replay(a));
}
BENCHMARK(replay_chain_of_100);

/// A kernel of that many ops that no cache holds.
void compile_cold(benchmark::State& state) {
  const rp::Tensor a = rp::stored_zeros({rp::DType::F32, {1 << 10}});
  static int64_t salt = 0;  // the library calls this function several times
  for (auto _ : state) {
    ++salt;  // the bits of the counter choose the ops: every chain is a new one
    rp::Tensor x = a;
    for (int64_t i = 0; i < state.range(0); ++i) {
      x = i < 20 && (salt >> i & 1) ? x - a : x + a;
    }
    x.realize();
  }
}
BENCHMARK(compile_cold)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
