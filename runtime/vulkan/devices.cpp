// Finds Vulkan's loader, its devices and those that can run our code; opens them.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/pipeline.h"
#include "ir/error.h"
#include "ir/log.h"
#include "runtime/block_allocator.h"
#include "runtime/vulkan/context.h"
#include "runtime/vulkan/import.h"
#include "runtime/vulkan/kernel.h"
#include "runtime/vulkan/memory.h"
#include "runtime/vulkan/program.h"
#include "runtime/vulkan/target.h"
#include "runtime/vulkan/transfer.h"
#include "runtime/vulkan_devices.h"

namespace reprise {
namespace {

using vulkan::Context;
using vulkan::Hardware;
using vulkan::structure;

// Freed blocks up to this are kept for the next.
constexpr size_t kCacheBytes = size_t{1} << 30;

class VulkanDevice final : public Device {
 public:
  VulkanDevice(const Hardware& hardware, int index, const VulkanLimits& limits)
      : index_(index),
        context_(hardware, str("vulkan:", index - 1), limits),
        blocks_(context_, vulkan::MemoryFor::Shaders),
        words_(context_, vulkan::MemoryFor::Both),
        allocator_(this, blocks_, kCacheBytes),
        transfers_(context_, blocks_) {}

  [[nodiscard]] std::string_view name() const override { return context_.name(); }
  [[nodiscard]] std::string description() const override { return context_.hardware().description; }
  [[nodiscard]] int index() const override { return index_; }
  [[nodiscard]] const TargetInfo& target() const override { return context_.target(); }
  [[nodiscard]] const Backend& backend() override { return spirv_backend(); }
  [[nodiscard]] Allocator& allocator() override { return allocator_; }

  [[nodiscard]] std::shared_ptr<Executable> load(const KernelCode& code) override {
    return std::make_shared<vulkan::Kernel>(context_, code);
  }

  void launch(const Executable& executable, std::span<void* const> buffers,
              std::span<const uint64_t> params, LaunchStatus* status) override {
    const auto& kernel = static_cast<const vulkan::Kernel&>(executable);
    // Not owned: it lives as long as this call.
    const vulkan::LaunchForm form{
        {std::shared_ptr<const vulkan::Kernel>(), &kernel}, buffers.size(), params.size()};
    vulkan::Recording recording(context_, words_, std::span(&form, 1));
    auto word = recording.words(0).begin();
    for (void* const buffer : buffers) *word++ = reinterpret_cast<uint64_t>(buffer);
    std::copy(params.begin(), params.end(), word);
    StoragePtr scratch;
    if (kernel.scratch_bytes() > 0) scratch = allocator_.allocate(kernel.scratch_bytes());
    const LaunchStatus found = recording.run(scratch ? scratch->data() : nullptr);
    if (status != nullptr) *status = found;
  }

  [[nodiscard]] std::unique_ptr<DeviceProgram> make_program(
      const Plan& plan, LaunchRange launches,
      std::span<const std::shared_ptr<Executable>> executables) override {
    return std::make_unique<vulkan::PlanProgram>(context_, allocator_, words_, plan, launches,
                                                 executables);
  }
  [[nodiscard]] bool translates_code() const override { return true; }
  [[nodiscard]] bool stops_at_bad_index() const override { return false; }
  void upload(void* to, const void* from, size_t bytes) override {
    transfers_.upload(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    transfers_.download(to, from, bytes);
  }

  [[nodiscard]] std::unique_ptr<Mapping> map(const Storage& storage) override {
    const bool is_host = storage.device() == &cpu_device();
    return is_host ? vulkan::import_host(context_, blocks_, storage) : nullptr;
  }
  [[nodiscard]] void* host_address(void* address) override {
    const vulkan::Blocks::Place place = blocks_.find(address);
    return place.region.cached ? place.region.host + place.offset : nullptr;
  }
  void keep_pipelines() const noexcept { context_.pipelines().keep(); }

  [[nodiscard]] const Hardware& hardware() const { return context_.hardware(); }
  [[nodiscard]] const VulkanLimits& limits() const { return context_.limits(); }

 private:
  const int index_;
  Context context_;
  vulkan::Blocks blocks_;
  vulkan::Blocks words_;  ///< what launches read besides
  BlockAllocator allocator_;
  vulkan::Transfers transfers_;
};

/// Those whose pipelines are kept when the process ends.
std::vector<const VulkanDevice*>& opened() {
  static auto& all = *new std::vector<const VulkanDevice*>;
  return all;
}

/// Null when there is no loader or no driver; `why` says which.
VkInstance make_instance(std::string* why) {
  if (volkInitialize() != VK_SUCCESS) {
    *why = "there is no Vulkan loader (libvulkan.so.1)";
    return VK_NULL_HANDLE;
  }
  auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "reprise";
  application.apiVersion = VK_API_VERSION_1_2;
  auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance);
  if (result != VK_SUCCESS) {
    *why = str("there is no Vulkan driver (vkCreateInstance: VkResult ", static_cast<int>(result),
               ")");
    return VK_NULL_HANDLE;
  }
  volkLoadInstanceOnly(instance);
  return instance;
}

std::optional<uint32_t> compute_family(VkPhysicalDevice physical) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  for (uint32_t family = 0; family < count; ++family) {
    if ((families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) return family;
  }
  return std::nullopt;
}

/// What a device lacks that our code needs; empty when nothing.
std::string missing(VkPhysicalDevice physical, const VkPhysicalDeviceProperties& properties) {
  if (properties.apiVersion < VK_API_VERSION_1_1) {
    return str("it has Vulkan ", VK_API_VERSION_MAJOR(properties.apiVersion), '.',
               VK_API_VERSION_MINOR(properties.apiVersion), ", 1.1 is needed");
  }
  if (!compute_family(physical)) return "it has no queue for compute work";
  return {};
}

/// The faster kinds first.
int rank_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 3;
    default:
      return 4;
  }
}

