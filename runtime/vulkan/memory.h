// A Vulkan device's memory, addressed as shaders address it.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "runtime/block_allocator.h"
#include "runtime/vulkan/context.h"

namespace reprise::vulkan {

/// One piece of memory under one buffer.
struct Region {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  size_t bytes = 0;
  uint64_t address = 0;       ///< for shaders; see Context::next_address
  std::byte* host = nullptr;  ///< for the host; null where it cannot see the memory
  bool cached = false;        ///< the host reads it as fast as its own
};

/// Whom memory is for: shaders, or what shaders and the host both read and write.
enum class MemoryFor : uint8_t { Shaders, Both };

/// Nothing when there is no such memory left. Throws DeviceError for any other failure.
[[nodiscard]] std::optional<Region> make_region(const Context& context, size_t bytes,
                                                MemoryFor use);
void destroy(const Context& context, const Region& region) noexcept;

/// Blocks by the address that shaders use. Large ones are regions of their own, small ones share
/// one: devices allow few allocations. Without addresses of buffers those for shaders are all in
/// one region, which a shader has bound: the most that can be bound, or half of the device's
/// memory.
class Blocks final : public BlockSource {
 public:
  Blocks(const Context& context, MemoryFor use) : context_(context), use_(use) {}
  ~Blocks() override;

  [[nodiscard]] std::string_view name() const override { return "vulkan blocks"; }
  [[nodiscard]] void* allocate(size_t bytes) override;
  void free(void* data, size_t bytes) noexcept override;

  /// The region that an address is in, and how far.
  struct Place {
    Region region;
    size_t offset;
  };
  [[nodiscard]] Place find(const void* address) const;

  /// Makes find() know a region that somebody else made, and destroys it.
  void adopt(const Region& region);
  void forget(const void* address) noexcept;

 private:
  struct Entry {
    Region region;
    std::map<size_t, size_t> gaps;  ///< free ranges of a shared one: offset, bytes
    bool shared = false;
  };
  /// Takes the first gap of a shared region that is long enough, or null.
  [[nodiscard]] void* take_gap(size_t bytes);
  [[nodiscard]] Entry* add(size_t bytes);
  [[nodiscard]] bool is_one_region() const {
    return use_ == MemoryFor::Shaders && !context_.target().shader.uses_addresses();
  }
  /// Makes the region that all is in unless there is one.
  void make_only_region();
  void erase(std::map<uint64_t, Entry>::iterator entry) noexcept;

  const Context& context_;
  const MemoryFor use_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Entry> entries_;  ///< by address
  size_t in_use_ = 0;                  ///< bytes of all regions
};

}  // namespace reprise::vulkan
