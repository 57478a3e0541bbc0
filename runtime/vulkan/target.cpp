// Features and limits by Vulkan's queries.
#include "runtime/vulkan/target.h"

#include <algorithm>

#include "runtime/vulkan/context.h"

namespace reprise::vulkan {

Features::Features() {
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  all.pNext = &v11;
}

TargetInfo target_of(VkPhysicalDevice device, const VulkanLimits& limits) {
  Features features;
  vkGetPhysicalDeviceFeatures2(device, &features.all);
  auto v12 = structure<VkPhysicalDeviceVulkan12Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  auto all =
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
  shader.max_groups = *std::min_element(all.properties.limits.maxComputeWorkGroupCount,
                                        all.properties.limits.maxComputeWorkGroupCount + 3);
  if (limits.max_groups > 0) shader.max_groups = std::min(shader.max_groups, limits.max_groups);
  return target;
}

}  // namespace reprise::vulkan
