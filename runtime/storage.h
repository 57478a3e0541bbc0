// Reference-counted memory that goes back to whoever made it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace reprise {

class Device;

/// What a device does to address another one's memory; undone when destroyed.
class Mapping {
 public:
  explicit Mapping(void* address) : address_(address) {}
  virtual ~Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] void* address() const { return address_; }

 private:
  void* const address_;
};

/// A block of bytes on one device. Shared, through StoragePtr, by every value and view that lives
/// in it. What is not borrowed is ours and may be donated; borrowed memory never is, nor used as
/// scratch. Other devices may address it too: a table of mappings, made when first asked for.
class Storage {
 public:
  using Deleter = std::function<void(void*, size_t)>;
  /// Memory that `deleter` (or nobody, if empty) gets back with its size. Made with new.
  Storage(void* data, size_t bytes, Device* device, bool borrowed, Deleter deleter)
      : data_(data),
        bytes_(bytes),
        device_(device),
        borrowed_(borrowed),
        deleter_(std::move(deleter)) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] Device* device() const { return device_; }
  [[nodiscard]] bool borrowed() const { return borrowed_; }
  /// Bytes that belong to it from data() on: those asked for, and what an allocator rounds them to.
  [[nodiscard]] virtual size_t capacity() const { return bytes_; }
  /// The memory as `device` addresses it, without a copy; null where it cannot. Thread-safe.
  [[nodiscard]] void* address_on(Device& device);

 protected:
  /// An allocator's own, which it may use again.
  Storage(void* data, Device* device) : data_(data), device_(device) {}
  virtual ~Storage();
  /// Nobody refers to it any more.
  virtual void retire() noexcept;
  /// Before the memory is given back.
  void unmap() noexcept;

  void* data_;
  size_t bytes_ = 0;

 private:
  friend class StoragePtr;
  Device* device_;
  bool borrowed_ = false;
  std::atomic<uint32_t> refs_{0};
  Deleter deleter_;
  struct MappedOn {
    Device* device;
    std::unique_ptr<Mapping> mapping;  ///< null: it cannot be mapped there
    std::unique_ptr<MappedOn> next;
  };
  std::unique_ptr<MappedOn> mapped_;
};

/// A counted reference, as std::shared_ptr; the count lies in the storage, so that an allocator
/// hands out a block without allocating anything else.
class StoragePtr {
 public:
  StoragePtr() = default;
  StoragePtr(std::nullptr_t) {}  // NOLINT: implicit
  /// The first reference to a storage.
  explicit StoragePtr(Storage* storage) : storage_(storage) {
    storage_->refs_.store(1, std::memory_order_relaxed);
  }
  StoragePtr(const StoragePtr& other) : storage_(other.storage_) { retain(); }
  StoragePtr(StoragePtr&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StoragePtr& operator=(StoragePtr other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StoragePtr() { reset(); }

  void reset() {
    Storage* const storage = std::exchange(storage_, nullptr);
    if (storage == nullptr) return;
    // The only reference there is needs no atomic operation to be dropped: nobody can copy it.
    if (storage->refs_.load(std::memory_order_acquire) == 1 ||
        storage->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      storage->retire();
    }
  }
  [[nodiscard]] Storage* get() const { return storage_; }
  Storage* operator->() const { return storage_; }
  Storage& operator*() const { return *storage_; }
  explicit operator bool() const { return storage_ != nullptr; }
  [[nodiscard]] uint32_t use_count() const {
    return storage_ == nullptr ? 0 : storage_->refs_.load(std::memory_order_acquire);
  }

 private:
  void retain() const {
    if (storage_ != nullptr) storage_->refs_.fetch_add(1, std::memory_order_relaxed);
  }
  Storage* storage_ = nullptr;
};

}  // namespace reprise