std::vector<Hardware> find_hardware(std::string* why) {
  const VkInstance instance = make_instance(why);
  if (instance == VK_NULL_HANDLE) return {};
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> physical(count);
  vkEnumeratePhysicalDevices(instance, &count, physical.data());
  const char* const wanted = std::getenv("REPRISE_VULKAN_DEVICE");
  std::vector<std::pair<int, Hardware>> found;
  std::string reasons;
  for (const VkPhysicalDevice each : physical) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(each, &properties);
    const std::string name = properties.deviceName;
    std::string reason = missing(each, properties);
    if (wanted != nullptr && name.find(wanted) == name.npos) {
      reason = str("it is not called ", wanted);
    }
    const std::optional<uint32_t> family = compute_family(each);
    if (!reason.empty() || !family) {
      reasons += str(reasons.empty() ? "" : "; ", name, ": ", reason);
      continue;
    }
    const std::string version = str(", Vulkan ", VK_API_VERSION_MAJOR(properties.apiVersion), '.',
                                    VK_API_VERSION_MINOR(properties.apiVersion), '.',
                                    VK_API_VERSION_PATCH(properties.apiVersion));
    found.push_back({rank_of(properties.deviceType), {each, *family, name + version}});
  }
  if (found.empty()) {
    *why = reasons.empty() ? "the Vulkan drivers have no device" : reasons;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Hardware> hardware;
  hardware.reserve(found.size());
  for (auto& [rank, each] : found) hardware.push_back(std::move(each));
  return hardware;
}

}  // namespace

std::span<Device* const> vulkan_devices(std::string* why) {
  struct Found {
    std::vector<Device*> devices;
    std::string why;
  };
  // Never destroyed: storage may outlive every other static, and a driver's threads live on.
  static const Found& found = *[] {
    auto* const result = new Found;
    for (const Hardware& hardware : find_hardware(&result->why)) {
      const auto index = static_cast<int>(result->devices.size()) + 1;
      if (index == DeviceSet::kMaxDevices) break;
      try {
        const char* const named = std::getenv("REPRISE_VULKAN_LIMITS");
        const VulkanLimits limits =
            named != nullptr && *named != 0 ? vulkan_limits(named) : VulkanLimits{};
        result->devices.push_back(new VulkanDevice(hardware, index, limits));
        opened().push_back(static_cast<const VulkanDevice*>(result->devices.back()));
      } catch (const Error& error) {
        log_line("vulkan", error.what());
        result->why += str(result->why.empty() ? "" : "; ", error.what());
      }
    }
    // Before what the drivers do at exit, for they are loaded by now.
    std::atexit([] {
      for (const VulkanDevice* each : opened()) each->keep_pipelines();
    });
    return result;
  }();
  *why = found.devices.empty() ? found.why : "";
  return found.devices;
}

std::unique_ptr<Device> open_again(const Device& vulkan_device, const VulkanLimits& limits) {
  const auto& other = static_cast<const VulkanDevice&>(vulkan_device);
  return std::make_unique<VulkanDevice>(other.hardware(), other.index(),
                                        both(other.limits(), limits));
}

Device& open_another(const Device& vulkan_device, const VulkanLimits& limits) {
  const auto& other = static_cast<const VulkanDevice&>(vulkan_device);
  const auto index = static_cast<int>(devices().size());
  // Never destroyed, as the others.
  auto& made = *new VulkanDevice(other.hardware(), index, limits);
  add_device(made);
  return made;
}

}  // namespace reprise
