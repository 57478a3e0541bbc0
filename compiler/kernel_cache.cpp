// The key of a kernel's code is everything that may alter it, as text.
#include "compiler/kernel_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

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

std::vector<std::shared_ptr<const KernelCode>> KernelCache::get_all(
    const Backend& backend, const CompiledGraph& compiled, const TargetInfo& target,
    const CompileOptions& options, int threads, const DumpText& dump) {
  const size_t count = compiled.kernels.size();
  std::vector<std::shared_ptr<const KernelCode>> codes(count);
  std::vector<std::exception_ptr> errors(count);
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < count;) {
      DumpText named;
      if (dump) {
        named = [&dump, i](std::string_view what, std::string_view text) {
          dump(str("kernel", i, '.', what), text);
        };
      }
      try {
        codes[i] = get(backend, compiled.kernels[i], compiled.schedules[i], target, options, named);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> others;
  for (size_t i = 1; i < std::min(count, static_cast<size_t>(threads)); ++i) {
    others.emplace_back(work);
  }
  work();
  others.clear();  // joins
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return codes;
}

KernelCacheStats KernelCache::stats() const {
  return {compiled_, hits_};
}

void KernelCache::reset_stats() {
  compiled_ = 0;
  hits_ = 0;
}

}  // namespace reprise
