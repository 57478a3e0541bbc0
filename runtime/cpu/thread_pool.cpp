// Work sharing between the caller and workers that spin, then sleep.
#include "runtime/cpu/thread_pool.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "ir/error.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

// Below this, handing out costs more than it saves even while workers spin.
constexpr double kInlineNs = 2500;
// Waking a sleeping worker takes about this long.
constexpr double kWakeNs = 30000;
// Least work worth a thread of its own, and worth a range of its own.
constexpr double kShareNs = 1250;
constexpr double kChunkNs = 5000;
// Few chunks a thread: enough that a thread which was interrupted does not hold up the others,
// while each call still gets a long range.
constexpr int64_t kChunksPerShare = 4;
constexpr auto kSpin = std::chrono::microseconds(300);

constexpr unsigned kDefaultMxcsr = 0x1f80;
constexpr unsigned kMxcsrControl = 0xffc0;

uint64_t pack(uint64_t next, uint64_t end) {
  return next << 32 | end;
}

/// Thread-local, so that callers that run inline at the same time never share it.
ScratchBuffer& caller_scratch() {
  thread_local ScratchBuffer buffer;
  return buffer;
}

}  // namespace

DefaultFloatMode::DefaultFloatMode() : saved_(_mm_getcsr()) {
  if ((saved_ & kMxcsrControl) != kDefaultMxcsr) _mm_setcsr(kDefaultMxcsr);
}
DefaultFloatMode::~DefaultFloatMode() {
  if ((saved_ & kMxcsrControl) != kDefaultMxcsr) _mm_setcsr(saved_);
}

ScratchBuffer::~ScratchBuffer() {
  std::free(data_);
}

void* ScratchBuffer::reserve(int64_t bytes) {
  if (bytes <= bytes_) return data_;
  constexpr int64_t kMost = int64_t{1} << 40;
  void* grown = nullptr;
  int64_t size = 0;
  if (bytes <= kMost) {
    size =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(bytes, 4096))));
    grown = std::aligned_alloc(64, static_cast<size_t>(size));
  }
  if (grown == nullptr) {
    throw OutOfMemoryError(str("out of memory: a kernel needs ", bytes, " bytes of scratch"));
  }
  std::free(data_);
  data_ = grown;
  bytes_ = size;
  return data_;
}

int ThreadPool::default_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool& ThreadPool::get() {
  // Never destroyed: other threads may launch while the process exits.
  static ThreadPool& pool = *new ThreadPool;
  return pool;
}

ThreadPool::~ThreadPool() {
  stop_workers();
}

