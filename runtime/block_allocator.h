// Blocks of memory in size classes, kept when freed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/device.h"
#include "runtime/mutex.h"

namespace reprise {

/// Where an allocator's blocks come from. Thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// `bytes`, a multiple of 64, aligned to 64; page-aligned from 64 KiB on. Null: there are none.
  [[nodiscard]] virtual void* allocate(size_t bytes) = 0;
  virtual void free(void* data, size_t bytes) noexcept = 0;
};

/// Keeps freed blocks for the next request of their size class: getting memory from a system, and
/// touching it first, costs more than most kernels.
class BlockAllocator final : public Allocator {
 public:
  /// Keeps at most `cache_limit` bytes of freed blocks; 0 keeps none. `source` must outlive it.
  BlockAllocator(Device* device, BlockSource& source, size_t cache_limit);
  ~BlockAllocator() override;
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  [[nodiscard]] StoragePtr allocate(size_t bytes) override;
  [[nodiscard]] std::string_view name() const override { return source_.name(); }
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
  BlockSource& source_;
  const size_t cache_limit_;
  Mutex mutex_;
  std::array<Block*, kClasses> free_{};  ///< linked lists
  std::atomic<size_t> live_{0};
  std::atomic<size_t> cached_{0};
};

}  // namespace reprise
