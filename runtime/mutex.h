// The lock of short sections: recording an op costs little more than locking does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace reprise {

/// As std::mutex, but in line and with a single atomic operation on the way in: unlocking is a
/// plain store. So nobody is told that it is free; who waits looks again, soon at first, then after
/// sleeping ever longer. For sections that are short: where one may wait for a device or a disk,
/// std::mutex is right.
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
    bool free = false;
    return held_.compare_exchange_strong(free, true, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void lock_slowly();

  std::atomic<bool> held_{false};
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
