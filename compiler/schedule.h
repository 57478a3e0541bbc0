// Chooses a kernel's schedule from its shapes and the target alone.
#pragma once

#include "ir/kernel.h"
#include "ir/schedule.h"
#include "ir/target.h"

namespace reprise {

/// Same kernel and target, same schedule. Never changes a bit of any result.
[[nodiscard]] Schedule choose_schedule(const Kernel& kernel, const TargetInfo& target);

}  // namespace reprise
