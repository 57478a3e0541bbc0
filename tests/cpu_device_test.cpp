// The CPU device: what it says of itself and how it can be limited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ir/error.h"
#include "runtime/cpu/target.h"
#include "runtime/device.h"

namespace reprise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Sets REPRISE_CPU while it lives.
class CpuVariable {
 public:
  explicit CpuVariable(const char* value) {
    if (const char* old = std::getenv("REPRISE_CPU")) saved_ = old;
    setenv("REPRISE_CPU", value, 1);
  }
  ~CpuVariable() {
    if (saved_.empty()) {
      unsetenv("REPRISE_CPU");
    } else {
      setenv("REPRISE_CPU", saved_.c_str(), 1);
    }
  }

 private:
  std::string saved_;
};

// Vectors, registers and numerics follow from the features: code for features that are not there
// would crash.
TEST(CpuTarget, SizesFollowFromFeatures) {
  for (const CpuLevel limit : {CpuLevel::Sse2, CpuLevel::Avx2, CpuLevel::Avx512}) {
    const TargetInfo target = cpu_target(limit);
    EXPECT_EQ(target.kind, TargetKind::Cpu);
    EXPECT_EQ(target.triple, "x86_64-unknown-linux-gnu");
    EXPECT_THAT(target.features, HasSubstr("+sse2"));
    const bool avx2 = target.features.find("+avx2") != std::string::npos;
    const bool avx512 = target.features.find("+avx512f") != std::string::npos;
    EXPECT_EQ(target.vector_bytes, avx512 ? 64 : avx2 ? 32 : 16);
    EXPECT_EQ(target.vector_registers, avx512 ? 32 : 16);
    EXPECT_EQ(target.numerics.fma, avx2);
    if (avx2) {
      EXPECT_THAT(target.features, HasSubstr("+fma"));
    }
    EXPECT_GE(target.l1_bytes, 4 << 10);
    EXPECT_GE(target.l2_bytes, target.l1_bytes);
    EXPECT_GE(target.l3_bytes, 0);
  }
}

// The same machine must always give the same kernel keys.
TEST(CpuTarget, IsTheSameEveryTime) {
  EXPECT_EQ(cpu_target(), cpu_target());
}

TEST(CpuTarget, VariableLowersAndNeverRaises) {
  const CpuLevel detected = detected_cpu_level();
  {
    const CpuVariable variable("sse2");
    EXPECT_EQ(cpu_target().vector_bytes, 16);
    EXPECT_EQ(cpu_target().features, "+sse2");
    EXPECT_FALSE(cpu_target().numerics.fma);
  }
  {
    const CpuVariable variable("avx2");
    EXPECT_LE(cpu_target().vector_bytes, 32);
    EXPECT_THAT(cpu_target().features, Not(HasSubstr("avx512")));
  }
  {
    const CpuVariable variable("avx512");
    EXPECT_EQ(cpu_target(), cpu_target(detected));
  }
}

TEST(CpuTarget, UnknownLevelIsAnError) {
  const CpuVariable variable("avx1024");
  try {
    (void)cpu_target();
    ADD_FAILURE() << "a level that does not exist was taken";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "REPRISE_CPU is \"avx1024\": expected sse2, avx2 or avx512");
  }
}

TEST(CpuDevice, IsOneDeviceWithAnAllocator) {
  Device& device = cpu_device();
  EXPECT_EQ(&device, &cpu_device());
  EXPECT_EQ(device.name(), "cpu");
  EXPECT_EQ(&device.allocator().device(), &device);
  const StoragePtr storage = device.allocator().allocate(100);
  EXPECT_EQ(storage->device(), &device);
  EXPECT_GE(device.allocator().live_bytes(), 100u);
}

TEST(CpuDevice, NumberOfThreadsIsAtLeastOne) {
  const int before = num_threads();
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(0);
  EXPECT_GE(num_threads(), 1);
  set_num_threads(before);
}

}  // namespace
}  // namespace reprise
