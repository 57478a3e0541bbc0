// Compares kernels on a Vulkan device with the kernel interpreter, bit for bit.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "ir/target.h"

namespace reprise {

struct ShaderRun {
  uint64_t seed = 1;
  int64_t index_bound = 0;  ///< as in KernelValues
  bool plain = false;
  std::vector<uint64_t> params = {};  ///< those missing are drawn
  uint32_t groups_per_axis = 0;       ///< of a dispatch, at most; 0: the device's limit
  bool validate_only = false;
  /// Where not null: the code multiplies by these and, where they are emulated, runs on a device
  /// that does so, f16 included.
  const MatrixInfo* matrices = nullptr;
};

/// Emits `kernel` for the device there is, else for a plain target, validates the module and, where
/// there is a device, compares every byte of every buffer (NaNs are equal) and the status.
/// `kernel` may be illegal: it goes through the kernel passes.
void expect_shader_like_interpreted(const Kernel& kernel, const ShaderRun& run = {});
void expect_shader_like_interpreted(std::string_view text, const ShaderRun& run = {});

}  // namespace reprise
