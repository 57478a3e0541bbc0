// Eight threads at once; see tests/fuzz/stress.h.
#include <gtest/gtest.h>

#include "runtime/runtime.h"
#include "tests/fuzz/stress.h"

namespace reprise {
namespace {

TEST(FuzzThreads, ShareTensors) {
  const uint64_t before = Runtime::get().stats().live_tensors;
  const StressResult result = stress_threads({.threads = 8, .seconds = 5, .seed = 1});
  EXPECT_EQ(result.failure, "");
  EXPECT_GE(result.steps, 8u) << "one a thread, however slow sanitizers and neighbours make it";
  RecordProperty("steps", static_cast<int>(result.steps));
  EXPECT_EQ(Runtime::get().stats().live_tensors, before) << "handles were left over";
}

}  // namespace
}  // namespace reprise
