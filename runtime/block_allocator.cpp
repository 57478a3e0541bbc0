// Size classes and their free lists.
#include "runtime/block_allocator.h"

#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "ir/error.h"

namespace reprise {
namespace {

constexpr size_t kSmallest = 64;
// No machine has more; keeps the arithmetic below from wrapping.
constexpr size_t kMost = size_t{1} << 47;

/// Counters change under the allocator's mutex only, so they need no atomic addition; they are
/// atomic because anybody may read them. `bytes` may wrap: a subtraction.
void add(std::atomic<size_t>& counter, size_t bytes) {
  counter.store(counter.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

}  // namespace

// Classes are 64, 128, 192, 256 bytes, then four steps an octave: 320, 384, 448, 512, 640, ..
// Octave k >= 1 holds the sizes (4 + step) * 64 * 2^(k-1), step 1 to 4; octave 0 those up to 256.
int BlockAllocator::class_of(size_t block) {
  const size_t units = (block + kSmallest - 1) / kSmallest;
  if (units <= 4) return units == 0 ? 0 : static_cast<int>(units) - 1;
  const int shift = std::bit_width(units - 1) - 3;  // units in (4 << shift, 8 << shift]
  const auto step = static_cast<int>((units - 1) >> shift) - 4;
  return 4 + 4 * shift + step;
}

size_t BlockAllocator::class_bytes(int index) {
  if (index < 4) return static_cast<size_t>(index + 1) * kSmallest;
  const int shift = (index - 4) / 4;
  const int step = (index - 4) % 4;
  return (static_cast<size_t>(step + 5) << shift) * kSmallest;
}

size_t BlockAllocator::block_bytes(size_t bytes) {
  return class_bytes(class_of(bytes));
}

BlockAllocator::BlockAllocator(Device* device, BlockSource& source, size_t cache_limit)
    : device_(device), source_(source), cache_limit_(cache_limit) {}

BlockAllocator::~BlockAllocator() {
  trim();
}

/// Memory of one size class, in use or in its free list.
class BlockAllocator::Block final : public Storage {
 public:
  Block(void* data, int index, BlockAllocator& owner)
      : Storage(data, owner.device_), owner_(owner), index_(index) {}
  ~Block() override {
    unmap();
    owner_.source_.free(data_, block_bytes());
  }
  [[nodiscard]] size_t capacity() const override { return block_bytes(); }

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] size_t block_bytes() const { return class_bytes(index_); }
  void set_bytes(size_t bytes) { bytes_ = bytes; }
  Block* next = nullptr;  ///< while it is free

 private:
  void retire() noexcept override { owner_.release(*this); }
  BlockAllocator& owner_;
  const int index_;
};

StoragePtr BlockAllocator::allocate(size_t bytes) {
  if (bytes > kMost) {
    throw OutOfMemoryError(
        str("out of memory: ", bytes, " bytes asked for, ", live_bytes(), " in use"));
  }
  Block& block = take(class_of(bytes), bytes);
  block.set_bytes(bytes);
  return StoragePtr(&block);
}

BlockAllocator::Block& BlockAllocator::take(int index, size_t bytes) {
  const size_t size = class_bytes(index);
  {
    const std::lock_guard lock(mutex_);
    if (Block* head = free_[index]; head != nullptr) {
      free_[index] = head->next;
      add(cached_, -size);
      add(live_, size);
      return *head;
    }
  }
  void* data = source_.allocate(size);
  if (data == nullptr) {
    trim();  // blocks of other sizes may be all that is missing
    data = source_.allocate(size);
  }
  Block* const block = data == nullptr ? nullptr : new (std::nothrow) Block(data, index, *this);
  if (block == nullptr) {
    if (data != nullptr) source_.free(data, size);
    throw OutOfMemoryError(
        str("out of memory: ", bytes, " bytes asked for, ", live_bytes(), " in use"));
  }
  const std::lock_guard lock(mutex_);
  add(live_, size);
  return *block;
}

void BlockAllocator::release(Block& block) noexcept {
  const size_t size = block.block_bytes();
  std::array<Block*, kClasses> evicted;
  bool over = false;
  if (size > cache_limit_) {
    {
      const std::lock_guard lock(mutex_);
      add(live_, -size);
    }
    delete &block;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    add(live_, -size);
    if (cached_.load(std::memory_order_relaxed) + size > cache_limit_) {
      over = true;
      evicted.fill(nullptr);
      evict(cache_limit_ - size, evicted);
    }
    block.next = free_[block.index()];
    free_[block.index()] = &block;
    add(cached_, size);
  }
  if (over) give_back(evicted);
}

void BlockAllocator::evict(size_t keep, std::array<Block*, kClasses>& evicted) {
  size_t cached = cached_.load(std::memory_order_relaxed);
  for (int index = kClasses - 1; index >= 0 && cached > keep; --index) {
    while (free_[index] != nullptr && cached > keep) {
      Block* block = free_[index];
      free_[index] = block->next;
      block->next = evicted[index];
      evicted[index] = block;
      cached -= class_bytes(index);
    }
  }
  cached_.store(cached, std::memory_order_relaxed);
}

void BlockAllocator::give_back(std::array<Block*, kClasses>& evicted) noexcept {
  for (Block*& first : evicted) {
    while (first != nullptr) delete std::exchange(first, first->next);
  }
}

void BlockAllocator::trim() {
  std::array<Block*, kClasses> evicted{};
  {
    const std::lock_guard lock(mutex_);
    evict(0, evicted);
  }
  give_back(evicted);
}

}  // namespace reprise
