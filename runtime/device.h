// What the runtime asks of a device: memory, code, launches.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "codegen/backend.h"
#include "ir/kernel.h"
#include "ir/target.h"
#include "runtime/storage.h"

namespace reprise {

/// Three questions: allocate, identify, device.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes` (0 gives a valid empty block), 64-byte aligned, page-aligned when large.
  /// Not zeroed. Throws OutOfMemoryError naming the bytes asked for and in use.
  [[nodiscard]] virtual StoragePtr allocate(size_t bytes) = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Device& device() = 0;
  /// Bytes handed out and not yet returned; bytes kept for reuse.
  [[nodiscard]] virtual size_t live_bytes() const = 0;
  [[nodiscard]] virtual size_t cached_bytes() const = 0;
  /// Gives cached blocks back to the system.
  virtual void trim() = 0;
};

/// A kernel's code, loaded.
class Executable {
 public:
  virtual ~Executable() = default;
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  ///< "cpu", "vulkan:0"
  [[nodiscard]] virtual const TargetInfo& target() const = 0;
  [[nodiscard]] virtual const Backend& backend() = 0;
  [[nodiscard]] virtual Allocator& allocator() = 0;
  /// Throws DeviceError when the bytes are not code of this device.
  [[nodiscard]] virtual std::shared_ptr<Executable> load(const KernelCode& code) = 0;
  /// Runs all phases; returns when done. Several threads may launch at once.
  virtual void launch(const Executable& executable, std::span<void* const> buffers,
                      std::span<const uint64_t> params, LaunchStatus* status) = 0;
};

/// The CPU, always there.
[[nodiscard]] Device& cpu_device();
/// Threads that share the CPU's launches, the caller included; 0 asks for one per core.
/// Results do not depend on it.
void set_num_threads(int threads);
[[nodiscard]] int num_threads();

}  // namespace reprise
