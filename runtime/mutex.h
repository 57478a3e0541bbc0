// The lock of short sections: recording an op costs little more than locking does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace reprise {

/// As std::mutex, but in line: one atomic operation to lock and one to unlock while nobody waits.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    if (!try_lock()) [[unlikely]]
      lock_slowly();
  }
  [[nodiscard]] bool try_lock() {
    uint32_t free = kFree;
    return state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      wake_one();
  }

 private:
  /// Awaited: held, and some thread may sleep until it is not.
  static constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;
  void lock_slowly();
  void wake_one();

  std::atomic<uint32_t> state_{kFree};
};

/// Threads that wait, under a Mutex, for what another one does under it.
class Condition {
 public:
  void wait(std::unique_lock<Mutex>& lock) {
    ++waiters_;
    changed_.wait(lock);
    --waiters_;
  }
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate done) {
    while (!done()) wait(lock);
  }
  /// With the mutex held.
  void notify_all() {
    if (waiters_ > 0) [[unlikely]]
      changed_.notify_all();
  }

 private:
  std::condition_variable_any changed_;
  uint32_t waiters_ = 0;  ///< under the mutex
};

}  // namespace reprise
