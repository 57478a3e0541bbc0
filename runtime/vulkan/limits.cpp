// Sets of limits by name, and what two of them leave.
#include <algorithm>

#include "ir/error.h"
#include "runtime/vulkan_devices.h"

namespace reprise {

VulkanLimits vulkan_limits(std::string_view name) {
  if (name == "words") return {.no_small_elements = true, .no_shuffle = true};
  if (name == "matrix") return {.emulates_matrices = true, .allows_matrix_f16 = true};
  if (name != "least" && name != "bound") {
    throw DeviceError(str("no limits of Vulkan devices are called '", name,
                          "': there are least, bound, words and matrix"));
  }
  const bool least = name == "least";
  return {.max_groups = 65535,
          .shared_bytes = 16384,
          .bound_bytes = int64_t{1} << 27,
          .only_vulkan11 = true,
          .no_int64 = least,
          .no_float64 = least,
          .no_small_elements = true,
          .no_shuffle = least};
}

VulkanLimits both(const VulkanLimits& a, const VulkanLimits& b) {
  const auto lower = [](auto x, auto y) { return x == 0 || (y != 0 && y < x) ? y : x; };
  return {.max_groups = lower(a.max_groups, b.max_groups),
          .max_memory = lower(a.max_memory, b.max_memory),
          .hides_memory = a.hides_memory || b.hides_memory,
          .imports_nothing = a.imports_nothing || b.imports_nothing,
          .submissions = lower(a.submissions, b.submissions),
          .refuses_pipelines = a.refuses_pipelines || b.refuses_pipelines,
          .shared_bytes = lower(a.shared_bytes, b.shared_bytes),
          .bound_bytes = lower(a.bound_bytes, b.bound_bytes),
          .only_vulkan11 = a.only_vulkan11 || b.only_vulkan11,
          .no_int64 = a.no_int64 || b.no_int64,
          .no_float64 = a.no_float64 || b.no_float64,
          .no_small_elements = a.no_small_elements || b.no_small_elements,
          .no_shuffle = a.no_shuffle || b.no_shuffle,
          .no_matrices = a.no_matrices || b.no_matrices,
          .emulates_matrices = a.emulates_matrices || b.emulates_matrices,
          .allows_matrix_f16 = a.allows_matrix_f16 || b.allows_matrix_f16,
          .disk = a.disk != nullptr ? a.disk : b.disk};
}

}  // namespace reprise
