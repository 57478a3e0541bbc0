// What this machine's CPU is, as the data that code is generated for.
#pragma once

#include <string>

#include "ir/target.h"

namespace reprise {

/// Feature levels that kernels are written for; each includes those before it.
enum class CpuLevel : uint8_t { Sse2, Avx2, Avx512 };

/// The best level this CPU and its operating system support.
[[nodiscard]] CpuLevel detected_cpu_level();
/// The CPU as it is, at most `limit`: at a lower level only that level's features are listed.
[[nodiscard]] TargetInfo cpu_target(CpuLevel limit);
/// The CPU as it is, lowered by REPRISE_CPU=sse2|avx2|avx512, which never raises it. Throws
/// DeviceError for another value.
[[nodiscard]] TargetInfo cpu_target();
/// As its maker calls it.
[[nodiscard]] std::string cpu_name();

}  // namespace reprise
