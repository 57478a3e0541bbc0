// What a driver remembers of pipelines, from one device to the next. Skipped where there is none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/disk_cache.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/schedule.h"
#include "runtime/device.h"
#include "runtime/vulkan_devices.h"
#include "tests/vulkan_device.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// In a folder of the test's.
class PipelinesOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / str("reprise-pipelines-", ::getpid());
    std::string why;
    vulkan_ = test_vulkan_device(&why);
    if (vulkan_ == nullptr) GTEST_SKIP() << why;
  }
  /// A kernel that the runtime has code for.
  static KernelCode some_code(Device& device) {
    const Kernel kernel = parse_kernel(R"(kernel { input b0: f32[4] output b1: f32[4]
      phase { part grid [4] { loop parallel [] reduce [] {
        %0 = load b0[g0] : f32 %1 = neg %0 : f32 store b1[g0], %1 } } } })");
    Schedule schedule;
    schedule.phases.resize(1);
    schedule.phases[0].resize(1);
    return device.backend().generate(kernel, schedule, device.target());
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder_)) return found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
  Device* vulkan_ = nullptr;
};

TEST_F(PipelinesOnDisk, AreThereAgain) {
  DiskCache disk(folder_);
  const auto use = [&] {
    const std::unique_ptr<Device> device = open_again(*vulkan_, {.disk = &disk});
    const auto executable = device->load(some_code(*device));
    const float numbers[] = {1, -2, 3, 4};
    const StoragePtr in = upload(*device, numbers, sizeof numbers);
    const StoragePtr out = device->allocator().allocate(sizeof numbers);
    void* const buffers[] = {in->data(), out->data()};
    device->launch(*executable, buffers, {}, nullptr);
    float found[4];
    device->download(found, out->data(), sizeof found);
    EXPECT_EQ(found[1], 2);
  };
  { const auto unused = open_again(*vulkan_, {.disk = &disk}); }
  EXPECT_TRUE(files().empty());
  use();
  ASSERT_EQ(files().size(), 1u);
  const auto size = fs::file_size(files()[0]);
  use();
  EXPECT_EQ(files().size(), 1u);
  // Whatever is wrong with it, the device works, and what is there is right afterwards.
  for (size_t at = 0; at < size; at += 7) {
    std::fstream stream(files()[0], std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char changed = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(changed);
    stream.close();
    use();
  }
  fs::resize_file(files()[0], size / 2);
  use();
  EXPECT_EQ(fs::file_size(files()[0]), size);
}

}  // namespace
}  // namespace reprise
