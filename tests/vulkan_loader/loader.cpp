// Vulkan's loader in front of the real one: its devices claim VK_KHR_cooperative_matrix. They, and
// their pipelines, are not made unless all is asked for that goes with it. Their drivers never hear
// of it, and cannot run such instructions.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "runtime/vulkan/cooperative_matrix.h"

namespace {

PFN_vkGetInstanceProcAddr real() {
  static const auto found = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      dlsym(dlopen(REPRISE_REAL_VULKAN, RTLD_NOW | RTLD_LOCAL), "vkGetInstanceProcAddr"));
  return found;
}

VkInstance instance = VK_NULL_HANDLE;

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(real()(instance, name));
}

/// The structure of that kind in a chain; `before`: the one that links it.
template <class T>
T* find(void* chain, VkStructureType type, VkBaseOutStructure** before = nullptr) {
  auto* last = static_cast<VkBaseOutStructure*>(chain);
  for (auto* each = last->pNext; each != nullptr; last = each, each = each->pNext) {
    if (each->sType != type) continue;
    if (before != nullptr) *before = last;
    return reinterpret_cast<T*>(each);
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkInstance* made) {
  const VkResult result = real<PFN_vkCreateInstance>("vkCreateInstance")(info, allocator, made);
  if (result == VK_SUCCESS) instance = *made;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice device, const char* layer,
                                               uint32_t* count, VkExtensionProperties* listed) {
  const auto list =
      real<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
  uint32_t others = 0;
  list(device, layer, &others, nullptr);
  if (listed != nullptr) {
    list(device, layer, &others, listed);
    listed[others] = {VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, 2};
  }
  *count = others + 1;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device,
                                        VkPhysicalDeviceFeatures2* features) {
  real<PFN_vkGetPhysicalDeviceFeatures2>("vkGetPhysicalDeviceFeatures2")(device, features);
  auto* const matrices = find<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  if (matrices != nullptr) matrices->cooperativeMatrix = VK_TRUE;
}

VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                          VkPhysicalDeviceProperties2* properties) {
  real<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2")(device, properties);
  auto* const matrices = find<VkPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
  if (matrices != nullptr) {
    matrices->cooperativeMatrixSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  auto* const subgroups = find<VkPhysicalDeviceSubgroupProperties>(
      properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
  if (subgroups != nullptr) subgroups->subgroupSize = 32;
}

VKAPI_ATTR VkResult VKAPI_CALL list_matrices(VkPhysicalDevice, uint32_t* count,
                                             VkCooperativeMatrixPropertiesKHR* listed) {
  constexpr auto f16 = VK_COMPONENT_TYPE_FLOAT16_KHR, f32 = VK_COMPONENT_TYPE_FLOAT32_KHR;
  constexpr auto i8 = VK_COMPONENT_TYPE_SINT8_KHR, i32 = VK_COMPONENT_TYPE_SINT32_KHR;
  constexpr auto u8 = VK_COMPONENT_TYPE_UINT8_KHR, u32 = VK_COMPONENT_TYPE_UINT32_KHR;
  struct Shape {
    uint32_t m, n, k;
    VkComponentTypeKHR a, b, c, result;
    VkBool32 saturates;
    VkScopeKHR scope;
  };
  // The second to the sixth are none that code is generated for.
  const Shape all[] = {{16, 16, 16, f16, f16, f32, f32, 0, VK_SCOPE_SUBGROUP_KHR},
                       {16, 16, 16, f16, f16, f16, f16, 0, VK_SCOPE_SUBGROUP_KHR},
                       {16, 16, 32, i8, u8, i32, i32, 0, VK_SCOPE_SUBGROUP_KHR},
                       {16, 16, 32, i8, i8, i32, i32, 1, VK_SCOPE_SUBGROUP_KHR},
                       {64, 64, 32, i8, i8, i32, i32, 0, VK_SCOPE_WORKGROUP_KHR},
                       {16, 16, 32, u8, u8, u32, i32, 0, VK_SCOPE_SUBGROUP_KHR},
                       {16, 8, 32, i8, i8, i32, i32, 0, VK_SCOPE_SUBGROUP_KHR},
                       {16, 16, 32, u8, u8, u32, u32, 0, VK_SCOPE_SUBGROUP_KHR}};
  if (listed == nullptr) {
    *count = static_cast<uint32_t>(std::size(all));
    return VK_SUCCESS;
  }
  for (size_t i = 0; i < std::size(all); ++i) {
    if (listed[i].sType != VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR) {
      return VK_ERROR_UNKNOWN;
    }
    const Shape& each = all[i];
    listed[i] = {listed[i].sType, listed[i].pNext, each.m,      each.n,         each.k,    each.a,
                 each.b,          each.c,          each.result, each.saturates, each.scope};
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkDevice* made) {
  VkDeviceCreateInfo asked = *info;
  VkBaseOutStructure* before = nullptr;
  const auto* const matrices = find<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      &asked, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, &before);
  const auto* const subgroups = find<VkPhysicalDeviceSubgroupSizeControlFeaturesEXT>(
      &asked, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT);
  const auto* const v12 = find<VkPhysicalDeviceVulkan12Features>(
      &asked, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  std::vector<const char*> names(asked.ppEnabledExtensionNames,
                                 asked.ppEnabledExtensionNames + asked.enabledExtensionCount);
  const auto named = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name);
  };
  const auto own = named(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  if (matrices == nullptr || matrices->cooperativeMatrix == 0 || subgroups == nullptr ||
      subgroups->computeFullSubgroups == 0 || v12 == nullptr || v12->vulkanMemoryModel == 0 ||
      v12->vulkanMemoryModelDeviceScope == 0 || v12->shaderInt8 == 0 || v12->shaderFloat16 == 0 ||
      own == names.end() || named(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME) == names.end()) {
    return VK_ERROR_FEATURE_NOT_PRESENT;
  }
  names.erase(own);
  asked.enabledExtensionCount = static_cast<uint32_t>(names.size());
  asked.ppEnabledExtensionNames = names.data();
  VkBaseOutStructure* const next = before->pNext;
  before->pNext = next->pNext;
  const VkResult result =
      real<PFN_vkCreateDevice>("vkCreateDevice")(physical, &asked, allocator, made);
  before->pNext = next;
  return result;
}

PFN_vkCreateComputePipelines create_real_pipelines = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache,
                                                uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* allocator,
                                                VkPipeline* made) {
  for (uint32_t i = 0; i < count; ++i) {
    const VkPipelineShaderStageCreateFlags flags = infos[i].stage.flags;
    if ((flags & VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT) == 0) {
      return VK_ERROR_UNKNOWN;
    }
  }
  return create_real_pipelines(device, cache, count, infos, allocator, made);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  const auto found = real<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(device, name);
  if (std::strcmp(name, "vkCreateComputePipelines") != 0) return found;
  create_real_pipelines = reinterpret_cast<PFN_vkCreateComputePipelines>(found);
  return reinterpret_cast<PFN_vkVoidFunction>(create_pipelines);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance of, const char* name) {
  const struct {
    const char* name;
    PFN_vkVoidFunction function;
  } own[] = {
      {"vkGetInstanceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(vkGetInstanceProcAddr)},
      {"vkCreateInstance", reinterpret_cast<PFN_vkVoidFunction>(create_instance)},
      {"vkEnumerateDeviceExtensionProperties",
       reinterpret_cast<PFN_vkVoidFunction>(list_extensions)},
      {"vkGetPhysicalDeviceFeatures2", reinterpret_cast<PFN_vkVoidFunction>(get_features)},
      {"vkGetPhysicalDeviceProperties2", reinterpret_cast<PFN_vkVoidFunction>(get_properties)},
      {"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR",
       reinterpret_cast<PFN_vkVoidFunction>(list_matrices)},
      {"vkCreateDevice", reinterpret_cast<PFN_vkVoidFunction>(create_device)},
      {"vkGetDeviceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(get_device_function)},
  };
  for (const auto& each : own) {
    if (std::strcmp(name, each.name) == 0) return each.function;
  }
  return real()(of, name);
}
