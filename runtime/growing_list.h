// A list that recording appends to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace reprise {

/// A vector whose growth is a call and everything else a store: whoever pushes keeps its registers.
template <class T>
class GrowingList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void push_back(T value) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  [[nodiscard]] T& back() { return data_[size_ - 1]; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T& operator[](size_t i) const { return data_[i]; }
  [[nodiscard]] const T* begin() const { return data_.get(); }
  [[nodiscard]] const T* end() const { return data_.get() + size_; }
  operator std::span<const T>() const { return {data_.get(), size_}; }

 private:
  [[gnu::noinline]] void grow() {
    const size_t grown = capacity_ == 0 ? 64 : 2 * capacity_;
    auto data = std::make_unique_for_overwrite<T[]>(grown);
    std::copy(begin(), end(), data.get());
    data_ = std::move(data);
    capacity_ = grown;
  }

  std::unique_ptr<T[]> data_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace reprise
