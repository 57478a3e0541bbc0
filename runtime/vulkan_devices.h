// The Vulkan devices of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/device.h"

namespace reprise {

class DiskCache;

/// What a device is held to beyond what it says of itself; tests make it less than it is. Two
/// things are none: what the user allows, and what stands in for matrix instructions.
struct VulkanLimits {
  int64_t max_groups = 0;        ///< workgroups along one axis of a dispatch; 0: the device's
  size_t max_memory = 0;         ///< bytes in use at once; 0: the device's
  bool hides_memory = false;     ///< the host copies through a staging buffer, always
  bool imports_nothing = false;  ///< the host's memory is copied, always
  int64_t submissions = 0;       ///< so many succeed, then it is lost; 0: it never is
  bool refuses_pipelines = false;
  int64_t shared_bytes = 0;  ///< workgroup memory; 0: the device's
  int64_t bound_bytes = 0;   ///< of one storage buffer; 0: the device's
  /// No more than Vulkan 1.1 asks for: no addresses of buffers, timeline semaphores, elements of
  /// one byte, float controls.
  bool only_vulkan11 = false;
  bool no_int64 = false;
  bool no_float64 = false;
  bool no_small_elements = false;  ///< of one and two bytes
  bool no_shuffle = false;         ///< between the invocations of a subgroup
  bool no_matrices = false;        ///< no matrix instructions
  /// Ordinary instructions stand in for matrix instructions, whatever the device has; not where it
  /// lacks the memory model that goes with them.
  bool emulates_matrices = false;
  /// The user allows matrix instructions for f16 (Numerics::matrix_f16): faster, and other bits
  /// than the interpreter's, which another device may give otherwise.
  bool allows_matrix_f16 = false;
  DiskCache* disk = nullptr;  ///< keeps its pipelines; null: the user's cache
};

/// Limits by name; throws DeviceError for any other:
///   least  what Vulkan 1.1 promises of every device
///   bound  that, with 64-bit types and shuffles: buffers are bound by descriptors
///   words  buffers have addresses; no elements of one and two bytes, no shuffles
///   matrix no less than it is; matrices are emulated, those of f16 too
[[nodiscard]] VulkanLimits vulkan_limits(std::string_view name);
/// What is left when both hold.
[[nodiscard]] VulkanLimits both(const VulkanLimits& a, const VulkanLimits& b);

/// Those that can run our code, the fastest kind first, opened when this is first called. When
/// there is none `why` says so. REPRISE_VULKAN_DEVICE=NAME leaves only those whose name holds NAME;
/// REPRISE_VULKAN_LIMITS=NAME holds all of them to vulkan_limits(NAME).
[[nodiscard]] std::span<Device* const> vulkan_devices(std::string* why);

/// A device of its own on the hardware of another, held to the other's limits and to these.
[[nodiscard]] std::unique_ptr<Device> open_again(const Device& vulkan_device,
                                                 const VulkanLimits& limits);
/// The same as one more of devices().
[[nodiscard]] Device& open_another(const Device& vulkan_device, const VulkanLimits& limits);

}  // namespace reprise
