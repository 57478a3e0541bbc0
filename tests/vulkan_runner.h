// Runs SPIR-V kernels on a Vulkan device that computes on the CPU (lavapipe): for tests only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/backend.h"
#include "ir/target.h"

namespace reprise {

class VulkanRunner {
 public:
  /// Null where there is no Vulkan loader or no such device; `why` then says which. The device is
  /// one whose name holds REPRISE_VULKAN_DEVICE, or else one of the kind that is a CPU.
  static VulkanRunner* get(std::string* why);

  [[nodiscard]] const TargetInfo& target() const;
  /// Copies the buffers to the device, runs all phases and copies them back. A dispatch has at most
  /// `groups_per_axis` workgroups along an axis (0: the device's limit). Fails the test where
  /// memory beside a buffer is written.
  void run(const KernelCode& code, std::span<const std::span<std::byte>> buffers,
           std::span<const uint64_t> params, LaunchStatus* status, uint32_t groups_per_axis = 0);

  ~VulkanRunner();
  struct Device;

 private:
  explicit VulkanRunner(std::unique_ptr<Device> device);
  std::unique_ptr<Device> device_;
};

}  // namespace reprise
