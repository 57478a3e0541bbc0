// What the library itself costs: recording an op, and realizing a chain whose plan is cached.
#include <benchmark/benchmark.h>

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

/// Time for recording and realizing 100 ops; subtract 100 times record_op for the realization.
void chain_of_100(benchmark::State& state) {
  const rp::Tensor a = rp::stored_zeros({rp::DType::F32, {1}});
  for (auto _ : state) {
    const rp::Tape tape;
    rp::Tensor x = a;
    for (int i = 0; i < 100; ++i) x = x * a;
    tape.realize(x);
  }
}
BENCHMARK(chain_of_100);

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
BENCHMARK(compile_cold)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
