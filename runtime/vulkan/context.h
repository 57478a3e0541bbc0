// One opened Vulkan device: its functions, its queue, and what its errors mean.
#pragma once

#include <volk.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "ir/target.h"
#include "runtime/vulkan/pipelines.h"
#include "runtime/vulkan_devices.h"

namespace reprise::vulkan {

template <class T>
[[nodiscard]] T structure(VkStructureType type, void* next = nullptr) {
  T result{};
  result.sType = type;
  result.pNext = next;
  return result;
}

/// Hardware that can run our code.
struct Hardware {
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  std::string description;
};

class Context {
 public:
  Context(const Hardware& hardware, std::string name, const VulkanLimits& limits);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const Hardware& hardware() const { return hardware_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const VulkanLimits& limits() const { return limits_; }
  [[nodiscard]] const TargetInfo& target() const { return target_; }
  [[nodiscard]] VkDevice device() const { return device_; }
  [[nodiscard]] const VolkDeviceTable& api() const { return api_; }
  /// Of every kernel: push constants and, without addresses of buffers, the two that are bound.
  [[nodiscard]] VkPipelineLayout layout() const { return layout_; }
  [[nodiscard]] VkDescriptorSetLayout bindings() const { return bindings_; }
  /// Without addresses: the buffer that all memory for shaders is in, once there is one.
  [[nodiscard]] VkBuffer memory() const { return memory_.load(); }
  void set_memory(VkBuffer buffer) const { memory_.store(buffer); }
  /// Without addresses: where a region seems to be; offsets into it are the low 32 bits.
  [[nodiscard]] uint64_t next_address() const { return ++regions_ << 32; }
  [[nodiscard]] const Pipelines& pipelines() const { return pipelines_; }
  /// What the host's memory must be aligned to for this device to import it; 0: it does not.
  [[nodiscard]] size_t import_alignment() const { return import_alignment_; }

  /// Throws DeviceError naming the device and the call unless it succeeded; OutOfMemoryError where
  /// memory was missing. A device that is lost stays so.
  void check(VkResult result, const char* call) const;
  /// A command buffer with a pool of its own.
  struct Commands {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer buffer = VK_NULL_HANDLE;
  };
  [[nodiscard]] Commands make_commands() const;
  void destroy(const Commands& commands) const noexcept;
  /// Begins and ends a recording; between them barriers order what the shaders and copies do.
  void begin(const Commands& commands) const;
  void end(const Commands& commands) const;
  void barrier(const Commands& commands) const;
  /// Runs what was recorded and returns when it is done. Several threads may.
  void run(const Commands& commands);

 private:
  void open();
  void close() noexcept;
  void make_layout();
  void run_with_fence(const Commands& commands);

  const Hardware hardware_;
  const std::string name_;
  const VulkanLimits limits_;
  const TargetInfo target_;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable api_{};
  VkDescriptorSetLayout bindings_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  Pipelines pipelines_;
  size_t import_alignment_ = 0;
  VkSemaphore timeline_ = VK_NULL_HANDLE;  ///< counts submissions that are done; null: fences do
  mutable std::atomic<VkBuffer> memory_{VK_NULL_HANDLE};
  mutable std::atomic<uint64_t> regions_{0};
  std::mutex mutex_;  ///< of what follows
  VkQueue queue_ = VK_NULL_HANDLE;
  uint64_t submitted_ = 0;
  mutable std::atomic<bool> lost_{false};
};

}  // namespace reprise::vulkan
