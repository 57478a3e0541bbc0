// Opens a device; submits, waits, and says what went wrong.
#include "runtime/vulkan/context.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/error.h"
#include "runtime/vulkan/target.h"

namespace reprise::vulkan {
namespace {

/// Only of devices whose memory is the host's: for others every access would cross a bus.
size_t import_alignment_of(VkPhysicalDevice physical) {
  if (!has_extension(physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) return 0;
  auto host = structure<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
  auto all =
      structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &host);
  vkGetPhysicalDeviceProperties2(physical, &all);
  const VkPhysicalDeviceType type = all.properties.deviceType;
  const bool shares =
      type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  return shares ? static_cast<size_t>(host.minImportedHostPointerAlignment) : 0;
}

VKAPI_ATTR VkResult VKAPI_CALL refuse_pipelines(VkDevice, VkPipelineCache, uint32_t,
                                                const VkComputePipelineCreateInfo*,
                                                const VkAllocationCallbacks*, VkPipeline*) {
  return VK_ERROR_INVALID_SHADER_NV;
}

}  // namespace

Context::Context(const Hardware& hardware, std::string name, const VulkanLimits& limits)
    : hardware_(hardware),
      name_(std::move(name)),
      limits_(limits),
      target_(target_of(hardware.physical, limits)) {
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

Context::~Context() {
  close();
}

void Context::open() {
  Features features(hardware_.physical, limits_);
  features.keep(target_);
  const float priority = 1;
  auto queue = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = hardware_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features.all());
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  // What is imported has an address of its own: it is not in the buffer that is bound.
  const bool imports = !limits_.imports_nothing && target_.shader.uses_addresses();
  if (imports) import_alignment_ = import_alignment_of(hardware_.physical);
  std::vector<const char*> extensions = features.extensions();
  if (import_alignment_ > 0) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(hardware_.physical, &info, nullptr, &device_), "vkCreateDevice");
  volkLoadDeviceTable(&api_, device_);
  if (limits_.refuses_pipelines) api_.vkCreateComputePipelines = refuse_pipelines;
  api_.vkGetDeviceQueue(device_, hardware_.queue_family, 0, &queue_);

  make_layout();
  DiskCache& disk = limits_.disk != nullptr ? *limits_.disk : DiskCache::user();
  check(pipelines_.open(hardware_.physical, device_, api_, disk), "vkCreatePipelineCache");
  if (!features.timeline()) return;
  auto kind = structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  kind.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  const auto semaphore =
      structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &kind);
  check(api_.vkCreateSemaphore(device_, &semaphore, nullptr, &timeline_), "vkCreateSemaphore");
}

