// Code by kernel: canonical kernel, schedule, target, options and generator version to bytes.
#pragma once

#include <atomic>
#include <memory>

#include "codegen/backend.h"
#include "compiler/once_cache.h"
#include "compiler/pipeline.h"

namespace reprise {

struct KernelCacheStats {
  uint64_t compiled = 0;
  uint64_t hits = 0;
};

/// Keeps code bytes in memory. Thread-safe; concurrent misses of one kernel generate it once.
class KernelCache {
 public:
  KernelCache() : cache_(kCapacity) {}

  [[nodiscard]] std::shared_ptr<const KernelCode> get(const Backend& backend, const Kernel& kernel,
                                                      const Schedule& schedule,
                                                      const TargetInfo& target,
                                                      const CompileOptions& options,
                                                      const DumpText& dump = {});
  [[nodiscard]] KernelCacheStats stats() const;
  void reset_stats();
  void clear() { cache_.clear(); }

 private:
  static constexpr size_t kCapacity = 4096;
  OnceCache<KernelCode> cache_;
  std::atomic<uint64_t> compiled_{0}, hits_{0};
};

}  // namespace reprise
