// What the runtime has done so far: compiled, launched, kept.
#pragma once

#include "runtime/runtime.h"

namespace reprise {

/// Counters since the start or reset_stats(); live figures are as of now.
[[nodiscard]] inline Stats stats() {
  return Runtime::get().stats();
}
/// Counters start from 0.
inline void reset_stats() {
  Runtime::get().reset_stats();
}

}  // namespace reprise
