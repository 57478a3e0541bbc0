// Copies between the host's memory and a Vulkan device's.
#pragma once

#include <mutex>

#include "runtime/vulkan/memory.h"

namespace reprise::vulkan {

/// Writes what the host sees directly, the rest through a buffer that both see, piece by piece.
/// Done when a call returns. Several threads may.
class Transfers {
 public:
  Transfers(Context& context, const Blocks& blocks) : context_(context), blocks_(blocks) {}
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  void upload(void* to, const void* from, size_t bytes);
  void download(void* to, const void* from, size_t bytes);

 private:
  enum class Direction : uint8_t { ToDevice, ToHost };
  void copy(const Blocks::Place& place, std::byte* host, size_t bytes, Direction direction);
  void copy_staged(const Blocks::Place& place, std::byte* host, size_t bytes, Direction direction);
  void start();

  Context& context_;
  const Blocks& blocks_;
  std::mutex mutex_;  ///< of what follows
  Region staging_;    ///< empty until something is copied through it
  Context::Commands commands_;
};

}  // namespace reprise::vulkan
