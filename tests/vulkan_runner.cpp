// One queue, one block of host-visible memory a run, everything waited for.
#define VOLK_IMPLEMENTATION
#include "tests/vulkan_runner.h"

#include <gtest/gtest.h>
#include <volk.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ir/error.h"

namespace reprise {
namespace {

void expect(VkResult result, const char* call) {
  if (result != VK_SUCCESS) {
    throw DeviceError(str(call, " failed with VkResult ", static_cast<int>(result)));
  }
}

template <class T>
T structure(VkStructureType type, void* next = nullptr) {
  T result{};
  result.sType = type;
  result.pNext = next;
  return result;
}

struct Features {
  VkPhysicalDeviceVulkan12Features v12 = structure<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceVulkan11Features v11 = structure<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &v12);
  VkPhysicalDeviceFeatures2 all =
      structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v11);
};

TargetInfo target_of(VkPhysicalDevice device) {
  Features features;
  vkGetPhysicalDeviceFeatures2(device, &features.all);
  VkPhysicalDeviceVulkan12Properties v12 = structure<VkPhysicalDeviceVulkan12Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  VkPhysicalDeviceProperties2 all =
      structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &v12);
  vkGetPhysicalDeviceProperties2(device, &all);
  TargetInfo target;
  target.kind = TargetKind::Vulkan;
  target.triple = "spirv";
  target.numerics.fma = false;  // Vulkan lets a device round a fused multiply-add twice
  ShaderInfo& shader = target.shader;
  shader.int64 = features.all.features.shaderInt64 != 0;
  shader.float64 = features.all.features.shaderFloat64 != 0;
  shader.storage8 = features.v12.storageBuffer8BitAccess != 0;
  shader.storage16 = features.v11.storageBuffer16BitAccess != 0;
  shader.buffer_addresses = features.v12.bufferDeviceAddress != 0;
  shader.round_even32 = v12.shaderRoundingModeRTEFloat32 != 0;
  shader.round_even64 = v12.shaderRoundingModeRTEFloat64 != 0;
  shader.keep_denormals32 = v12.shaderDenormPreserveFloat32 != 0;
  shader.keep_denormals64 = v12.shaderDenormPreserveFloat64 != 0;
  shader.keep_specials32 = v12.shaderSignedZeroInfNanPreserveFloat32 != 0;
  shader.keep_specials64 = v12.shaderSignedZeroInfNanPreserveFloat64 != 0;
  shader.shared_bytes = all.properties.limits.maxComputeSharedMemorySize;
  shader.max_groups = all.properties.limits.maxComputeWorkGroupCount[0];
  for (const uint32_t count : all.properties.limits.maxComputeWorkGroupCount) {
    shader.max_groups = std::min<int64_t>(shader.max_groups, count);
  }
  return target;
}

/// Distance between buffers: what lies between is watched.
constexpr size_t kGap = 256;
constexpr std::byte kWatched{0x5a};

}  // namespace

struct VulkanRunner::Device {
  TargetInfo target;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;

  void create(VkPhysicalDevice chosen, uint32_t family) {
    physical = chosen;
    target = target_of(chosen);
    Features features;
    vkGetPhysicalDeviceFeatures2(chosen, &features.all);
    features.all.features.robustBufferAccess = VK_FALSE;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queues{
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, family, 1, &priority};
    VkDeviceCreateInfo info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &features.all;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    expect(vkCreateDevice(chosen, &info, nullptr, &device), "vkCreateDevice");
    volkLoadDevice(device);
    vkGetDeviceQueue(device, family, 0, &queue);
    const VkCommandPoolCreateInfo pools{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                        VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, family};
    expect(vkCreateCommandPool(device, &pools, nullptr, &pool), "vkCreateCommandPool");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layouts =
        structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layouts.pushConstantRangeCount = 1;
    layouts.pPushConstantRanges = &range;
    expect(vkCreatePipelineLayout(device, &layouts, nullptr, &layout), "vkCreatePipelineLayout");
  }
};

