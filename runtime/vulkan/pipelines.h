// What a driver remembers of pipelines it made, from one process to the next.
#pragma once

#include <volk.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "compiler/disk_cache.h"

namespace reprise::vulkan {

/// A device's VkPipelineCache. It begins with what is on disk for this very device and driver;
/// what is there of any other, or is damaged, is as if it were not.
class Pipelines {
 public:
  /// VK_SUCCESS, or what kept the driver from making one.
  [[nodiscard]] VkResult open(VkPhysicalDevice physical, VkDevice device,
                              const VolkDeviceTable& api, DiskCache& disk);
  void close() noexcept;

  [[nodiscard]] VkPipelineCache handle() const { return cache_; }
  /// A pipeline was made. Now and then what there is by now is written.
  void note() const;
  /// Writes what was made since it was last written.
  void keep() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  VkDevice device_ = VK_NULL_HANDLE;
  const VolkDeviceTable* api_ = nullptr;
  DiskCache* disk_ = nullptr;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::string key_;
  mutable std::atomic<bool> changed_{false};
  mutable std::mutex mutex_;  ///< held while writing
  mutable Clock::time_point kept_ = Clock::now();
};

}  // namespace reprise::vulkan
