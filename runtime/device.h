// What the runtime asks of a device: memory, code, launches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/backend.h"
#include "ir/kernel.h"
#include "ir/plan.h"
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

class LaunchTimes;

/// A plan's launches on one device. Several threads may run it at once.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  /// Runs the launches in order; returns when all are done. `addresses` are the slots',
  /// `parameters` the plan's. Throws IndexError when one found an index out of range, DeviceError
  /// when the device fails.
  virtual void run(std::span<void* const> addresses, std::span<const uint64_t> parameters,
                   LaunchTimes* times) = 0;
};

/// Neighbouring launches of a plan.
struct LaunchRange {
  size_t first = 0, count = 0;
};

/// Addresses that a device gives out are its own: only a CPU's can be read and written here.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  ///< "cpu", "vulkan:0"
  /// What it is: "NVIDIA H100, driver 535.54", "llvmpipe (LLVM 15.0.6, 256 bits)".
  [[nodiscard]] virtual std::string description() const = 0;
  /// Its place in devices(); the CPU's is 0.
  [[nodiscard]] virtual int index() const = 0;
  [[nodiscard]] virtual const TargetInfo& target() const = 0;
  [[nodiscard]] virtual const Backend& backend() = 0;
  [[nodiscard]] virtual Allocator& allocator() = 0;
  /// Throws DeviceError when the bytes are not code of this device.
  [[nodiscard]] virtual std::shared_ptr<Executable> load(const KernelCode& code) = 0;
  /// Runs all phases; returns when done. Several threads may launch at once.
  virtual void launch(const Executable& executable, std::span<void* const> buffers,
                      std::span<const uint64_t> params, LaunchStatus* status) = 0;
  /// Whether load() takes long, because the device translates the code: then several may run at
  /// once.
  [[nodiscard]] virtual bool translates_code() const { return false; }
  /// Some launches of `plan`, all of this device; `executables` by kernel number.
  [[nodiscard]] virtual std::unique_ptr<DeviceProgram> make_program(
      const Plan& plan, LaunchRange launches,
      std::span<const std::shared_ptr<Executable>> executables) = 0;
  /// Whether a program stops behind a launch that found an index out of range; else it runs to its
  /// end.
  [[nodiscard]] virtual bool stops_at_bad_index() const = 0;
  // Copies between host memory and addresses of this device; done when they return.
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  /// The memory of another device's storage, addressed by this one without a copy, as long as the
  /// mapping lives; null where that cannot be.
  [[nodiscard]] virtual std::unique_ptr<Mapping> map(const Storage& storage) = 0;
  /// Where the host reads what is at an address of this device as cheaply as its own memory; null
  /// where it does not.
  [[nodiscard]] virtual void* host_address(void* address) = 0;
};

/// What an index out of range becomes.
[[noreturn]] void throw_bad_index(const LaunchStatus& status);

/// Devices as bits, by their index.
class DeviceSet {
 public:
  static constexpr int kMaxDevices = 8;
  constexpr DeviceSet() = default;
  [[nodiscard]] static constexpr DeviceSet all() { return DeviceSet(0xff); }
  [[nodiscard]] static DeviceSet of(const Device& device) {
    return DeviceSet(static_cast<uint8_t>(1u << device.index()));
  }
  [[nodiscard]] bool contains(const Device& device) const {
    return (bits_ >> device.index() & 1) != 0;
  }
  [[nodiscard]] static constexpr DeviceSet of_bits(uint8_t bits) { return DeviceSet(bits); }
  [[nodiscard]] bool contains(DeviceSet other) const {
    return (bits_ & other.bits_) == other.bits_;
  }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  [[nodiscard]] uint8_t bits() const { return bits_; }
  [[nodiscard]] bool is_all() const { return bits_ == 0xff; }
  /// The first there is.
  [[nodiscard]] Device& first() const;
  /// "cpu", "cpu, vulkan:0", "any device".
  [[nodiscard]] std::string names() const;
  friend DeviceSet operator&(DeviceSet a, DeviceSet b) {
    return DeviceSet(static_cast<uint8_t>(a.bits_ & b.bits_));
  }
  friend DeviceSet operator|(DeviceSet a, DeviceSet b) {
    return DeviceSet(static_cast<uint8_t>(a.bits_ | b.bits_));
  }
  friend bool operator==(DeviceSet, DeviceSet) = default;

 private:
  constexpr explicit DeviceSet(uint8_t bits) : bits_(bits) {}
  uint8_t bits_ = 0;
};

/// The CPU, always there.
[[nodiscard]] Device& cpu_device();
/// All there are, the CPU first. Vulkan devices are looked for when this is first called.
[[nodiscard]] std::span<Device* const> devices();
/// Those that somebody has asked for already: the CPU alone where devices() was never called.
[[nodiscard]] std::span<Device* const> opened_devices();
/// Adds one, for tests: its index is the number of those there were. It must outlive the process.
void add_device(Device& device);
/// By name: "cpu", "vulkan:0"; "vulkan" is the first of them. Throws DeviceError saying what there
/// is, and why there is no Vulkan device where none was found.
[[nodiscard]] Device& device(std::string_view name);
/// Where data from the host goes and what depends on no data is computed: this thread's innermost
/// DeviceScope's, or else the process's, which is the CPU unless set.
[[nodiscard]] Device& default_device();
void set_default_device(Device& device);

/// Makes a device this thread's default while it lives.
class DeviceScope {
 public:
  explicit DeviceScope(Device& device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device* before_;
};

/// `bytes` of host memory as new storage of `device`.
[[nodiscard]] StoragePtr upload(Device& device, const void* data, size_t bytes);
/// The same bytes as new storage of another device, or `storage` itself where it is on `device`.
[[nodiscard]] StoragePtr copy_to(Device& device, const StoragePtr& storage);
/// The same memory as storage of another device, which neither overwrites while both live; null
/// where it takes a copy. Never of borrowed memory, which its owner may change.
[[nodiscard]] StoragePtr share_with(Device& device, const StoragePtr& storage);

/// Threads that share the CPU's launches, the caller included; 0 asks for one per core.
/// Results do not depend on it.
void set_num_threads(int threads);
[[nodiscard]] int num_threads();

}  // namespace reprise
