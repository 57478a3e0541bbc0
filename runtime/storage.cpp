// Mappings on other devices, and the end of foreign memory.
#include "runtime/storage.h"

#include <mutex>

#include "runtime/device.h"

namespace reprise {

Storage::~Storage() = default;

namespace {
// Of all tables: they are asked when a tensor moves, which is rare beside what it costs.
std::mutex mapping_mutex;
}  // namespace

void* Storage::address_on(Device& device) {
  if (device_ == &device) return data_;
  const std::lock_guard lock(mapping_mutex);
  for (const MappedOn* each = mapped_.get(); each != nullptr; each = each->next.get()) {
    if (each->device == &device) return each->mapping ? each->mapping->address() : nullptr;
  }
  auto made = std::make_unique<MappedOn>(&device, device.map(*this), std::move(mapped_));
  mapped_ = std::move(made);
  return mapped_->mapping ? mapped_->mapping->address() : nullptr;
}

void Storage::unmap() noexcept {
  mapped_.reset();
}

void Storage::retire() noexcept {
  unmap();
  if (deleter_) deleter_(data_, bytes_);
  delete this;
}

}  // namespace reprise
