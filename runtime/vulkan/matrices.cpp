// Vulkan's list of shapes, without what nothing here asks for.
#include "runtime/vulkan/matrices.h"

#include <optional>

#include "codegen/backend.h"
#include "runtime/vulkan/context.h"

namespace reprise::vulkan {
namespace {

std::optional<DType> dtype_of(VkComponentTypeKHR type) {
  switch (type) {
    case VK_COMPONENT_TYPE_FLOAT16_KHR:
      return DType::F16;
    case VK_COMPONENT_TYPE_FLOAT32_KHR:
      return DType::F32;
    case VK_COMPONENT_TYPE_SINT8_KHR:
      return DType::I8;
    case VK_COMPONENT_TYPE_SINT32_KHR:
      return DType::I32;
    case VK_COMPONENT_TYPE_UINT8_KHR:
      return DType::U8;
    case VK_COMPONENT_TYPE_UINT32_KHR:
      return DType::U32;
    default:
      return std::nullopt;
  }
}

/// Factors of one type, sums of 32 bits that wrap or round and do not saturate, by a subgroup.
std::optional<MatrixShape> shape_of(const VkCooperativeMatrixPropertiesKHR& has) {
  const std::optional<DType> factors = dtype_of(has.AType), sums = dtype_of(has.CType);
  if (!factors || !sums || has.AType != has.BType || has.CType != has.ResultType ||
      has.saturatingAccumulation != 0 || has.scope != VK_SCOPE_SUBGROUP_KHR) {
    return std::nullopt;
  }
  const bool fits = *factors == DType::F16
                        ? *sums == DType::F32
                        : size_of(*factors) == 1 && (*sums == DType::I32 || *sums == DType::U32);
  if (!fits) return std::nullopt;
  return MatrixShape{*factors, *sums, static_cast<int>(has.MSize), static_cast<int>(has.NSize),
                     static_cast<int>(has.KSize)};
}

}  // namespace

MatrixInfo matrices_of(VkPhysicalDevice device, const Features& features, int subgroup) {
  auto stages = structure<VkPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
  auto all = structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                                    &stages);
  vkGetPhysicalDeviceProperties2(device, &all);
  const auto list =
      reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(vkGetInstanceProcAddr(
          volkGetLoadedInstance(), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  const bool computes =
      (stages.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  // Workgroups are made of whole subgroups.
  if (list == nullptr || !computes || subgroup == 0 || kGroupInvocations % subgroup != 0) return {};
  uint32_t count = 0;
  if (list(device, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<VkCooperativeMatrixPropertiesKHR> listed(
      count, structure<VkCooperativeMatrixPropertiesKHR>(
                 VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR));
  if (list(device, &count, listed.data()) != VK_SUCCESS) return {};
  MatrixInfo result{.form = MatrixForm::Khr, .subgroup = subgroup, .shapes = {}};
  for (const VkCooperativeMatrixPropertiesKHR& each : listed) {
    const std::optional<MatrixShape> shape = shape_of(each);
    if (!shape || !(shape->factors == DType::F16 ? features.values16() : features.values8())) {
      continue;
    }
    result.shapes.push_back(*shape);
  }
  return result.shapes.empty() ? MatrixInfo{} : result;
}

MatrixInfo emulated_matrices() {
  return {.form = MatrixForm::Emulated,
          .subgroup = 32,
          .shapes = {{DType::I8, DType::I32, 16, 16, 32},
                     {DType::U8, DType::U32, 16, 16, 32},
                     {DType::F16, DType::F32, 16, 16, 16}}};
}

}  // namespace reprise::vulkan