namespace {

/// Mapped memory whose address shaders know.
class Block {
 public:
  Block(VulkanRunner::Device& device, size_t bytes) : device_(device.device) {
    VkBufferCreateInfo info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    expect(vkCreateBuffer(device_, &info, nullptr, &buffer_), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device_, buffer_, &needs);
    VkPhysicalDeviceMemoryProperties kinds;
    vkGetPhysicalDeviceMemoryProperties(device.physical, &kinds);
    constexpr uint32_t kWanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, nullptr,
                                          VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, needs.size, 0};
    while ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) == 0 ||
           (kinds.memoryTypes[allocate.memoryTypeIndex].propertyFlags & kWanted) != kWanted) {
      if (++allocate.memoryTypeIndex == kinds.memoryTypeCount) {
        throw DeviceError("no host-visible memory");
      }
    }
    expect(vkAllocateMemory(device_, &allocate, nullptr, &memory_), "vkAllocateMemory");
    expect(vkBindBufferMemory(device_, buffer_, memory_, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    expect(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    data_ = static_cast<std::byte*>(mapped);
    const VkBufferDeviceAddressInfo ask{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr,
                                        buffer_};
    address_ = vkGetBufferDeviceAddress(device_, &ask);
  }
  Block(const Block&) = delete;
  ~Block() {
    vkDestroyBuffer(device_, buffer_, nullptr);
    vkFreeMemory(device_, memory_, nullptr);
  }
  [[nodiscard]] std::byte* at(size_t offset) const { return data_ + offset; }
  [[nodiscard]] uint64_t address(size_t offset) const { return address_ + offset; }

 private:
  VkDevice device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* data_ = nullptr;
  uint64_t address_ = 0;
};

std::unique_ptr<VulkanRunner::Device> find_device(std::string* why) {
  if (volkInitialize() != VK_SUCCESS) {
    *why = "there is no Vulkan loader";
    return nullptr;
  }
  VkApplicationInfo application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info =
      structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  if (vkCreateInstance(&info, nullptr, &instance) != VK_SUCCESS) {
    *why = "there is no Vulkan driver";
    return nullptr;
  }
  volkLoadInstance(instance);
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> found(count);
  vkEnumeratePhysicalDevices(instance, &count, found.data());
  const char* wanted = std::getenv("REPRISE_VULKAN_DEVICE");
  for (VkPhysicalDevice physical : found) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    const bool fits = wanted != nullptr ? std::string_view(properties.deviceName).find(wanted) !=
                                              std::string::npos
                                        : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (!fits || properties.apiVersion < VK_API_VERSION_1_2 ||
        !target_of(physical).shader.buffer_addresses) {
      continue;
    }
    uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, nullptr);
    std::vector<VkQueueFamilyProperties> queues(families);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, queues.data());
    for (uint32_t family = 0; family < families; ++family) {
      if ((queues[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
      auto device = std::make_unique<VulkanRunner::Device>();
      device->create(physical, family);
      return device;
    }
  }
  *why = str("none of ", count, " Vulkan devices is ",
             wanted != nullptr ? str("called ", wanted) : "a CPU", " and has buffer addresses");
  return nullptr;
}

}  // namespace

VulkanRunner::VulkanRunner(std::unique_ptr<Device> device) : device_(std::move(device)) {}
VulkanRunner::~VulkanRunner() = default;

VulkanRunner* VulkanRunner::get(std::string* why) {
  // Never destroyed: the driver's threads live until the process ends.
  static std::string reason;
  static VulkanRunner* const runner = [] {
    std::unique_ptr<Device> device = find_device(&reason);
    return device == nullptr ? nullptr : new VulkanRunner(std::move(device));
  }();
  *why = reason;
  return runner;
}

const TargetInfo& VulkanRunner::target() const {
  return device_->target;
}

