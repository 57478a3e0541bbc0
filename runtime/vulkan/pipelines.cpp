// The driver's bytes, under the identity of device and driver.
#include "runtime/vulkan/pipelines.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "ir/error.h"
#include "ir/log.h"
#include "runtime/vulkan/context.h"

namespace reprise::vulkan {
namespace {

// A long process loses no more than this when it is killed; a short one writes when it ends.
constexpr auto kInterval = std::chrono::seconds(30);

std::string key_of(const VkPhysicalDeviceProperties& device) {
  std::string uuid;
  for (const uint8_t byte : device.pipelineCacheUUID) {
    std::array<char, 3> digits;
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    uuid += digits.data();
  }
  return str("vulkan pipelines 1\n", device.deviceName, "\nvendor ", device.vendorID, " device ",
             device.deviceID, " driver ", device.driverVersion, " api ", device.apiVersion,
             " cache ", uuid, '\n');
}

/// Whether the driver's own header names this device: Vulkan leaves it to us to look.
bool is_of(const VkPhysicalDeviceProperties& device, std::span<const std::byte> bytes) {
  VkPipelineCacheHeaderVersionOne header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= bytes.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == device.vendorID && header.deviceID == device.deviceID &&
         std::memcmp(header.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

}  // namespace

VkResult Pipelines::open(VkPhysicalDevice physical, VkDevice device, const VolkDeviceTable& api,
                         DiskCache& disk) {
  device_ = device;
  api_ = &api;
  disk_ = &disk;
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  key_ = key_of(properties);
  auto info = structure<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  const std::optional<std::vector<std::byte>> found = disk.find(key_);
  if (found && is_of(properties, *found)) {
    info.initialDataSize = found->size();
    info.pInitialData = found->data();
    if (api.vkCreatePipelineCache(device, &info, nullptr, &cache_) == VK_SUCCESS) {
      if (log_wants("cache")) {
        log_line("cache", str("pipelines of ", properties.deviceName, ": ", found->size(),
                              " bytes from the disk"));
      }
      return VK_SUCCESS;
    }
    info.initialDataSize = 0;
    info.pInitialData = nullptr;
  }
  return api.vkCreatePipelineCache(device, &info, nullptr, &cache_);
}

void Pipelines::close() noexcept {
  if (cache_ == VK_NULL_HANDLE) return;
  keep();
  api_->vkDestroyPipelineCache(device_, cache_, nullptr);
  cache_ = VK_NULL_HANDLE;
}

void Pipelines::note() const {
  changed_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (Clock::now() - kept_ < kInterval) return;
  }
  keep();
}

void Pipelines::keep() const noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!changed_.exchange(false)) return;
    kept_ = Clock::now();
    size_t bytes = 0;
    if (api_->vkGetPipelineCacheData(device_, cache_, &bytes, nullptr) != VK_SUCCESS) return;
    std::vector<std::byte> data(bytes);
    if (api_->vkGetPipelineCacheData(device_, cache_, &bytes, data.data()) != VK_SUCCESS) return;
    data.resize(bytes);
    disk_->store(key_, data);
  } catch (const std::exception& error) {  // no memory: then not
    log_line("vulkan", error.what());
  }
}

}  // namespace reprise::vulkan
