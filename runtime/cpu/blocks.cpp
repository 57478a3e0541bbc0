// Large blocks are mapped, small ones come from the heap.
#include "runtime/cpu/blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#define REPRISE_ADDRESS_SANITIZER 1
#else
#define REPRISE_ADDRESS_SANITIZER 0
#endif

namespace reprise {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;
constexpr size_t kPageAligned = size_t{64} << 10;
constexpr size_t kHugePage = size_t{2} << 20;

/// Large blocks come from the system directly, unless a sanitizer wants to know them.
bool is_mapped(size_t block) {
  return block >= kHugePage && !REPRISE_ADDRESS_SANITIZER;
}

/// Maps `bytes`, a multiple of the page size, aligned to a huge page. Null when there is no memory.
void* map_aligned(size_t bytes) {
  const size_t reserved = bytes + kHugePage;
  void* base = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(base);
  const size_t before = (kHugePage - address % kHugePage) % kHugePage;
  auto* block = static_cast<std::byte*>(base) + before;
  if (before != 0) munmap(base, before);
  if (kHugePage - before != 0) munmap(block + bytes, kHugePage - before);
  madvise(block, bytes, MADV_HUGEPAGE);  // a wish; without huge pages the block is as good
  return block;
}

class CpuBlocks final : public BlockSource {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu blocks"; }

  [[nodiscard]] void* allocate(size_t block) override {
    if (is_mapped(block)) return map_aligned(block);
    return std::aligned_alloc(block >= kPageAligned ? kPage : kAlignment, block);
  }

  void free(void* data, size_t block) noexcept override {
    if (is_mapped(block)) {
      munmap(data, block);
    } else {
      std::free(data);
    }
  }
};

}  // namespace

BlockSource& cpu_blocks() {
  static CpuBlocks& blocks =
      *new CpuBlocks;  // never destroyed: storage may outlive every other static
  return blocks;
}

size_t cpu_cache_limit() {
  if (REPRISE_ADDRESS_SANITIZER) return 0;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const size_t memory = pages > 0 ? static_cast<size_t>(pages) * kPage : size_t{4} << 30;
  return memory / 4;
}

}  // namespace reprise
