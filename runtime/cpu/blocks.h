// The CPU's memory as a source of blocks.
#pragma once

#include <cstddef>

#include "runtime/block_allocator.h"

namespace reprise {

/// Memory of the process. Blocks from 2 MiB on are aligned to 2 MiB, and huge pages are asked for.
[[nodiscard]] BlockSource& cpu_blocks();

/// How much of it an allocator keeps: a quarter of the machine's; nothing where an address
/// sanitizer is to see every free.
[[nodiscard]] size_t cpu_cache_limit();

}  // namespace reprise
