// Memory types, regions, and small blocks inside shared ones.
#include "runtime/vulkan/memory.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <mutex>
#include <utility>

#include "ir/error.h"

namespace reprise::vulkan {
namespace {

constexpr size_t kShared = size_t{4} << 20;   // bytes of a region that small blocks share
constexpr size_t kSmall = size_t{512} << 10;  // blocks below this do
constexpr size_t kAlignment = 64;
// A window this large onto a device's memory is all of it: the host may use it for everything.
constexpr VkDeviceSize kWholeWindow = VkDeviceSize{1} << 30;

/// The memory type to use among those a buffer allows, or nothing.
std::optional<uint32_t> choose_type(const Context& context, uint32_t allowed, MemoryFor use) {
  VkPhysicalDeviceMemoryProperties kinds;
  vkGetPhysicalDeviceMemoryProperties(context.hardware().physical, &kinds);
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const auto find = [&](VkMemoryPropertyFlags wanted,
                        VkDeviceSize heap) -> std::optional<uint32_t> {
    for (uint32_t i = 0; i < kinds.memoryTypeCount; ++i) {
      const VkMemoryType& type = kinds.memoryTypes[i];
      if ((allowed >> i & 1) != 0 && (type.propertyFlags & wanted) == wanted &&
          kinds.memoryHeaps[type.heapIndex].size >= heap) {
        return i;
      }
    }
    return std::nullopt;
  };
  if (use == MemoryFor::Both) {
    const auto cached = find(kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    return cached ? cached : find(kHost, 0);
  }
  constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  if (const auto both = find(kLocal | kHost, kWholeWindow)) return both;
  const auto local = find(kLocal, 0);
  return local ? local : find(0, 0);
}

bool host_sees(const Context& context, uint32_t type, VkMemoryPropertyFlags besides = 0) {
  VkPhysicalDeviceMemoryProperties kinds;
  vkGetPhysicalDeviceMemoryProperties(context.hardware().physical, &kinds);
  const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | besides;
  return (kinds.memoryTypes[type].propertyFlags & wanted) == wanted;
}

bool is_out_of_memory(VkResult result) {
  return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
         result == VK_ERROR_TOO_MANY_OBJECTS;
}

/// Makes the parts of a region; what was made is in it when it fails.
VkResult fill(const Context& context, Region& region, MemoryFor use) {
  const VolkDeviceTable& api = context.api();
  auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = region.bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const bool addresses = context.target().shader.uses_addresses();
  if (addresses) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  VkResult result = api.vkCreateBuffer(context.device(), &info, nullptr, &region.buffer);
  if (result != VK_SUCCESS) return result;
  VkMemoryRequirements needs;
  api.vkGetBufferMemoryRequirements(context.device(), region.buffer, &needs);
  const std::optional<uint32_t> type = choose_type(context, needs.memoryTypeBits, use);
  if (!type) throw DeviceError(str(context.name(), " has no memory for buffers"));
  auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                  addresses ? &flags : nullptr);
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = *type;
  result = api.vkAllocateMemory(context.device(), &allocate, nullptr, &region.memory);
  if (result != VK_SUCCESS) return result;
  result = api.vkBindBufferMemory(context.device(), region.buffer, region.memory, 0);
  if (result != VK_SUCCESS) return result;
  const bool hidden = use == MemoryFor::Shaders && context.limits().hides_memory;
  if (host_sees(context, *type) && !hidden) {
    void* mapped = nullptr;
    result = api.vkMapMemory(context.device(), region.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (result != VK_SUCCESS) return result;
    region.host = static_cast<std::byte*>(mapped);
    region.cached = host_sees(context, *type, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  }
  if (!addresses) {
    region.address = context.next_address();
    return VK_SUCCESS;
  }
  auto ask = structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  ask.buffer = region.buffer;
  region.address = api.vkGetBufferDeviceAddress(context.device(), &ask);
  REPRISE_ASSERT(region.address != 0 && region.address % kAlignment == 0);
  return VK_SUCCESS;
}

}  // namespace

std::optional<Region> make_region(const Context& context, size_t bytes, MemoryFor use) {
  Region region;
  region.bytes = bytes;
  VkResult result = VK_SUCCESS;
  try {
    result = fill(context, region, use);
  } catch (...) {
    destroy(context, region);
    throw;
  }
  if (result == VK_SUCCESS) return region;
  destroy(context, region);
  if (!is_out_of_memory(result)) context.check(result, "vkAllocateMemory");
  return std::nullopt;
}

void destroy(const Context& context, const Region& region) noexcept {
  context.api().vkDestroyBuffer(context.device(), region.buffer, nullptr);
  context.api().vkFreeMemory(context.device(), region.memory, nullptr);  // unmaps it
}

Blocks::~Blocks() {
  for (const auto& [address, entry] : entries_) destroy(context_, entry.region);
}

Blocks::Entry* Blocks::add(size_t bytes) {
  const size_t most = use_ == MemoryFor::Shaders ? context_.limits().max_memory : 0;
  if (most > 0 && (in_use_ > most || bytes > most - in_use_)) return nullptr;
  const std::optional<Region> region = make_region(context_, bytes, use_);
  if (!region) return nullptr;
  in_use_ += bytes;
  return &entries_.emplace(region->address, Entry{.region = *region, .gaps = {}}).first->second;
}

void Blocks::erase(std::map<uint64_t, Entry>::iterator entry) noexcept {
  in_use_ -= entry->second.region.bytes;
  destroy(context_, entry->second.region);
  entries_.erase(entry);
}

void* Blocks::take_gap(size_t bytes) {
  for (auto& [address, entry] : entries_) {
    for (auto gap = entry.gaps.begin(); gap != entry.gaps.end(); ++gap) {
      const auto [offset, length] = *gap;
      if (length < bytes) continue;
      entry.gaps.erase(gap);
      if (length > bytes) entry.gaps.emplace(offset + bytes, length - bytes);
      return std::bit_cast<void*>(address + offset);
    }
  }
  return nullptr;
}

void Blocks::make_only_region() {
  if (!entries_.empty()) return;
  VkPhysicalDeviceMemoryProperties kinds;
  vkGetPhysicalDeviceMemoryProperties(context_.hardware().physical, &kinds);
  VkDeviceSize heap = 0;
  for (uint32_t i = 0; i < kinds.memoryHeapCount; ++i) {
    heap = std::max(heap, kinds.memoryHeaps[i].size);
  }
  size_t bytes = std::min(static_cast<size_t>(context_.target().shader.bound_bytes),
                          static_cast<size_t>(heap / 2));
  if (context_.limits().max_memory > 0) bytes = std::min(bytes, context_.limits().max_memory);
  bytes = bytes / kAlignment * kAlignment;
  for (; bytes >= kShared; bytes = bytes / 2 / kAlignment * kAlignment) {
    Entry* const made = add(bytes);
    if (made == nullptr) continue;
    made->shared = true;
    made->gaps.emplace(0, bytes);
    context_.set_memory(made->region.buffer);
    return;
  }
}

void* Blocks::allocate(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (is_one_region()) {
    make_only_region();
    return take_gap(bytes);
  }
  if (bytes >= kSmall) {
    const Entry* const own = add(bytes);
    return own != nullptr ? std::bit_cast<void*>(own->region.address) : nullptr;
  }
  if (void* const found = take_gap(bytes)) return found;
  Entry* const shared = add(kShared);
  if (shared == nullptr) return nullptr;
  shared->shared = true;
  shared->gaps.emplace(0, kShared);
  return take_gap(bytes);
}

void Blocks::free(void* data, size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto address = std::bit_cast<uint64_t>(data);
  const auto found = std::prev(entries_.upper_bound(address));
  Entry& entry = found->second;
  if (!entry.shared) return erase(found);
  size_t offset = address - found->first;
  auto next = entry.gaps.lower_bound(offset);
  if (next != entry.gaps.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = entry.gaps.erase(next);
  }
  if (next != entry.gaps.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      entry.gaps.erase(before);
    }
  }
  // Recordings have the only region bound.
  if (bytes == entry.region.bytes && !is_one_region()) return erase(found);
  entry.gaps.emplace(offset, bytes);
}

void Blocks::adopt(const Region& region) {
  const std::lock_guard lock(mutex_);
  entries_.emplace(region.address, Entry{.region = region, .gaps = {}});
}

void Blocks::forget(const void* address) noexcept {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(std::bit_cast<uint64_t>(address));
  destroy(context_, entry->second.region);
  entries_.erase(entry);
}

Blocks::Place Blocks::find(const void* address) const {
  const auto place = std::bit_cast<uint64_t>(address);
  const std::lock_guard lock(mutex_);
  const auto next = entries_.upper_bound(place);
  REPRISE_ASSERT(next != entries_.begin());
  const Region& region = std::prev(next)->second.region;
  REPRISE_ASSERT(place - region.address <= region.bytes);
  return {region, place - region.address};
}

}  // namespace reprise::vulkan
