// Reference-counted memory with the deleter of whoever made it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace reprise {

class Device;

/// A block of bytes on one device. Shared by every value and view that lives in it.
/// `exclusive` storage (ours) may be donated; borrowed memory never is, nor used as scratch.
class Storage {
 public:
  using Deleter = std::function<void(void*, size_t)>;
  Storage(void* data, size_t bytes, Device* device, bool borrowed, Deleter deleter)
      : data_(data),
        bytes_(bytes),
        device_(device),
        borrowed_(borrowed),
        deleter_(std::move(deleter)) {}
  ~Storage() {
    if (deleter_) deleter_(data_, bytes_);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] Device* device() const { return device_; }
  [[nodiscard]] bool borrowed() const { return borrowed_; }

 private:
  void* data_;
  size_t bytes_;
  Device* device_;
  bool borrowed_;
  Deleter deleter_;
};

using StoragePtr = std::shared_ptr<Storage>;

}  // namespace reprise
