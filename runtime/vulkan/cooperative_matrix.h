// VK_KHR_cooperative_matrix, which is younger than the headers of Vulkan may be.
#pragma once

#ifndef VK_NO_PROTOTYPES  // as volk has it
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_cooperative_matrix 1
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"

inline constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR =
    static_cast<VkStructureType>(1000506000);
inline constexpr auto VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR =
    static_cast<VkStructureType>(1000506001);
inline constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR =
    static_cast<VkStructureType>(1000506002);

// NVIDIA's extension has the same numbers.
using VkComponentTypeKHR = VkComponentTypeNV;
inline constexpr auto VK_COMPONENT_TYPE_FLOAT16_KHR = VK_COMPONENT_TYPE_FLOAT16_NV;
inline constexpr auto VK_COMPONENT_TYPE_FLOAT32_KHR = VK_COMPONENT_TYPE_FLOAT32_NV;
inline constexpr auto VK_COMPONENT_TYPE_SINT8_KHR = VK_COMPONENT_TYPE_SINT8_NV;
inline constexpr auto VK_COMPONENT_TYPE_SINT32_KHR = VK_COMPONENT_TYPE_SINT32_NV;
inline constexpr auto VK_COMPONENT_TYPE_UINT8_KHR = VK_COMPONENT_TYPE_UINT8_NV;
inline constexpr auto VK_COMPONENT_TYPE_UINT32_KHR = VK_COMPONENT_TYPE_UINT32_NV;
using VkScopeKHR = VkScopeNV;
inline constexpr auto VK_SCOPE_WORKGROUP_KHR = VK_SCOPE_WORKGROUP_NV;
inline constexpr auto VK_SCOPE_SUBGROUP_KHR = VK_SCOPE_SUBGROUP_NV;

struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void* pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
};

struct VkPhysicalDeviceCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void* pNext;
  VkShaderStageFlags cooperativeMatrixSupportedStages;
};

struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void* pNext;
  uint32_t MSize;
  uint32_t NSize;
  uint32_t KSize;
  VkComponentTypeKHR AType;
  VkComponentTypeKHR BType;
  VkComponentTypeKHR CType;
  VkComponentTypeKHR ResultType;
  VkBool32 saturatingAccumulation;
  VkScopeKHR scope;
};

using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR =
    VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, VkCooperativeMatrixPropertiesKHR*);
#endif
