// What a Vulkan device is, as the data that code is generated for.
#pragma once

#include <volk.h>

#include "ir/target.h"
#include "runtime/vulkan_devices.h"

namespace reprise::vulkan {

/// What can be asked for when a device is opened, linked for one query.
struct Features {
  Features();
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;
  VkPhysicalDeviceVulkan12Features v12{};
  VkPhysicalDeviceVulkan11Features v11{};
  VkPhysicalDeviceFeatures2 all{};
};

[[nodiscard]] TargetInfo target_of(VkPhysicalDevice device, const VulkanLimits& limits);

}  // namespace reprise::vulkan
