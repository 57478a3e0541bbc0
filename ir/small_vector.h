// A vector of trivially copyable values that keeps the first N inside itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace reprise {

/// Recording an op must not allocate: operands and attributes nearly always fit in N.
template <class T, uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) { append({values.begin(), values.size()}); }
  explicit SmallVector(std::span<const T> values) { append(values); }
  SmallVector(const SmallVector& other) { append(other); }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  [[nodiscard]] uint32_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return heap_ ? heap_ : inline_; }
  [[nodiscard]] const T* data() const { return heap_ ? heap_ : inline_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }

  void clear() { size_ = 0; }
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void append(std::span<const T> values) {
    reserve(size_ + static_cast<uint32_t>(values.size()));
    std::copy(values.begin(), values.end(), data() + size_);
    size_ += static_cast<uint32_t>(values.size());
  }
  void resize(uint32_t size) {
    reserve(size);
    std::fill(data() + std::min(size_, size), data() + size, T{});
    size_ = size;
  }
  void reserve(uint32_t wanted) {
    if (wanted > capacity_) [[unlikely]]
      grow(wanted);
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  /// Not in line: whoever pushes keeps its registers.
  [[gnu::noinline]] void grow(uint32_t wanted) {
    const uint32_t grown = std::max(wanted, 2 * capacity_);
    T* block = new T[grown];
    std::copy(begin(), end(), block);
    delete[] heap_;
    heap_ = block;
    capacity_ = grown;
  }
  void release() {
    delete[] heap_;
    heap_ = nullptr;
    size_ = 0;
    capacity_ = N;
  }
  void steal(SmallVector& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    heap_ = std::exchange(other.heap_, nullptr);
    if (!heap_) std::copy(other.inline_, other.inline_ + size_, inline_);
    other.size_ = 0;
    other.capacity_ = N;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  T* heap_ = nullptr;
  T inline_[N]{};
};

}  // namespace reprise
