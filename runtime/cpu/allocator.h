// The CPU's memory: blocks in size classes that are kept when freed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/device.h"
#include "runtime/mutex.h"

namespace reprise {

/// Keeps freed blocks for the next request of their size class: first touching memory costs more
/// than most kernels. Blocks are 64-byte aligned, page-aligned from 64 KiB on, and from 2 MiB on
/// aligned to 2 MiB with huge pages asked for.
class BlockAllocator final : public Allocator {
 public:
  /// Keeps at most `cache_limit` bytes of freed blocks; 0 keeps none.
  BlockAllocator(Device* device, size_t cache_limit);
  ~BlockAllocator() override;
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// A quarter of the machine's memory; nothing where an address sanitizer is to see every free.
  [[nodiscard]] static size_t default_cache_limit();

  [[nodiscard]] StoragePtr allocate(size_t bytes) override;
  [[nodiscard]] std::string_view name() const override { return "cpu blocks"; }
  [[nodiscard]] Device& device() override { return *device_; }
  [[nodiscard]] size_t live_bytes() const override { return live_.load(std::memory_order_relaxed); }
  [[nodiscard]] size_t cached_bytes() const override {
    return cached_.load(std::memory_order_relaxed);
  }
  void trim() override;

  /// Size of the block that a request of `bytes` gets: at most a quarter more, 64 at least.
  [[nodiscard]] static size_t block_bytes(size_t bytes);

 private:
  class Block;
  static constexpr int kClasses = 4 * 48;

  static int class_of(size_t block);
  /// A block of the class, freed or new. Throws OutOfMemoryError, which names `bytes`.
  Block& take(int index, size_t bytes);
  void release(Block& block) noexcept;
  /// Unlinks cached blocks, the largest first, until at most `keep` bytes stay. Under mutex_.
  void evict(size_t keep, std::array<Block*, kClasses>& evicted);
  static void give_back(std::array<Block*, kClasses>& evicted) noexcept;
  static size_t class_bytes(int index);

  Device* device_;
  const size_t cache_limit_;
  Mutex mutex_;
  std::array<Block*, kClasses> free_{};  ///< linked lists
  std::atomic<size_t> live_{0};
  std::atomic<size_t> cached_{0};
};

}  // namespace reprise
