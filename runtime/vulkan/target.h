// What a Vulkan device is, as the data that code is generated for.
#pragma once

#include <volk.h>

#include <vector>

#include "ir/target.h"
#include "runtime/vulkan/cooperative_matrix.h"
#include "runtime/vulkan_devices.h"

namespace reprise::vulkan {

[[nodiscard]] bool has_extension(VkPhysicalDevice device, const char* name);

/// What a device has and, when it is opened, what is asked of it: structures linked for one call.
class Features {
 public:
  Features(VkPhysicalDevice device, const VulkanLimits& limits);
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;

  /// Keeps only what the target's code and the runtime use.
  void keep(const TargetInfo& target);
  [[nodiscard]] VkPhysicalDeviceFeatures2& all() { return all_; }
  /// Those that what is kept needs.
  [[nodiscard]] const std::vector<const char*>& extensions() const { return extensions_; }

  [[nodiscard]] bool int64() const { return all_.features.shaderInt64 != 0; }
  [[nodiscard]] bool float64() const { return all_.features.shaderFloat64 != 0; }
  [[nodiscard]] bool storage8() const { return v12_.storageBuffer8BitAccess != 0; }
  [[nodiscard]] bool storage16() const { return storage16_.storageBuffer16BitAccess != 0; }
  [[nodiscard]] bool addresses() const { return v12_.bufferDeviceAddress != 0; }
  [[nodiscard]] bool timeline() const { return v12_.timelineSemaphore != 0; }
  /// The memory model that goes with matrix instructions.
  [[nodiscard]] bool memory_model() const {
    return v12_.vulkanMemoryModel != 0 && v12_.vulkanMemoryModelDeviceScope != 0;
  }
  /// Matrix instructions, subgroups that are full, and values of 8 and 16 bits to multiply.
  [[nodiscard]] bool matrices() const {
    return memory_model() && matrices_.cooperativeMatrix != 0 &&
           subgroups_.computeFullSubgroups != 0;
  }
  [[nodiscard]] bool values8() const { return v12_.shaderInt8 != 0; }
  [[nodiscard]] bool values16() const { return v12_.shaderFloat16 != 0; }

 private:
  VkPhysicalDeviceVulkan12Features v12_{};  ///< linked where the device has Vulkan 1.2
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT subgroups_{};  ///< these two where it has them
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices_{};
  VkPhysicalDevice16BitStorageFeatures storage16_{};
  VkPhysicalDeviceFeatures2 all_{};
  std::vector<const char*> extensions_;
};

[[nodiscard]] TargetInfo target_of(VkPhysicalDevice device, const VulkanLimits& limits);

}  // namespace reprise::vulkan
