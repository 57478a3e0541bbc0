// The thread pool: every task once, whatever the number of threads, callers and pauses.
#include "runtime/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "ir/error.h"

namespace reprise {
namespace {

constexpr double kMuch = 1e6;  // ns: always worth sharing

/// Runs once and says how often each task was done.
std::vector<int> counts(ThreadPool& pool, int64_t tasks, double cost_ns) {
  std::vector<std::atomic<int>> done(static_cast<size_t>(tasks));
  pool.parallel_for(tasks, cost_ns, 0, [&](int64_t begin, int64_t end, void*) {
    for (int64_t i = begin; i < end; ++i) done[static_cast<size_t>(i)].fetch_add(1);
  });
  return {done.begin(), done.end()};
}

// Ranges are split and stolen; a task done twice or never is a wrong result.
TEST(ThreadPool, DoesEveryTaskOnce) {
  ThreadPool pool;
  for (const int threads : {1, 2, 3, 7}) {
    pool.set_threads(threads);
    for (const int64_t tasks : {0, 1, 2, 3, 7, 64, 1001}) {
      for (const double cost : {0.0, 3000.0, 20000.0, 1e5, 1e9}) {
        for (int round = 0; round < 20; ++round) {
          ASSERT_EQ(counts(pool, tasks, cost), std::vector<int>(static_cast<size_t>(tasks), 1))
              << threads << " threads, " << tasks << " tasks, " << cost << " ns";
        }
      }
    }
  }
}

// Waking a worker costs some 30 us: work below that runs at once on the caller.
TEST(ThreadPool, RunsSmallWorkOnTheCallerInOnePiece) {
  ThreadPool pool;
  pool.set_threads(4);
  const auto caller = std::this_thread::get_id();
  for (const double cost : {0.0, 100.0, 2000.0, 20000.0}) {
    int calls = 0;
    pool.parallel_for(1000, cost, 0, [&](int64_t begin, int64_t end, void*) {
      ++calls;
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, 1000);
    });
    EXPECT_EQ(calls, 1) << cost;
  }
}

// Large work must reach the workers, and reach them again after they have gone to sleep.
TEST(ThreadPool, UsesItsWorkersAgainAfterAPause) {
  ThreadPool pool;
  pool.set_threads(3);
  for (int round = 0; round < 3; ++round) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    // Each range waits until a second thread has come, so the caller cannot do all of it first.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    pool.parallel_for(64, kMuch, 0, [&](int64_t, int64_t, void*) {
      for (;;) {
        {
          const std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
          if (seen.size() > 1) return;
        }
        if (std::chrono::steady_clock::now() > deadline) return;
        std::this_thread::yield();
      }
    });
    EXPECT_GT(seen.size(), 1u) << "in round " << round;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// The scratch of two threads that run at the same time must not overlap.
TEST(ThreadPool, GivesEachThreadAlignedScratchOfItsOwn) {
  ThreadPool pool;
  pool.set_threads(4);
  for (const int64_t bytes : {64, 100000, 100}) {
    std::atomic<int> wrong{0};
    pool.parallel_for(256, kMuch, bytes, [&](int64_t begin, int64_t end, void* scratch) {
      if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) ++wrong;
      auto* memory = static_cast<volatile unsigned char*>(scratch);
      for (int64_t task = begin; task < end; ++task) {
        for (int64_t i = 0; i < bytes; i += 16) memory[i] = static_cast<unsigned char>(task);
        for (int64_t i = 0; i < bytes; i += 16)
          wrong += memory[i] != static_cast<unsigned char>(task);
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST(ThreadPool, FailsBeforeRunningWhenScratchCannotBeHad) {
  ThreadPool pool;
  pool.set_threads(2);
  for (const double cost : {0.0, kMuch}) {
    bool ran = false;
    const auto body = [&](int64_t, int64_t, void*) { ran = true; };
    EXPECT_THROW(pool.parallel_for(8, cost, int64_t{1} << 50, body), OutOfMemoryError);
    EXPECT_FALSE(ran);
  }
  EXPECT_EQ(counts(pool, 100, kMuch), std::vector<int>(100, 1)) << "the pool works on";
}

// A program may have set flush-to-zero; kernels keep denormals on every thread all the same, and
// the caller gets its mode back.
TEST(ThreadPool, KeepsDenormalsOnEveryThread) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  ThreadPool pool;
  pool.set_threads(4);
  std::atomic<int> flushed{0};
  for (const double cost : {0.0, kMuch}) {
    pool.parallel_for(1000, cost, 0, [&](int64_t begin, int64_t end, void*) {
      for (int64_t i = begin; i < end; ++i) {
        volatile float small = 1e-30f;
        const float product = small * 1e-10f;
        flushed += product == 0;
      }
    });
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(flushed, 0);
  EXPECT_EQ(after & 0xffc0, (before | 0x8040) & 0xffc0);
}

// The pool serves one launch at a time; others run on their own thread instead of waiting.
TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool;
  pool.set_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        pool.parallel_for(50, round % 3 == 0 ? 3000 : kMuch, 128,
                          [&](int64_t begin, int64_t end, void*) {
                            for (int64_t i = begin; i < end; ++i) sum += i;
                          });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 300 * (49 * 50 / 2));
}

// A body that launches runs its launch inline: it cannot wait for itself.
TEST(ThreadPool, NestedLaunchesRunInline) {
  ThreadPool pool;
  pool.set_threads(3);
  std::atomic<int> tasks{0};
  pool.parallel_for(10, kMuch, 0, [&](int64_t begin, int64_t end, void*) {
    for (int64_t i = begin; i < end; ++i) {
      pool.parallel_for(10, kMuch, 0,
                        [&](int64_t b, int64_t e, void*) { tasks += static_cast<int>(e - b); });
    }
  });
  EXPECT_EQ(tasks, 100);
}

// Threads may be changed at any time, also while others launch.
TEST(ThreadPool, ChangesItsThreadsBetweenLaunches) {
  ThreadPool pool;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) (void)counts(pool, 20, kMuch);
  });
  for (int round = 0; round < 50; ++round) {
    pool.set_threads(1 + round % 5);
    EXPECT_EQ(pool.threads(), 1 + round % 5);
    EXPECT_EQ(counts(pool, 33, kMuch), std::vector<int>(33, 1));
  }
  stop = true;
  other.join();
  pool.set_threads(0);
  EXPECT_GE(pool.threads(), 1);
  EXPECT_THROW(pool.set_threads(-1), Error);
}

}  // namespace
}  // namespace reprise
