// The matrix instructions of a device, of those that code is generated for.
#pragma once

#include "runtime/vulkan/target.h"

namespace reprise::vulkan {

/// Of a device with Features::matrices(). Its subgroups have `subgroup` invocations.
[[nodiscard]] MatrixInfo matrices_of(VkPhysicalDevice device, const Features& features,
                                     int subgroup);
/// What tests run in their place: shapes that real devices have.
[[nodiscard]] MatrixInfo emulated_matrices();

}  // namespace reprise::vulkan
