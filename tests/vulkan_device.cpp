// One block of the device's memory a run, with gaps that nobody may write between the buffers.
#include "tests/vulkan_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "ir/error.h"
#include "runtime/device.h"
#include "runtime/vulkan_devices.h"

namespace reprise {
namespace {

constexpr size_t kGap = 256;
constexpr std::byte kWatched{0x5a};

}  // namespace

Device* test_vulkan_device(std::string* why) {
  const bool chosen = std::getenv("REPRISE_VULKAN_DEVICE") != nullptr;
  for (Device* const each : vulkan_devices(why)) {
    if (chosen || each->description().find("llvmpipe") != std::string::npos) return each;
  }
  if (why->empty()) *why = "no Vulkan device is llvmpipe, and REPRISE_VULKAN_DEVICE names none";
  return nullptr;
}

Device& narrow_vulkan_device(Device& device, int64_t groups_per_axis) {
  static std::map<std::pair<Device*, int64_t>, std::unique_ptr<Device>>& opened =
      *new std::map<std::pair<Device*, int64_t>, std::unique_ptr<Device>>;
  std::unique_ptr<Device>& found = opened[{&device, groups_per_axis}];
  if (!found) found = open_again(device, {.max_groups = groups_per_axis});
  return *found;
}

Device* matrix_vulkan_device(Device& device) {
  static std::map<Device*, std::unique_ptr<Device>>& opened =
      *new std::map<Device*, std::unique_ptr<Device>>;
  std::unique_ptr<Device>& found = opened[&device];
  if (!found) found = open_again(device, vulkan_limits("matrix"));
  const bool emulates = found->target().shader.matrices.form == MatrixForm::Emulated;
  return emulates ? found.get() : nullptr;
}

bool names_missing_type(const TargetInfo& target, std::string_view error) {
  const auto named = [&](std::string_view what) { return error.find(what) != error.npos; };
  return (!target.shader.int64 && named("no 64-bit integers")) ||
         (!target.shader.float64 && named("no 64-bit floats"));
}

void run_watched(Device& device, const KernelCode& code,
                 std::span<const std::span<std::byte>> buffers, std::span<const uint64_t> params,
                 LaunchStatus* status) {
  size_t end = kGap;
  std::vector<size_t> offsets;
  for (const auto& buffer : buffers) {
    offsets.push_back(end);
    end += (buffer.size() + kGap - 1) / kGap * kGap + kGap;
  }
  std::vector<std::byte> image(end, kWatched);
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].empty()) {
      std::memcpy(image.data() + offsets[b], buffers[b].data(), buffers[b].size());
    }
  }
  const StoragePtr block = upload(device, image.data(), end);
  std::vector<void*> addresses;
  for (const size_t offset : offsets) {
    addresses.push_back(static_cast<std::byte*>(block->data()) + offset);
  }
  device.launch(*device.load(code), addresses, params, status);
  device.download(image.data(), block->data(), end);
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].empty()) {
      std::memcpy(buffers[b].data(), image.data() + offsets[b], buffers[b].size());
    }
    std::fill_n(image.begin() + static_cast<ptrdiff_t>(offsets[b]), buffers[b].size(), kWatched);
  }
  const auto written =
      std::find_if(image.begin(), image.end(), [](std::byte byte) { return byte != kWatched; });
  EXPECT_EQ(written - image.begin(), std::ssize(image)) << "memory beside a buffer was written";
}

}  // namespace reprise
