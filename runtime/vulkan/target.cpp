// Features and limits by Vulkan's queries.
#include "runtime/vulkan/target.h"

#include <algorithm>
#include <string_view>

#include "runtime/vulkan/context.h"
#include "runtime/vulkan/matrices.h"

namespace reprise::vulkan {

namespace {

bool has_vulkan12(VkPhysicalDevice device, const VulkanLimits& limits) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(device, &properties);
  return properties.apiVersion >= VK_API_VERSION_1_2 && !limits.only_vulkan11;
}

/// `value`, held to a limit that is 0 where there is none.
int64_t at_most(int64_t limit, int64_t value) {
  return limit > 0 ? std::min(limit, value) : value;
}

}  // namespace

bool has_extension(VkPhysicalDevice device, const char* name) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& each) {
    return std::string_view(each.extensionName) == name;
  });
}

Features::Features(VkPhysicalDevice device, const VulkanLimits& limits) {
  v12_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  storage16_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
  subgroups_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT;
  matrices_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
  if (has_vulkan12(device, limits)) {
    storage16_.pNext = &v12_;
    if (!limits.no_matrices && has_extension(device, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) &&
        has_extension(device, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
      v12_.pNext = &subgroups_;
      subgroups_.pNext = &matrices_;
    }
  }
  all_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  all_.pNext = &storage16_;
  vkGetPhysicalDeviceFeatures2(device, &all_);
  if (limits.no_int64) all_.features.shaderInt64 = VK_FALSE;
  if (limits.no_float64) all_.features.shaderFloat64 = VK_FALSE;
  if (limits.no_small_elements) {
    v12_.storageBuffer8BitAccess = storage16_.storageBuffer16BitAccess = VK_FALSE;
  }
}

void Features::keep(const TargetInfo& target) {
  const ShaderInfo& shader = target.shader;
  const auto flag = [](bool on) { return on ? VK_TRUE : VK_FALSE; };
  const bool has_timeline = timeline();
  all_.features = {};
  all_.features.shaderInt64 = flag(shader.int64);
  all_.features.shaderFloat64 = flag(shader.float64);
  const auto restart = [](auto& features) {
    auto* const next = features.pNext;
    const VkStructureType type = features.sType;
    features = {};
    features.sType = type;
    features.pNext = next;
  };
  restart(storage16_);
  storage16_.storageBuffer16BitAccess = flag(shader.storage16);
  restart(v12_);
  v12_.storageBuffer8BitAccess = flag(shader.storage8);
  v12_.bufferDeviceAddress = flag(shader.uses_addresses());
  v12_.timelineSemaphore = flag(has_timeline);
  const MatrixInfo& matrices = shader.matrices;
  v12_.vulkanMemoryModel = flag(matrices.form != MatrixForm::None);
  v12_.vulkanMemoryModelDeviceScope = v12_.vulkanMemoryModel;  // once on, atomics must ask for it
  restart(subgroups_);
  restart(matrices_);
  if (matrices.form != MatrixForm::Khr) {
    v12_.pNext = nullptr;
    return;
  }
  extensions_ = {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME,
                 VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME};
  subgroups_.computeFullSubgroups = VK_TRUE;
  matrices_.cooperativeMatrix = VK_TRUE;
  for (const MatrixShape& shape : matrices.shapes) {
    (shape.factors == DType::F16 ? v12_.shaderFloat16 : v12_.shaderInt8) = VK_TRUE;
  }
}

namespace {

/// How often the loops of an invocation may go round, all together; 0: as often as they want.
/// Mesa's shader compiler for CPUs counts them and leaves the loop when this many are done.
int64_t loop_iterations(const VkPhysicalDeviceProperties& properties) {
  constexpr int64_t kMesa = 65535;
  const std::string_view name(properties.deviceName);
  return name.starts_with("llvmpipe") ? kMesa : 0;
}

}  // namespace

TargetInfo target_of(VkPhysicalDevice device, const VulkanLimits& limits) {
  const Features features(device, limits);
  auto v12 = structure<VkPhysicalDeviceVulkan12Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  auto sizes = structure<VkPhysicalDeviceMaintenance3Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
  if (has_vulkan12(device, limits)) sizes.pNext = &v12;
  auto subgroups = structure<VkPhysicalDeviceSubgroupProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, &sizes);
  auto all = structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                                    &subgroups);
  vkGetPhysicalDeviceProperties2(device, &all);
  const VkPhysicalDeviceLimits& has = all.properties.limits;
  TargetInfo target;
  target.kind = TargetKind::Vulkan;
  target.triple = "spirv";
  target.numerics.fma = false;  // Vulkan lets a device round a fused multiply-add twice
  ShaderInfo& shader = target.shader;
  shader.int64 = features.int64();
  shader.float64 = features.float64();
  shader.storage8 = features.storage8();
  shader.storage16 = features.storage16();
  shader.buffer_addresses = features.addresses();
  shader.round_even32 = v12.shaderRoundingModeRTEFloat32 != 0;
  shader.round_even64 = v12.shaderRoundingModeRTEFloat64 != 0;
  shader.keep_denormals32 = v12.shaderDenormPreserveFloat32 != 0;
  shader.keep_denormals64 = v12.shaderDenormPreserveFloat64 != 0;
  shader.keep_specials32 = v12.shaderSignedZeroInfNanPreserveFloat32 != 0;
  shader.keep_specials64 = v12.shaderSignedZeroInfNanPreserveFloat64 != 0;
  shader.shuffle = !limits.no_shuffle &&
                   (subgroups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                   (subgroups.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
  shader.loop_iterations = loop_iterations(all.properties);
  shader.shared_bytes = at_most(limits.shared_bytes, has.maxComputeSharedMemorySize);
  shader.max_groups =
      at_most(limits.max_groups,
              *std::min_element(has.maxComputeWorkGroupCount, has.maxComputeWorkGroupCount + 3));
  shader.bound_bytes =
      at_most(limits.bound_bytes, static_cast<int64_t>(std::min<uint64_t>(
                                      has.maxStorageBufferRange, sizes.maxMemoryAllocationSize)));
  if (limits.emulates_matrices) {
    if (features.memory_model()) shader.matrices = emulated_matrices();
  } else if (features.matrices()) {
    shader.matrices = matrices_of(device, features, static_cast<int>(subgroups.subgroupSize));
  }
  target.numerics.matrix_f16 = limits.allows_matrix_f16 && shader.matrices.form != MatrixForm::None;
  return target;
}

}  // namespace reprise::vulkan
