// Direct copies and staged ones.
#include "runtime/vulkan/transfer.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "ir/error.h"

namespace reprise::vulkan {
namespace {
constexpr size_t kStagingBytes = size_t{8} << 20;
}

Transfers::~Transfers() {
  if (commands_.pool != VK_NULL_HANDLE) context_.destroy(commands_);
  destroy(context_, staging_);
}

void Transfers::start() {
  if (staging_.host == nullptr) {
    const std::optional<Region> made = make_region(context_, kStagingBytes, MemoryFor::Both);
    if (!made) throw OutOfMemoryError(str(context_.name(), ": no memory to copy through"));
    staging_ = *made;
  }
  if (commands_.pool == VK_NULL_HANDLE) commands_ = context_.make_commands();
}

void Transfers::upload(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  // Written only in the other direction.
  auto* const host = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  copy(blocks_.find(to), host, bytes, Direction::ToDevice);
}

void Transfers::download(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  copy(blocks_.find(from), static_cast<std::byte*>(to), bytes, Direction::ToHost);
}

void Transfers::copy(const Blocks::Place& place, std::byte* host, size_t bytes,
                     Direction direction) {
  REPRISE_ASSERT(place.offset + bytes <= place.region.bytes);
  if (place.region.host == nullptr) return copy_staged(place, host, bytes, direction);
  std::byte* const mapped = place.region.host + place.offset;
  if (direction == Direction::ToDevice) {
    std::memcpy(mapped, host, bytes);
  } else {
    std::memcpy(host, mapped, bytes);
  }
}

void Transfers::copy_staged(const Blocks::Place& place, std::byte* host, size_t bytes,
                            Direction direction) {
  const std::lock_guard lock(mutex_);
  start();
  for (size_t done = 0; done < bytes; done += kStagingBytes) {
    const size_t part = std::min(bytes - done, kStagingBytes);
    const bool to_device = direction == Direction::ToDevice;
    if (to_device) std::memcpy(staging_.host, host + done, part);
    VkBufferCopy range{place.offset + done, 0, part};
    if (to_device) std::swap(range.srcOffset, range.dstOffset);
    context_.begin(commands_);
    context_.api().vkCmdCopyBuffer(commands_.buffer,
                                   to_device ? staging_.buffer : place.region.buffer,
                                   to_device ? place.region.buffer : staging_.buffer, 1, &range);
    context_.end(commands_);
    context_.run(commands_);
    if (!to_device) std::memcpy(host + done, staging_.host, part);
  }
}

}  // namespace reprise::vulkan
