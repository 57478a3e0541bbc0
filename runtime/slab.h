// A table of slots with stable addresses, indexed by 4 bytes, freed slots reused first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/error.h"
#include "runtime/growing_list.h"

namespace reprise {

/// Chunked, so that a reference stays valid while the table grows. Not thread-safe.
template <class T>
class Slab {
 public:
  /// A slot in the state its last user left it in (a new one: default constructed).
  [[nodiscard]] uint32_t allocate() {
    ++live_;
    if (!free_.empty()) {
      const uint32_t index = free_.back();
      free_.pop_back();
      return index;
    }
    if (size_ >= kMaxSlots) throw OutOfMemoryError(str("more than ", kMaxSlots, " live tensors"));
    if ((size_ & (kChunk - 1)) == 0) chunks_.push_back(std::make_unique<Chunk>());
    return size_++;
  }
  void free(uint32_t index) {
    --live_;
    free_.push_back(index);
  }
  T& operator[](uint32_t index) { return (*chunks_[index >> kShift])[index & (kChunk - 1)]; }
  const T& operator[](uint32_t index) const {
    return (*chunks_[index >> kShift])[index & (kChunk - 1)];
  }
  [[nodiscard]] uint32_t size() const { return size_; }  ///< slots ever made
  [[nodiscard]] uint32_t live() const { return live_; }

 private:
  static constexpr uint32_t kShift = 10, kChunk = 1u << kShift;
  static constexpr uint32_t kMaxSlots = UINT32_MAX - 16;
  /// Not an array that `new` counts: its count would stand before the first slot, and a leak
  /// checker looks for pointers to where a block begins.
  using Chunk = std::array<T, kChunk>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  GrowingList<uint32_t> free_;
  uint32_t size_ = 0;
  uint32_t live_ = 0;
};

}  // namespace reprise
