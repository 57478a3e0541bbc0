// Which devices there are, and which one is meant.
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "ir/error.h"
#include "runtime/device.h"
#include "runtime/vulkan_devices.h"

namespace reprise {
namespace {

struct Devices {
  std::array<Device*, DeviceSet::kMaxDevices> all{&cpu_device()};
  std::atomic<size_t> count{1};
  std::string why_no_vulkan;

  Devices() {
    for (Device* const each : vulkan_devices(&why_no_vulkan)) add(*each);
  }
  void add(Device& device) {
    if (count == all.size() || std::cmp_not_equal(device.index(), count.load())) {
      throw DeviceError(str("the device ", device.name(), " cannot be number ", count.load()));
    }
    all[count] = &device;
    ++count;
  }
  [[nodiscard]] std::span<Device* const> span() const { return {all.data(), count}; }
};

std::atomic<const Devices*> opened{nullptr};

Devices& found_devices() {
  static Devices& found = *new Devices;  // never destroyed: devices live as long
  opened.store(&found, std::memory_order_release);
  return found;
}

std::atomic<Device*> process_default{nullptr};
thread_local Device* scope_default = nullptr;

}  // namespace

std::span<Device* const> devices() {
  return found_devices().span();
}

std::span<Device* const> opened_devices() {
  static Device* const cpu = &cpu_device();
  const Devices* const found = opened.load(std::memory_order_acquire);
  return found != nullptr ? found->span() : std::span(&cpu, 1);
}

void add_device(Device& device) {
  found_devices().add(device);
}

Device& device(std::string_view name) {
  if (name == "cpu") return cpu_device();
  const Devices& found = found_devices();
  std::string known;
  for (Device* each : found.span()) {
    if (each->name() == name || (name == "vulkan" && each->name() == "vulkan:0")) return *each;
    known += str(known.empty() ? "" : ", ", each->name());
  }
  throw DeviceError(str("there is no device '", name, "', there are: ", known,
                        found.why_no_vulkan.empty() ? "" : "; no Vulkan device, because ",
                        found.why_no_vulkan));
}

Device& default_device() {
  if (scope_default != nullptr) return *scope_default;
  Device* const chosen = process_default.load(std::memory_order_acquire);
  return chosen != nullptr ? *chosen : cpu_device();
}

void set_default_device(Device& device) {
  process_default.store(&device, std::memory_order_release);
}

DeviceScope::DeviceScope(Device& device) : before_(scope_default) {
  scope_default = &device;
}

DeviceScope::~DeviceScope() {
  scope_default = before_;
}

Device& DeviceSet::first() const {
  const auto index = static_cast<size_t>(std::countr_zero(bits_));
  return index == 0 ? cpu_device() : *devices()[index];
}

std::string DeviceSet::names() const {
  if (is_all()) return "any device";
  std::string names;
  for (const Device* each : devices()) {
    if (contains(*each)) names += str(names.empty() ? "" : ", ", each->name());
  }
  return names;
}

void throw_bad_index(const LaunchStatus& status) {
  throw IndexError(
      str("index ", status.index, " is out of range for an axis of extent ", status.extent));
}

StoragePtr upload(Device& device, const void* data, size_t bytes) {
  StoragePtr storage = device.allocator().allocate(bytes);
  device.upload(storage->data(), data, bytes);
  return storage;
}

StoragePtr copy_to(Device& device, const StoragePtr& storage) {
  Device& from = *storage->device();
  if (&from == &device) return storage;
  if (&from == &cpu_device()) return upload(device, storage->data(), storage->bytes());
  StoragePtr host = cpu_device().allocator().allocate(storage->bytes());
  from.download(host->data(), storage->data(), storage->bytes());
  return copy_to(device, host);
}

namespace {

/// Another device's block. Borrowed: nothing is written over it here, and while this holds it
/// nothing is there.
class SharedStorage final : public Storage {
 public:
  SharedStorage(void* address, Device& device, StoragePtr origin)
      : Storage(address, origin->bytes(), &device, true, {}), origin_(std::move(origin)) {}
  [[nodiscard]] const StoragePtr& origin() const { return origin_; }

 private:
  const StoragePtr origin_;
};

}  // namespace

StoragePtr share_with(Device& device, const StoragePtr& storage) {
  if (storage->device() == &device) return storage;
  if (const auto* shared = dynamic_cast<const SharedStorage*>(storage.get())) {
    return share_with(device, shared->origin());
  }
  if (storage->borrowed()) return nullptr;
  void* const address = storage->address_on(device);
  return address != nullptr ? StoragePtr(new SharedStorage(address, device, storage)) : nullptr;
}

}  // namespace reprise
