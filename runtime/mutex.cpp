// Waiting for a mutex.
#include "runtime/mutex.h"

namespace reprise {

void Mutex::lock_slowly() {
  // Whoever takes it from here on must wake the next, as it cannot know that it was the last.
  while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
    state_.wait(kAwaited, std::memory_order_relaxed);
  }
}

void Mutex::wake_one() {
  state_.notify_one();
}

}  // namespace reprise
