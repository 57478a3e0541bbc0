// Compares compiled kernels with the kernel interpreter, bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "ir/schedule.h"
#include "ir/target.h"

namespace reprise {

/// The levels that this machine can run.
std::vector<TargetInfo> runnable_targets();
/// Two levels no machine is needed for: their code is generated and verified only.
TargetInfo avx512_target();

struct KernelRun {
  /// Chosen by choose_schedule when not given.
  std::optional<Schedule> schedule = std::nullopt;
  uint64_t seed = 1;
  /// Values of integer inputs that are used as indices: in [-bound, bound); 0: any bits.
  int64_t index_bound = 0;
  /// Floats near 1 only: for sums whose value is looked at.
  bool plain = false;
  std::vector<uint64_t> params = {};
};

/// Runs `kernel` compiled for `target` and interpreted, on the same random inputs, with the tasks
/// cut in several ways; fails the test where any byte of any buffer differs (NaNs are equal), where
/// anything outside a buffer is read or written, and where the status differs in kind.
void expect_compiled_like_interpreted(const Kernel& kernel, const TargetInfo& target,
                                      const KernelRun& run = {});
/// On every runnable target; AVX-512 code is generated and verified on top.
void expect_compiled_like_interpreted(std::string_view text, const KernelRun& run = {});

}  // namespace reprise
