// Why a recorded trace had no plan: its first difference from the nearest one that has.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/once_cache.h"
#include "runtime/plan_entry.h"

namespace reprise {

/// One line, for the log. `key` is a trace's words, then what was asked of it.
[[nodiscard]] std::string explain_miss(std::span<const uint64_t> key,
                                       const OnceCache<PlanEntry>& plans);

}  // namespace reprise
