// The interface of a code generator: a legal kernel in, code bytes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "ir/schedule.h"
#include "ir/target.h"

namespace reprise {

/// One phase of a kernel as code: how much work there is to hand out.
struct PhaseCode {
  int64_t tasks = 1;          ///< CPU: its entry takes any range [begin, end) of these; Vulkan:
                              ///< workgroups
  int64_t scratch_bytes = 0;  ///< 64-byte aligned memory each concurrent caller must bring; Vulkan:
                              ///< a launch
  double cost_ns = 0;         ///< estimate for all tasks on one core; decides whether to share
};

/// Code of one kernel for one target; what the disk cache keeps.
struct KernelCode {
  std::vector<std::byte> bytes;
  std::vector<PhaseCode> phases;
};

/// Receives intermediate text while generating: name ("llvm", "asm", "spirv"), text.
using DumpText = std::function<void(std::string_view, std::string_view)>;

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Part of every kernel key: changes whenever the same kernel may give other code.
  [[nodiscard]] virtual std::string_view version() const = 0;
  /// `kernel` is legal: expanded math, no arithmetic on half types. `schedule` came from
  /// choose_schedule or a file. Thread-safe. Throws UnsupportedError for what it cannot express.
  [[nodiscard]] virtual KernelCode generate(const Kernel& kernel, const Schedule& schedule,
                                            const TargetInfo& target,
                                            const DumpText& dump = {}) const = 0;
};

// ABI of CPU code. The bytes are a relocatable ELF object without external symbols; phase i is
//   extern "C" void phase<i>(const CpuLaunch*, int64_t begin, int64_t end, void* scratch);
struct CpuLaunch {
  void* const* buffers;    ///< the kernel's order, locals not among them; outputs 64-byte aligned
  const uint64_t* params;  ///< raw 8-byte words
  LaunchStatus* status;    ///< CheckIndex writes here (any failing index may win)
};
using CpuPhase = void (*)(const CpuLaunch*, int64_t begin, int64_t end, void* scratch);

// ABI of Vulkan code. The bytes are one SPIR-V module; phase i is its entry point "phase<i>" for
// workgroups of kGroupInvocations, to be dispatched with at least PhaseCode::tasks workgroups,
// folded into three axes in any way (those too many do nothing), phases one after another with a
// barrier between. The push constants are one 64-bit address, of 8-byte words in device memory:
//   the address of every buffer, in the kernel's order, locals not among them
//   every scalar parameter, raw
//   the address of a zeroed LaunchStatus: a failing index writes all of it, or nothing
//   the address of PhaseCode::scratch_bytes bytes, 64-byte aligned
// An address that the phase does not use may be anything.
//
// Where !ShaderInfo::uses_addresses() two storage buffers are bound instead, in set 0: the device's
// memory (0) and the memory of words (1). What was an address is a byte offset then, in the low
// half of its word: that of a buffer and of the scratch into the first, that of the status into the
// second. The push constant is 32 bits: the launch's first word, counted in words of 4 bytes.
//
// Where ShaderInfo::matrices has the form Khr, pipelines ask for full subgroups, and these have
// MatrixInfo::subgroup invocations.
inline constexpr int kGroupInvocations = 64;

}  // namespace reprise
