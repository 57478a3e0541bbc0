// Memory that two devices address, and who may write it. Skipped where there is no Vulkan device.
#include <gtest/gtest.h>

#include <numeric>

#include "frontend/reprise.h"
#include "runtime/vulkan_devices.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

constexpr int64_t kLarge = 1 << 20;  // elements: far above what is worth a mapping

class SharedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    vulkan_ = test_vulkan_device(&why);
    if (vulkan_ == nullptr) GTEST_SKIP() << why;
    const StoragePtr probe = cpu_device().allocator().allocate(kLarge);
    if (!share_with(*vulkan_, probe)) {
      GTEST_SKIP() << vulkan_->name() << " does not import the host's memory";
    }
  }
  static Tensor numbers() { return arange(0, kLarge, 1, DType::F32).to("cpu").realize(); }
  static StoragePtr storage(const Tensor& x) { return Runtime::get().storage(x.id()).first; }
  Device* vulkan_ = nullptr;
};

TEST_F(SharedMemory, LargeBlocksPassWithoutACopy) {
  const Tensor x = numbers();
  const size_t before = vulkan_->allocator().live_bytes();
  const Tensor there = x.to(*vulkan_);
  EXPECT_EQ(vulkan_->allocator().live_bytes(), before);
  EXPECT_EQ(&there.device(), vulkan_);
  EXPECT_EQ(storage(there)->device(), vulkan_);
  EXPECT_EQ((there + 1).to_vector<float>(), (x + 1).to_vector<float>());
  // And back: the very block.
  EXPECT_EQ(storage(there.to("cpu")).get(), storage(x).get());
  // Small ones are copied.
  const Tensor small = Tensor::of({1.f, 2.f}).to(*vulkan_);
  EXPECT_GT(vulkan_->allocator().live_bytes(), before);
}

TEST_F(SharedMemory, ResultsAreReadWhereTheyAre) {
  const Tensor y = (numbers().to(*vulkan_) * 2).realize();
  const size_t before = cpu_device().allocator().live_bytes();
  const Tensor here = y.to("cpu");
  EXPECT_EQ(cpu_device().allocator().live_bytes(), before);
  EXPECT_EQ(&here.device(), &cpu_device());
  EXPECT_EQ((here + 1).at({kLarge - 1}).item<float>(), 2 * (kLarge - 1) + 1.f);
}

// A block that is shared is overwritten by neither side while the other side's value lives.
TEST_F(SharedMemory, NeitherSideOverwritesTheOthersValue) {
  const Tensor x = numbers();
  const Tensor there = x.to(*vulkan_);
  const void* const block = storage(x)->data();
  x.assign_(x + 1);
  x.realize();
  EXPECT_NE(storage(x)->data(), block);
  EXPECT_EQ(there.at({7}).item<float>(), 7);
  const Tensor kept = there.value();
  there.assign_(there * 2);
  there.realize();
  EXPECT_EQ(kept.at({7}).item<float>(), 7);
  EXPECT_EQ(there.at({7}).item<float>(), 14);
  EXPECT_EQ(x.at({7}).item<float>(), 8);

  const Tensor y = (numbers().to(*vulkan_) * 1).realize();
  const Tensor here = y.to("cpu");
  y.assign_(y + 1);
  y.realize();
  EXPECT_EQ(here.at({7}).item<float>(), 7);
  here.assign_(here * 3);
  here.realize();
  EXPECT_EQ(here.at({7}).item<float>(), 21);
  EXPECT_EQ(y.at({7}).item<float>(), 8);
}

// Once the other side's value is gone the block is as it was: updated in place.
TEST_F(SharedMemory, ABlockIsGivenAwayAgainWhenNobodyElseReadsIt) {
  const Tensor x = numbers();
  { static_cast<void>(sum(x.to(*vulkan_)).item<float>()); }
  const void* const block = storage(x)->data();
  x.assign_(x + 1);
  x.realize();
  EXPECT_EQ(storage(x)->data(), block);
  EXPECT_EQ(x.at({7}).item<float>(), 8);
  // The mapping is still there, and sees the new values.
  EXPECT_EQ(x.to(*vulkan_).at({7}).item<float>(), 8);
}

TEST_F(SharedMemory, AValueOutlivesTheOneItCameFrom) {
  Tensor there;
  {
    const Tensor x = numbers();
    there = x.to(*vulkan_);
  }
  for (int i = 0; i < 3; ++i) static_cast<void>((zeros({kLarge}) + i).realize());
  EXPECT_EQ(there.at({kLarge - 1}).item<float>(), kLarge - 1);
  Tensor here;
  {
    const Tensor y = (there + 1).realize();
    here = y.to("cpu");
  }
  static_cast<void>((there * 0).realize());
  EXPECT_EQ(here.at({kLarge - 1}).item<float>(), kLarge);
}

// An allocator hands a block out again, for more of its bytes: the mapping is of them all.
TEST_F(SharedMemory, AMappingCoversTheWholeBlock) {
  const size_t few = size_t{66} << 10, more = size_t{79} << 10;  // one size class
  const void* block = nullptr;
  {
    const StoragePtr first = cpu_device().allocator().allocate(few);
    block = first->data();
    ASSERT_TRUE(share_with(*vulkan_, first));
  }
  const StoragePtr again = cpu_device().allocator().allocate(more);
  if (again->data() != block) GTEST_SKIP() << "another block";
  auto* const bytes = static_cast<std::byte*>(again->data());
  bytes[more - 1] = std::byte{42};
  const StoragePtr there = share_with(*vulkan_, again);
  ASSERT_TRUE(there);
  std::byte last{};
  vulkan_->download(&last, static_cast<std::byte*>(there->data()) + more - 1, 1);
  EXPECT_EQ(last, std::byte{42});
}

// Its owner may change it, and what was moved is a value.
TEST_F(SharedMemory, BorrowedMemoryIsCopied) {
  const StoragePtr block = cpu_device().allocator().allocate(kLarge * sizeof(float));
  auto* const data = static_cast<float*>(block->data());
  std::fill_n(data, kLarge, 1.f);
  const Tensor x = from_memory({DType::F32, {kLarge}}, data, [] {});
  const Tensor there = x.to(*vulkan_);
  data[5] = 2;
  EXPECT_EQ(there.at({5}).item<float>(), 1);
  EXPECT_EQ(x.at({5}).item<float>(), 2);
}

TEST_F(SharedMemory, ADeviceThatImportsNothingCopies) {
  const std::unique_ptr<Device> device = open_again(*vulkan_, {.imports_nothing = true});
  const StoragePtr host = cpu_device().allocator().allocate(kLarge);
  EXPECT_FALSE(share_with(*device, host));
  EXPECT_EQ(copy_to(*device, host)->device(), device.get());
}

TEST_F(SharedMemory, ViewsAreSharedToo) {
  const Tensor x = numbers();
  const Tensor rows = x.reshape({1024, 1024}).transpose();
  const Tensor there = rows.to(*vulkan_);
  EXPECT_EQ((there + 0).at({3, 5}).item<float>(), 5 * 1024 + 3);
  EXPECT_EQ(there.to("cpu").at({3, 5}).item<float>(), 5 * 1024 + 3);
}

TEST_F(SharedMemory, EveryDevicesBytesAreCounted) {
  const uint64_t before = Runtime::get().stats().live_bytes;
  const Tensor y = (numbers().to(*vulkan_) * 2).realize();
  EXPECT_GE(Runtime::get().stats().live_bytes, before + kLarge * sizeof(float));
}

}  // namespace
}  // namespace reprise
