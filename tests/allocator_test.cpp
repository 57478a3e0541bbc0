// The CPU's block allocator: alignment, reuse, counters, limits and failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "ir/error.h"
#include "runtime/block_allocator.h"
#include "runtime/cpu/blocks.h"

namespace reprise {
namespace {

constexpr size_t kKeepAll = size_t{1} << 32;

uintptr_t address(const StoragePtr& storage) {
  return reinterpret_cast<uintptr_t>(storage->data());
}

// Vector loads want 64 bytes; devices that import host memory want pages; huge pages need 2 MiB.
TEST(BlockAllocator, AlignsBySize) {
  BlockAllocator blocks(nullptr, cpu_blocks(), kKeepAll);
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{4097}, size_t{65535}}) {
    EXPECT_EQ(address(blocks.allocate(bytes)) % 64, 0u) << bytes;
  }
  for (const size_t bytes : {size_t{64} << 10, (size_t{64} << 10) + 1, size_t{1} << 20}) {
    EXPECT_EQ(address(blocks.allocate(bytes)) % 4096, 0u) << bytes;
  }
#if !defined(__SANITIZE_ADDRESS__)
  for (const size_t bytes : {size_t{2} << 20, size_t{3} << 20, size_t{33} << 20}) {
    EXPECT_EQ(address(blocks.allocate(bytes)) % (size_t{2} << 20), 0u) << bytes;
  }
#endif
}

// A class must hold what is asked of it and waste at most a quarter, or memory use is a surprise.
TEST(BlockAllocator, ClassesFitAndWasteLittle) {
  for (int bits = 0; bits < 47; ++bits) {
    for (const int64_t offset : {-1, 0, 1}) {
      for (const size_t part : {4, 5, 6, 7}) {
        const size_t bytes = (part << bits) / 4 + static_cast<size_t>(offset);
        if (bytes > (size_t{1} << 47)) continue;
        const size_t block = BlockAllocator::block_bytes(bytes);
        ASSERT_GE(block, bytes);
        ASSERT_LE(block, std::max<size_t>(64, bytes + std::max<size_t>(64, bytes / 4)));
        ASSERT_EQ(BlockAllocator::block_bytes(block), block) << "a block's own size is its class";
        ASSERT_EQ(block % (block >= (size_t{64} << 10) ? 4096 : 64), 0u);
      }
    }
  }
}

// First touching memory costs more than most kernels: what was freed comes back.
TEST(BlockAllocator, ReusesFreedBlocks) {
  BlockAllocator blocks(nullptr, cpu_blocks(), kKeepAll);
  for (const size_t bytes : {size_t{100}, size_t{100000}, size_t{5} << 20}) {
    StoragePtr storage = blocks.allocate(bytes);
    void* data = storage->data();
    std::memset(data, 1, bytes);
    EXPECT_EQ(storage->bytes(), bytes);
    EXPECT_FALSE(storage->borrowed());
    storage.reset();
    EXPECT_EQ(blocks.allocate(bytes)->data(), data);
  }
}

// Flat memory of a training loop is asserted through these counters.
TEST(BlockAllocator, CountsLiveAndCachedBytes) {
  BlockAllocator blocks(nullptr, cpu_blocks(), kKeepAll);
  EXPECT_EQ(blocks.live_bytes(), 0u);
  StoragePtr a = blocks.allocate(1000);
  StoragePtr b = blocks.allocate(0);
  EXPECT_EQ(blocks.live_bytes(), 1024u + 64u);
  EXPECT_EQ(blocks.cached_bytes(), 0u);
  a.reset();
  EXPECT_EQ(blocks.live_bytes(), 64u);
  EXPECT_EQ(blocks.cached_bytes(), 1024u);
  blocks.trim();
  EXPECT_EQ(blocks.cached_bytes(), 0u);
  b.reset();
  EXPECT_EQ(blocks.live_bytes(), 0u);
}

// A program whose sizes change must not keep every size it ever used.
TEST(BlockAllocator, KeepsNoMoreThanItsLimit) {
  constexpr size_t kLimit = size_t{1} << 20;
  BlockAllocator blocks(nullptr, cpu_blocks(), kLimit);
  std::mt19937 random(7);
  std::vector<StoragePtr> held;
  for (int i = 0; i < 3000; ++i) {
    if (held.size() < 20 || random() % 2 == 0) {
      const size_t bytes = random() % (size_t{1} << (4 + random() % 19));
      held.push_back(blocks.allocate(bytes));
      std::memset(held.back()->data(), static_cast<int>(i), bytes);
    } else {
      std::swap(held[random() % held.size()], held.back());
      held.pop_back();
    }
    ASSERT_LE(blocks.cached_bytes(), kLimit);
  }
  held.clear();
  EXPECT_EQ(blocks.live_bytes(), 0u);
  EXPECT_GT(blocks.cached_bytes(), 0u);
}

TEST(BlockAllocator, WithoutACacheEveryBlockGoesBack) {
  BlockAllocator blocks(nullptr, cpu_blocks(), 0);
  blocks.allocate(1000).reset();
  blocks.allocate(size_t{4} << 20).reset();
  EXPECT_EQ(blocks.cached_bytes(), 0u);
  EXPECT_EQ(blocks.live_bytes(), 0u);
}

// The message has both numbers; afterwards the allocator works as before.
TEST(BlockAllocator, NamesTheBytesWhenMemoryRunsOut) {
  BlockAllocator blocks(nullptr, cpu_blocks(), kKeepAll);
  const StoragePtr held = blocks.allocate(64);
  for (const size_t bytes : {SIZE_MAX, (size_t{1} << 47) + 1}) {
    try {
      (void)blocks.allocate(bytes);
      ADD_FAILURE() << "there cannot be " << bytes << " bytes";
    } catch (const OutOfMemoryError& error) {
      EXPECT_EQ(std::string(error.what()),
                str("out of memory: ", bytes, " bytes asked for, 64 in use"));
    }
  }
  EXPECT_NE(blocks.allocate(1000)->data(), nullptr);
}

// Blocks are made and dropped by any thread; two owners of one block would overwrite each other.
TEST(BlockAllocator, ServesManyThreads) {
  BlockAllocator blocks(nullptr, cpu_blocks(), size_t{8} << 20);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<StoragePtr> held;
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = 8 + random() % 20000;
        StoragePtr storage = blocks.allocate(bytes);
        std::memset(storage->data(), t, bytes);
        held.push_back(std::move(storage));
        if (held.size() > 10) {
          const StoragePtr& old = held[random() % held.size()];
          const auto* data = static_cast<const unsigned char*>(old->data());
          wrong += static_cast<int>(std::count_if(data, data + old->bytes(),
                                                  [t](unsigned char byte) { return byte != t; }));
          held.erase(held.begin());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(blocks.live_bytes(), 0u);
}

}  // namespace
}  // namespace reprise
