// The threads that share the CPU's launches: they spin briefly for the next one, then sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace reprise {

/// 64-byte aligned memory that only grows.
class ScratchBuffer {
 public:
  ScratchBuffer() = default;
  ~ScratchBuffer();
  ScratchBuffer(const ScratchBuffer&) = delete;
  ScratchBuffer& operator=(const ScratchBuffer&) = delete;
  /// At least `bytes`; the contents are lost when it grows. Throws OutOfMemoryError.
  void* reserve(int64_t bytes);
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

/// One pool for the process. The calling thread takes part, so a launch never waits for a thread
/// that sleeps: whatever a worker has not begun, the caller does.
class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The process's pool; lives until the end.
  [[nodiscard]] static ThreadPool& get();

  /// Threads that share a launch, the caller included; 0 asks for one per core.
  void set_threads(int threads);
  [[nodiscard]] int threads() const { return threads_.load(std::memory_order_relaxed); }

  /// Calls `body(begin, end, scratch)` on ranges that make up [0, tasks), each thread with
  /// `scratch_bytes` of its own, and returns when all are done. `cost_ns` is the estimated time of
  /// all tasks on one core: too little work, or a pool that another caller is using, runs here at
  /// once. `body` must not throw. Throws OutOfMemoryError before anything has run.
  template <class Body>
  void parallel_for(int64_t tasks, double cost_ns, int64_t scratch_bytes, const Body& body) {
    run({[](const void* context, int64_t begin, int64_t end, void* scratch) noexcept {
           (*static_cast<const Body*>(context))(begin, end, scratch);
         },
         &body, tasks, cost_ns, scratch_bytes});
  }

 private:
  struct Job {
    void (*call)(const void*, int64_t, int64_t, void*) noexcept = nullptr;
    const void* context = nullptr;
    int64_t tasks = 0;
    double cost_ns = 0;
    int64_t scratch_bytes = 0;
    int64_t chunks = 0;  ///< tasks are handed out in this many ranges
    int shares = 0;      ///< and each thread owns about the same number of those to begin with
    int workers = 0;     ///< workers that may join
  };
  /// A thread's own chunks [next, end), packed in one word: it takes from the front, thieves from
  /// the back.
  struct alignas(64) Share {
    std::atomic<uint64_t> range{0};
  };
  struct Worker {
    std::thread thread;
    ScratchBuffer scratch;
  };

  void run(Job job);
  void run_inline(const Job& job);
  void run_shared(Job job, int shares);
  void start_workers();
  void stop_workers();
  void work(int index, const ScratchBuffer& scratch);
  void take_chunks(int first_share, void* scratch);
  [[nodiscard]] int plan_shares(const Job& job) const;

  // What launches touch and workers spin on.
  alignas(64) std::atomic<uint64_t> state_{0};  ///< 2 * number of the launch + (1 while it is open)
  alignas(64) std::atomic<int> active_{0};      ///< workers inside the open launch
  alignas(64) std::atomic<bool> busy_{false};   ///< held by the caller that launches
  std::atomic<int> sleepers_{0};
  std::atomic<int> threads_{default_threads()};
  std::atomic<bool> stop_{false};
  std::atomic<int> running_{0};  ///< workers started
  Job job_;                      ///< written by the holder of busy_ while no launch is open
  std::unique_ptr<Share[]> shares_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex sleep_mutex_;
  std::condition_variable wake_;

  [[nodiscard]] static int default_threads();
};

/// Denormals kept, all exceptions masked, round to nearest: while it lives, on this thread.
class DefaultFloatMode {
 public:
  DefaultFloatMode();
  ~DefaultFloatMode();
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  unsigned saved_;
};

}  // namespace reprise