void VulkanRunner::run(const KernelCode& code, std::span<const std::span<std::byte>> buffers,
                       std::span<const uint64_t> params, LaunchStatus* status,
                       uint32_t groups_per_axis) {
  Device& d = *device_;
  // Arguments, status, buffers, scratch, with gaps between.
  size_t end = 0;
  const auto reserve = [&](size_t bytes) {
    const size_t at = end;
    end += (bytes + kGap - 1) / kGap * kGap + kGap;
    return at;
  };
  const size_t arguments_at = reserve(8 * (buffers.size() + params.size() + 2));
  const size_t status_at = reserve(sizeof(LaunchStatus));
  std::vector<size_t> offsets;
  for (const auto& buffer : buffers) offsets.push_back(reserve(buffer.size()));
  int64_t scratch_bytes = 0;
  for (const PhaseCode& phase : code.phases) {
    scratch_bytes = std::max(scratch_bytes, phase.scratch_bytes);
  }
  const size_t scratch_at = reserve(static_cast<size_t>(scratch_bytes));
  const Block block(d, end);
  std::memset(block.at(0), static_cast<int>(kWatched), end);
  std::vector<uint64_t> words;
  for (const size_t offset : offsets) words.push_back(block.address(offset));
  words.insert(words.end(), params.begin(), params.end());
  words.push_back(block.address(status_at));
  words.push_back(block.address(scratch_at));
  std::memcpy(block.at(arguments_at), words.data(), 8 * words.size());
  std::memset(block.at(status_at), 0, sizeof(LaunchStatus));
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].empty())
      std::memcpy(block.at(offsets[b]), buffers[b].data(), buffers[b].size());
  }

  const VkShaderModuleCreateInfo source{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                        code.bytes.size(),
                                        reinterpret_cast<const uint32_t*>(code.bytes.data())};
  VkShaderModule module = VK_NULL_HANDLE;
  expect(vkCreateShaderModule(d.device, &source, nullptr, &module), "vkCreateShaderModule");
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             nullptr, d.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  expect(vkAllocateCommandBuffers(d.device, &allocate, &commands), "vkAllocateCommandBuffers");
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                       VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
  expect(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  const uint64_t address = block.address(arguments_at);
  vkCmdPushConstants(commands, d.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &address);
  std::vector<VkPipeline> pipelines;
  for (size_t i = 0; i < code.phases.size(); ++i) {
    const uint64_t tasks = static_cast<uint64_t>(code.phases[i].tasks);
    if (tasks == 0) continue;
    const std::string entry = str("phase", i);
    VkComputePipelineCreateInfo info =
        structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = entry.c_str();
    info.layout = d.layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    expect(vkCreateComputePipelines(d.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
           "vkCreateComputePipelines");
    pipelines.push_back(pipeline);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    const uint64_t most =
        groups_per_axis != 0 ? groups_per_axis : static_cast<uint64_t>(d.target.shader.max_groups);
    const uint64_t x = std::min(tasks, most);
    const uint64_t y = std::min((tasks + x - 1) / x, most);
    const uint64_t z = (tasks + x * y - 1) / (x * y);
    vkCmdDispatch(commands, static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                  static_cast<uint32_t>(z));
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                  VK_ACCESS_SHADER_WRITE_BIT,
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0,
                         nullptr);
  }
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                       0, 1, &barrier, 0, nullptr, 0, nullptr);
  expect(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  expect(vkQueueSubmit(d.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  expect(vkQueueWaitIdle(d.queue), "vkQueueWaitIdle");

  for (VkPipeline pipeline : pipelines) vkDestroyPipeline(d.device, pipeline, nullptr);
  vkFreeCommandBuffers(d.device, d.pool, 1, &commands);
  vkDestroyShaderModule(d.device, module, nullptr);
  for (size_t b = 0; b < buffers.size(); ++b) {
    const size_t next = b + 1 < buffers.size() ? offsets[b + 1] : scratch_at;
    const bool clean = std::all_of(block.at(offsets[b] + buffers[b].size()), block.at(next),
                                   [](std::byte value) { return value == kWatched; });
    EXPECT_TRUE(clean) << "memory behind b" << b << " is written";
    if (!buffers[b].empty())
      std::memcpy(buffers[b].data(), block.at(offsets[b]), buffers[b].size());
  }
  std::memcpy(status, block.at(status_at), sizeof(LaunchStatus));
}

}  // namespace reprise