void ThreadPool::set_threads(int threads) {
  if (threads < 0) throw Error(str("set_num_threads(", threads, "): expected 0 or more"));
  const int wanted = threads == 0 ? default_threads() : std::min(threads, 1024);
  while (busy_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  if (wanted != threads_.load(std::memory_order_relaxed)) {
    stop_workers();  // they start anew with the next launch that can use them
    threads_.store(wanted, std::memory_order_relaxed);
  }
  busy_.store(false, std::memory_order_release);
}

int ThreadPool::plan_shares(const Job& job) const {
  const int threads = threads_.load(std::memory_order_relaxed);
  if (threads <= 1 || job.tasks <= 1 || !(job.cost_ns >= kInlineNs)) return 1;
  int useful = threads;
  if (job.cost_ns < kWakeNs) {
    // Only those that are awake: they are there before a sleeping one would be.
    useful = 1 + std::max(0, running_.load(std::memory_order_relaxed) -
                                 sleepers_.load(std::memory_order_relaxed));
  }
  const double worth = std::min(job.cost_ns / kShareNs, 1024.0);
  return static_cast<int>(std::min<int64_t>(std::min(useful, static_cast<int>(worth)), job.tasks));
}

void ThreadPool::run(Job job) {
  if (job.tasks <= 0) return;
  const int shares = plan_shares(job);
  if (shares > 1 && !busy_.exchange(true, std::memory_order_acquire)) {
    struct Release {
      std::atomic<bool>& flag;
      ~Release() { flag.store(false, std::memory_order_release); }
    } release{busy_};
    run_shared(job, shares);
    return;
  }
  run_inline(job);
}

void ThreadPool::run_inline(const Job& job) {
  void* scratch = caller_scratch().reserve(job.scratch_bytes);
  const DefaultFloatMode mode;
  job.call(job.context, 0, job.tasks, scratch);
}

void ThreadPool::run_shared(Job job, int shares) {
  start_workers();
  shares = std::min(shares, running_.load(std::memory_order_relaxed) + 1);
  if (shares <= 1) return run_inline(job);
  void* scratch = caller_scratch().reserve(job.scratch_bytes);
  for (const auto& worker : workers_) worker->scratch.reserve(job.scratch_bytes);

  const auto per_share = static_cast<int64_t>(job.cost_ns / (kChunkNs * shares));
  job.chunks = std::min(job.tasks, shares * std::clamp<int64_t>(per_share, 1, kChunksPerShare));
  job.shares = shares;
  const int sleeping = sleepers_.load(std::memory_order_relaxed);
  // Who sleeps now is not known by number, so then anybody may join.
  job.workers = sleeping > 0 ? static_cast<int>(workers_.size()) : shares - 1;
  for (int i = 0; i < shares; ++i) {
    shares_[i].range.store(pack(static_cast<uint64_t>(job.chunks * i / shares),
                                static_cast<uint64_t>(job.chunks * (i + 1) / shares)),
                           std::memory_order_relaxed);
  }
  job_ = job;

  // Opening and then looking for sleepers, against sleeping and then looking for an open launch:
  // sequential consistency lets neither miss the other. The same holds for closing and active_.
  const uint64_t open = (state_.load(std::memory_order_relaxed) | 1) + 2;
  state_.store(open);
  if (job.cost_ns >= kWakeNs && sleepers_.load() > 0) {
    { const std::lock_guard lock(sleep_mutex_); }
    wake_.notify_all();
  }
  {
    const DefaultFloatMode mode;
    take_chunks(0, scratch);
  }
  state_.store(open - 1);
  // Chunks that workers took are done when the workers have left.
  for (int spins = 0; active_.load() != 0; ++spins) {
    if (spins < 2000) {
      _mm_pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::take_chunks(int first_share, void* scratch) {
  const Job& job = job_;
  const auto run_chunk = [&](int64_t chunk) {
    // chunks <= 4096 and tasks < 2^50: no overflow.
    const int64_t begin =
        job.tasks / job.chunks * chunk + job.tasks % job.chunks * chunk / job.chunks;
    const int64_t next = chunk + 1;
    const int64_t end = job.tasks / job.chunks * next + job.tasks % job.chunks * next / job.chunks;
    job.call(job.context, begin, end, scratch);
  };
  for (int i = 0; i < job.shares; ++i) {
    std::atomic<uint64_t>& range = shares_[(first_share + i) % job.shares].range;
    uint64_t value = range.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t next = value >> 32;
      const uint64_t end = value & 0xffffffff;
      if (next >= end) break;
      const bool own = i == 0;
      const uint64_t rest = own ? pack(next + 1, end) : pack(next, end - 1);
      // Relaxed: what the chunk reads was published by the opening of the launch.
      if (!range.compare_exchange_weak(value, rest, std::memory_order_relaxed)) continue;
      run_chunk(static_cast<int64_t>(own ? next : end - 1));
      value = range.load(std::memory_order_relaxed);
    }
  }
}

void ThreadPool::start_workers() {
  const int wanted = threads_.load(std::memory_order_relaxed) - 1;
  if (static_cast<int>(workers_.size()) == wanted) return;
  shares_ = std::make_unique<Share[]>(static_cast<size_t>(wanted) + 1);
  try {
    while (static_cast<int>(workers_.size()) < wanted) {
      auto worker = std::make_unique<Worker>();
      const int index = static_cast<int>(workers_.size());
      worker->thread =
          std::thread([this, index, scratch = &worker->scratch] { work(index, *scratch); });
      workers_.push_back(std::move(worker));
    }
  } catch (const std::system_error&) {
    // No more threads to be had: the launch is shared among those there are.
    threads_.store(static_cast<int>(workers_.size()) + 1, std::memory_order_relaxed);
  }
  running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
}

void ThreadPool::stop_workers() {
  stop_.store(true);
  { const std::lock_guard lock(sleep_mutex_); }
  wake_.notify_all();
  for (const auto& worker : workers_) worker->thread.join();
  workers_.clear();
  running_.store(0, std::memory_order_relaxed);
  stop_.store(false);
}

void ThreadPool::work(int index, const ScratchBuffer& scratch) {
  _mm_setcsr(kDefaultMxcsr);  // threads inherit their creator's mode
  // More threads than cores: the core is better left to those that work.
  const auto spin = threads() > default_threads() ? kSpin / 20 : kSpin;
  uint64_t seen = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    // Spin until a launch opens.
    Clock::time_point deadline = Clock::now() + spin;
    uint64_t state = state_.load(std::memory_order_acquire);
    for (int polls = 1; (state == seen || (state & 1) == 0); ++polls) {
      if (stop_.load(std::memory_order_relaxed)) return;
      if (polls % 32 == 0 && Clock::now() >= deadline) break;
      _mm_pause();
      const uint64_t now = state_.load(std::memory_order_acquire);
      if (now >> 1 != state >> 1) deadline = Clock::now() + spin;  // launches go on
      state = now;
    }
    if (state == seen || (state & 1) == 0) {
      std::unique_lock lock(sleep_mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] {
        state = state_.load();
        return stop_.load() || (state != seen && (state & 1) != 0);
      });
      sleepers_.fetch_sub(1);
      if (stop_.load()) return;
    }
    // Enter first, then look whether it is still open: the caller closes, then waits for active_.
    active_.fetch_add(1);
    state = state_.load();
    if ((state & 1) != 0) {
      seen = state;
      if (index < job_.workers) take_chunks((index + 1) % job_.shares, scratch.data());
    }
    active_.fetch_sub(1);
  }
}

}  // namespace reprise
