// Compiled for the machine at hand: vectors are as wide as it has them.
#include "machine_limits.h"

#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace reprise::bench {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
using Vector [[gnu::vector_size(kVectorBytes)]] = float;
constexpr int kLanes = kVectorBytes / sizeof(float);
/// Enough to hide the latency of two units; with two operands they fit sixteen registers.
constexpr int kChains = 12;
constexpr int64_t kRounds = 200000;
constexpr int64_t kHugePage = 2 << 20;

float sum(const Vector& v) {
  float total = 0;
  for (int i = 0; i < kLanes; ++i) total += v[i];
  return total;
}

void stream(float* into, const float* from) {
#if defined(__AVX512F__)
  _mm512_stream_ps(into, _mm512_load_ps(from));
#elif defined(__AVX__)
  _mm256_stream_ps(into, _mm256_load_ps(from));
#else
  _mm_stream_ps(into, _mm_load_ps(from));
#endif
}

/// Calls work(first, last) for an equal part of `count` floats on every thread, whole lines each.
template <class Function>
void share(int64_t count, int threads, const Function& work) {
  constexpr int64_t kLine = 16;
  const int64_t part = (count / threads + kLine - 1) / kLine * kLine;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; ++i)
    work(std::min(i * part, count), std::min((i + 1) * part, count));
}

}  // namespace

int64_t multiply_add_flops(int threads) {
  return 2 * kLanes * kChains * kRounds * threads;
}

float multiply_add(int threads) {
  float total = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : total)
  for (int thread = 0; thread < threads; ++thread) {
    Vector chains[kChains], factor, addend;
    for (int lane = 0; lane < kLanes; ++lane) {
      factor[lane] = 0.999f;
      addend[lane] = 1e-3f;
    }
    // Chains of one value would be one chain.
    for (int i = 0; i < kChains; ++i) chains[i] = factor + static_cast<float>(i);
    for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
      for (int i = 0; i < kChains; ++i) chains[i] = chains[i] * factor + addend;
      asm volatile("" : "+x"(factor));
    }
    for (const Vector& chain : chains) total += sum(chain);
  }
  return total;
}

Area::Area(int64_t bytes, Pages pages) : bytes_(bytes) {
  data_ = static_cast<float*>(std::aligned_alloc(kHugePage, bytes));
  if (data_ == nullptr) throw std::bad_alloc();
  madvise(data_, bytes, pages == Pages::Huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::fill_n(data_, bytes / sizeof(float), 1.0f);
}

Area::~Area() {
  std::free(data_);
}

float read(const Area& from, int threads) {
  const int64_t count = from.bytes() / static_cast<int64_t>(sizeof(float));
  float total = 0;
  share(count, threads, [&](int64_t first, int64_t last) {
    Vector sums[8] = {};
    for (int64_t i = first; i < last; i += 8 * kLanes) {
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) {
        sums[j] += *reinterpret_cast<const Vector*>(from.data() + i + j * kLanes);
      }
    }
    float mine = 0;
    for (const Vector& each : sums) mine += sum(each);
#pragma omp atomic
    total += mine;
  });
  return total;
}

void copy(const Area& from, Area& into, Stores stores, int threads) {
  const int64_t count = from.bytes() / static_cast<int64_t>(sizeof(float));
  share(count, threads, [&](int64_t first, int64_t last) {
    if (stores == Stores::Streaming) {
      for (int64_t i = first; i < last; i += kLanes) stream(into.data() + i, from.data() + i);
      _mm_sfence();
      return;
    }
    for (int64_t i = first; i < last; i += kLanes) {
      *reinterpret_cast<Vector*>(into.data() + i) =
          *reinterpret_cast<const Vector*>(from.data() + i);
      asm volatile("" ::: "memory");  // else it becomes memcpy, which may stream
    }
  });
}

}  // namespace reprise::bench