void Context::make_layout() {
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
  auto layout =
      structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  if (!target_.shader.uses_addresses()) {
    VkDescriptorSetLayoutBinding buffers[2]{};
    for (uint32_t i = 0; i < 2; ++i) {
      buffers[i].binding = i;
      buffers[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      buffers[i].descriptorCount = 1;
      buffers[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    auto set = structure<VkDescriptorSetLayoutCreateInfo>(
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = 2;
    set.pBindings = buffers;
    check(api_.vkCreateDescriptorSetLayout(device_, &set, nullptr, &bindings_),
          "vkCreateDescriptorSetLayout");
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &bindings_;
  }
  check(api_.vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "vkCreatePipelineLayout");
}

void Context::close() noexcept {
  if (device_ == VK_NULL_HANDLE) return;
  api_.vkDestroySemaphore(device_, timeline_, nullptr);
  pipelines_.close();
  api_.vkDestroyPipelineLayout(device_, layout_, nullptr);
  api_.vkDestroyDescriptorSetLayout(device_, bindings_, nullptr);
  api_.vkDestroyDevice(device_, nullptr);
}

void Context::check(VkResult result, const char* call) const {
  if (lost_.load(std::memory_order_relaxed)) result = VK_ERROR_DEVICE_LOST;
  switch (result) {
    case VK_SUCCESS:
      return;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      throw OutOfMemoryError(str(name_, ": out of memory in ", call));
    case VK_ERROR_DEVICE_LOST:
      lost_.store(true, std::memory_order_relaxed);
      throw DeviceError(str(name_, " (", hardware_.description,
                            ") is lost, and with it the values on "
                            "it; found in ",
                            call));
    default:
      throw DeviceError(str(name_, " (", hardware_.description, "): ", call,
                            " failed with VkResult ", static_cast<int>(result)));
  }
}

Context::Commands Context::make_commands() const {
  Commands commands;
  auto pool = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = hardware_.queue_family;
  check(api_.vkCreateCommandPool(device_, &pool, nullptr, &commands.pool), "vkCreateCommandPool");
  auto allocate =
      structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = commands.pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  const VkResult result = api_.vkAllocateCommandBuffers(device_, &allocate, &commands.buffer);
  if (result != VK_SUCCESS) destroy(commands);
  check(result, "vkAllocateCommandBuffers");
  return commands;
}

void Context::destroy(const Commands& commands) const noexcept {
  api_.vkDestroyCommandPool(device_, commands.pool, nullptr);
}

void Context::begin(const Commands& commands) const {
  const auto info =
      structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  check(api_.vkResetCommandPool(device_, commands.pool, 0), "vkResetCommandPool");
  check(api_.vkBeginCommandBuffer(commands.buffer, &info), "vkBeginCommandBuffer");
}

void Context::barrier(const Commands& commands) const {
  constexpr VkPipelineStageFlags kWork =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  auto memory = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  api_.vkCmdPipelineBarrier(commands.buffer, kWork, kWork, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void Context::end(const Commands& commands) const {
  // What comes next, on this queue or on the host, sees all of it.
  auto memory = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT |
                         VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  api_.vkCmdPipelineBarrier(commands.buffer,
                            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                            VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                            &memory, 0, nullptr, 0, nullptr);
  check(api_.vkEndCommandBuffer(commands.buffer), "vkEndCommandBuffer");
}

void Context::run(const Commands& commands) {
  if (timeline_ == VK_NULL_HANDLE) return run_with_fence(commands);
  uint64_t done = 0;
  {
    const std::lock_guard lock(mutex_);
    done = ++submitted_;
    auto times =
        structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    times.signalSemaphoreValueCount = 1;
    times.pSignalSemaphoreValues = &done;
    auto submit = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO, &times);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands.buffer;
    submit.signalSemaphoreCount = 1;
    submit.pSignalSemaphores = &timeline_;
    const bool lost = limits_.submissions > 0 && std::cmp_greater(done, limits_.submissions);
    const VkResult result =
        lost ? VK_ERROR_DEVICE_LOST : api_.vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE);
    if (result != VK_SUCCESS) --submitted_;
    check(result, "vkQueueSubmit");
  }
  auto wait = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  wait.semaphoreCount = 1;
  wait.pSemaphores = &timeline_;
  wait.pValues = &done;
  check(api_.vkWaitSemaphores(device_, &wait, UINT64_MAX), "vkWaitSemaphores");
}

void Context::run_with_fence(const Commands& commands) {
  const auto info = structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  VkFence fence = VK_NULL_HANDLE;
  check(api_.vkCreateFence(device_, &info, nullptr, &fence), "vkCreateFence");
  auto submit = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands.buffer;
  const char* call = "vkQueueSubmit";
  VkResult result = VK_SUCCESS;
  {
    const std::lock_guard lock(mutex_);
    result = api_.vkQueueSubmit(queue_, 1, &submit, fence);
  }
  if (result == VK_SUCCESS) {
    call = "vkWaitForFences";
    result = api_.vkWaitForFences(device_, 1, &fence, VK_TRUE, UINT64_MAX);
  }
  api_.vkDestroyFence(device_, fence, nullptr);
  check(result, call);
}

}  // namespace reprise::vulkan
