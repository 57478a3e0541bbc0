// Waiting for a mutex.
#include "runtime/mutex.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace reprise {

void Mutex::lock_slowly() {
  // Most sections end within a microsecond, unless their thread does not run: then its core is
  // wanted, perhaps this one.
  constexpr int kLooks = 200;
  constexpr std::chrono::microseconds kShortest{10}, kLongest{500};
  std::chrono::microseconds pause = kShortest;
  for (;;) {
    for (int look = 0; look < kLooks; ++look) {
      if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongest);
  }
}

}  // namespace reprise
