// The host's memory, addressed by a device without a copy.
#pragma once

#include "runtime/storage.h"
#include "runtime/vulkan/memory.h"

namespace reprise::vulkan {

/// Host memory from this many bytes on is worth a mapping.
inline constexpr size_t kSmallestImport = size_t{64} << 10;

/// Null where the device cannot: it lacks the extension, its memory is not the host's, or the
/// storage does not lie on whole pages.
[[nodiscard]] std::unique_ptr<Mapping> import_host(const Context& context, Blocks& blocks,
                                                   const Storage& storage);

}  // namespace reprise::vulkan
