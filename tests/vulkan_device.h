// The Vulkan device of tests, and kernels run on it alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "codegen/backend.h"
#include "runtime/device.h"

namespace reprise {

/// Mesa's device that is a CPU, or the first whose name holds REPRISE_VULKAN_DEVICE. Null when
/// there is none; `why` says so.
[[nodiscard]] Device* test_vulkan_device(std::string* why);

/// The same hardware with at most `groups_per_axis` workgroups along an axis of a dispatch.
[[nodiscard]] Device& narrow_vulkan_device(Device& device, int64_t groups_per_axis);

/// The same hardware, emulating matrix instructions. Null where it cannot.
[[nodiscard]] Device* matrix_vulkan_device(Device& device);

/// Whether an UnsupportedError names a type that the target really lacks.
[[nodiscard]] bool names_missing_type(const TargetInfo& target, std::string_view error);

/// Copies the buffers to the device, runs the kernel and copies them back. Fails the test where
/// memory beside a buffer is written.
void run_watched(Device& device, const KernelCode& code,
                 std::span<const std::span<std::byte>> buffers, std::span<const uint64_t> params,
                 LaunchStatus* status);

}  // namespace reprise
