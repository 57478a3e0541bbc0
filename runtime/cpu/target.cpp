// Reads the CPU's features through CPUID and its cache sizes from the system.
#include "runtime/cpu/target.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "ir/error.h"

namespace reprise {
namespace {

struct Feature {
  const char* llvm;
  CpuLevel level;
  bool present;
};

// The compiler's CPUID code also asks the operating system (XGETBV) whether it saves the wide
// registers, so a feature reported here can be used.
#define REPRISE_FEATURE(llvm, gcc, level)                   \
  Feature {                                                 \
    llvm, CpuLevel::level, __builtin_cpu_supports(gcc) != 0 \
  }

std::string feature_string(CpuLevel level) {
  __builtin_cpu_init();
  // Only what kernels can profit from; the order is fixed, as it is part of every kernel key.
  const Feature features[] = {
      REPRISE_FEATURE("sse2", "sse2", Sse2),
      // SSE3 to SSE4.2 are not a level of their own: a machine limited to SSE2 on purpose must run
      // what the oldest one would.
      REPRISE_FEATURE("sse3", "sse3", Avx2),
      REPRISE_FEATURE("ssse3", "ssse3", Avx2),
      REPRISE_FEATURE("sse4.1", "sse4.1", Avx2),
      REPRISE_FEATURE("sse4.2", "sse4.2", Avx2),
      REPRISE_FEATURE("popcnt", "popcnt", Avx2),
      REPRISE_FEATURE("avx", "avx", Avx2),
      REPRISE_FEATURE("avx2", "avx2", Avx2),
      REPRISE_FEATURE("fma", "fma", Avx2),
      REPRISE_FEATURE("f16c", "f16c", Avx2),
      REPRISE_FEATURE("bmi", "bmi", Avx2),
      REPRISE_FEATURE("bmi2", "bmi2", Avx2),
      REPRISE_FEATURE("lzcnt", "lzcnt", Avx2),
      REPRISE_FEATURE("avx512f", "avx512f", Avx512),
      REPRISE_FEATURE("avx512cd", "avx512cd", Avx512),
      REPRISE_FEATURE("avx512bw", "avx512bw", Avx512),
      REPRISE_FEATURE("avx512dq", "avx512dq", Avx512),
      REPRISE_FEATURE("avx512vl", "avx512vl", Avx512),
      REPRISE_FEATURE("avx512vnni", "avx512vnni", Avx512),
      REPRISE_FEATURE("avx512bf16", "avx512bf16", Avx512),
      REPRISE_FEATURE("avx512vbmi", "avx512vbmi", Avx512),
  };
  std::string text;
  for (const Feature& feature : features) {
    if (!feature.present || feature.level > level) continue;
    if (!text.empty()) text += ',';
    text += '+';
    text += feature.llvm;
  }
  return text;
}

#undef REPRISE_FEATURE

/// "32K" or "8192K" or "16M" in bytes; 0 when it is none of these.
int64_t parse_size(const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (number <= 0 || number > (1LL << 40)) return 0;
  switch (*end) {
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    default:
      return number;
  }
}

/// Size of a core's data cache of one level, or `fallback` where the system does not say.
int64_t cache_size(int level, int sysconf_name, int64_t fallback) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string found_level, type, size;
    if (!(std::ifstream(folder + "level") >> found_level)) break;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "size") >> size)) {
      continue;
    }
    if (found_level != std::to_string(level) || type == "Instruction") continue;
    if (const int64_t bytes = parse_size(size); bytes > 0) return bytes;
  }
  // Virtual machines may hide the list. What is left to ask then gives the last cache of the whole
  // package, of which a core reaches its cluster's share.
  constexpr long kClusterShare = 32 << 20;
  const long bytes = std::min(sysconf(sysconf_name), kClusterShare);
  return bytes > 0 ? bytes : fallback;
}

}  // namespace

CpuLevel detected_cpu_level() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
  if (!avx2) return CpuLevel::Sse2;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? CpuLevel::Avx512 : CpuLevel::Avx2;
}

TargetInfo cpu_target(CpuLevel limit) {
  const CpuLevel level = std::min(limit, detected_cpu_level());
  TargetInfo target;
  target.kind = TargetKind::Cpu;
  target.triple = "x86_64-unknown-linux-gnu";
  target.features = feature_string(level);
  switch (level) {
    case CpuLevel::Sse2:
      target.vector_bytes = 16;
      target.vector_registers = 16;
      break;
    case CpuLevel::Avx2:
      target.vector_bytes = 32;
      target.vector_registers = 16;
      break;
    case CpuLevel::Avx512:
      target.vector_bytes = 64;
      target.vector_registers = 32;
      break;
  }
  target.numerics.fma = level >= CpuLevel::Avx2;
  target.numerics.bf16_pairs = target.features.find("+avx512bf16") != std::string::npos;
  target.l1_bytes = cache_size(1, _SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = cache_size(2, _SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  target.l3_bytes = cache_size(3, _SC_LEVEL3_CACHE_SIZE, target.l3_bytes);
  return target;
}

TargetInfo cpu_target() {
  const char* wanted = std::getenv("REPRISE_CPU");
  if (wanted == nullptr || *wanted == 0) return cpu_target(CpuLevel::Avx512);
  const std::string_view name = wanted;
  if (name == "sse2") return cpu_target(CpuLevel::Sse2);
  if (name == "avx2") return cpu_target(CpuLevel::Avx2);
  if (name == "avx512") return cpu_target(CpuLevel::Avx512);
  throw DeviceError(str("REPRISE_CPU is \"", name, "\": expected sse2, avx2 or avx512"));
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "x86-64";
}

}  // namespace reprise
