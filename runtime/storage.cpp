// The end of foreign memory.
#include "runtime/storage.h"

namespace reprise {

Storage::~Storage() = default;

void Storage::retire() noexcept {
  if (deleter_) deleter_(data_, bytes_);
  delete this;
}

}  // namespace reprise
