// The Vulkan devices of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/device.h"

namespace reprise {

class DiskCache;

/// What a device is held to beyond what it says of itself; tests make it less than it is.
struct VulkanLimits {
  int64_t max_groups = 0;        ///< workgroups along one axis of a dispatch; 0: the device's
  size_t max_memory = 0;         ///< bytes in use at once; 0: the device's
  bool hides_memory = false;     ///< the host copies through a staging buffer, always
  bool imports_nothing = false;  ///< the host's memory is copied, always
  int64_t submissions = 0;       ///< so many succeed, then it is lost; 0: it never is
  bool refuses_pipelines = false;
  DiskCache* disk = nullptr;  ///< keeps its pipelines; null: the user's cache
};

/// Those that can run our code, the fastest kind first, opened when this is first called. When
/// there is none `why` says so. REPRISE_VULKAN_DEVICE=NAME leaves only those whose name holds NAME.
[[nodiscard]] std::span<Device* const> vulkan_devices(std::string* why);

/// A device of its own on the hardware of another.
[[nodiscard]] std::unique_ptr<Device> open_again(const Device& vulkan_device,
                                                 const VulkanLimits& limits);
/// The same as one more of devices().
[[nodiscard]] Device& open_another(const Device& vulkan_device, const VulkanLimits& limits);

}  // namespace reprise
