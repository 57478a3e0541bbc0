// VK_EXT_external_memory_host.
#include "runtime/vulkan/import.h"

#include <bit>
#include <optional>

#include "ir/error.h"

namespace reprise::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kHandle =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

class ImportedMemory final : public Mapping {
 public:
  ImportedMemory(Blocks& blocks, const Region& region)
      : Mapping(std::bit_cast<void*>(region.address)), blocks_(blocks) {
    blocks_.adopt(region);
  }
  ~ImportedMemory() override { blocks_.forget(address()); }

 private:
  Blocks& blocks_;
};

/// Memory that both see the same way without being told to.
std::optional<uint32_t> choose_type(const Context& context, uint32_t allowed) {
  VkPhysicalDeviceMemoryProperties kinds;
  vkGetPhysicalDeviceMemoryProperties(context.hardware().physical, &kinds);
  for (uint32_t i = 0; i < kinds.memoryTypeCount; ++i) {
    constexpr VkMemoryPropertyFlags kWanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const bool coherent = (kinds.memoryTypes[i].propertyFlags & kWanted) == kWanted;
    if ((allowed >> i & 1) != 0 && coherent) return i;
  }
  return std::nullopt;
}

VkResult fill(const Context& context, Region& region) {
  const VolkDeviceTable& api = context.api();
  auto external = structure<VkExternalMemoryBufferCreateInfo>(
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
  external.handleTypes = kHandle;
  auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external);
  info.size = region.bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkResult result = api.vkCreateBuffer(context.device(), &info, nullptr, &region.buffer);
  if (result != VK_SUCCESS) return result;
  VkMemoryRequirements needs;
  api.vkGetBufferMemoryRequirements(context.device(), region.buffer, &needs);
  if (needs.size > region.bytes) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  auto pointer = structure<VkMemoryHostPointerPropertiesEXT>(
      VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
  result =
      api.vkGetMemoryHostPointerPropertiesEXT(context.device(), kHandle, region.host, &pointer);
  if (result != VK_SUCCESS) return result;
  const auto type = choose_type(context, needs.memoryTypeBits & pointer.memoryTypeBits);
  if (!type) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  auto import = structure<VkImportMemoryHostPointerInfoEXT>(
      VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  import.handleType = kHandle;
  import.pHostPointer = region.host;
  auto flags =
      structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, &import);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags);
  allocate.allocationSize = region.bytes;
  allocate.memoryTypeIndex = *type;
  result = api.vkAllocateMemory(context.device(), &allocate, nullptr, &region.memory);
  if (result != VK_SUCCESS) return result;
  result = api.vkBindBufferMemory(context.device(), region.buffer, region.memory, 0);
  if (result != VK_SUCCESS) return result;
  auto ask = structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  ask.buffer = region.buffer;
  region.address = api.vkGetBufferDeviceAddress(context.device(), &ask);
  // Kernels are given what an allocator would have given them.
  return region.address % 64 == 0 ? VK_SUCCESS : VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

}  // namespace

std::unique_ptr<Mapping> import_host(const Context& context, Blocks& blocks,
                                     const Storage& storage) {
  // The whole block: the mapping stays when an allocator hands it out again, for more of its bytes.
  const size_t page = context.import_alignment();
  if (page == 0 || storage.capacity() < kSmallestImport) return nullptr;
  Region region;
  region.bytes = storage.capacity();
  region.host = static_cast<std::byte*>(storage.data());
  region.cached = true;
  const bool is_paged =
      std::bit_cast<uintptr_t>(storage.data()) % page == 0 && region.bytes % page == 0;
  if (!is_paged) return nullptr;
  if (fill(context, region) != VK_SUCCESS) {
    destroy(context, region);
    return nullptr;
  }
  return std::make_unique<ImportedMemory>(blocks, region);
}

}  // namespace reprise::vulkan
