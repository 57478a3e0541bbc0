// The key of a kernel's code is everything that may alter it, as text.
#include "compiler/kernel_cache.h"

#include <xxhash.h>

#include <cstring>

#include "ir/error.h"

namespace reprise {

namespace {

std::vector<uint64_t> kernel_key(const Backend& backend, const Kernel& kernel,
                                 const Schedule& schedule, const TargetInfo& target,
                                 const CompileOptions& options) {
  const std::string text =
      str(backend.name(), '\n', backend.version(), '\n', to_string(target), '\n',
          options.fast_math ? "fast_math" : "strict", '\n', print(kernel), print(schedule));
  std::vector<uint64_t> words(1 + (text.size() + 7) / 8);
  words[0] = text.size();
  std::memcpy(words.data() + 1, text.data(), text.size());
  return words;
}

}  // namespace

std::shared_ptr<const KernelCode> KernelCache::get(const Backend& backend, const Kernel& kernel,
                                                   const Schedule& schedule,
                                                   const TargetInfo& target,
                                                   const CompileOptions& options,
                                                   const DumpText& dump) {
  const std::vector<uint64_t> key = kernel_key(backend, kernel, schedule, target, options);
  bool made = false;
  auto code = cache_.get_or_make(
      XXH3_64bits(key.data(), key.size() * sizeof(uint64_t)), key,
      [&] {
        return std::make_shared<const KernelCode>(backend.generate(kernel, schedule, target, dump));
      },
      &made);
  ++(made ? compiled_ : hits_);
  return code;
}

KernelCacheStats KernelCache::stats() const {
  return {compiled_, hits_};
}

void KernelCache::reset_stats() {
  compiled_ = 0;
  hits_ = 0;
}

}  // namespace reprise
