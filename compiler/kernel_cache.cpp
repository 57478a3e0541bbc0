// The key of a kernel's code is everything that may alter it, as text.
#include "compiler/kernel_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

#include "ir/error.h"
#include "ir/log.h"

namespace reprise {

namespace {

std::vector<uint64_t> kernel_key(const Backend& backend, const Kernel& kernel,
                                 const Schedule& schedule, const TargetInfo& target,
                                 const CompileOptions& options) {
  const std::string text =
      str(backend.name(), '\n', backend.version(), '\n', to_string(target), '\n',
          options.fast_math ? "fast_math" : "strict", '\n', print(kernel), print(schedule));
  // The length comes last: keys that begin alike are near each other.
  std::vector<uint64_t> words((text.size() + 7) / 8);
  std::memcpy(words.data(), text.data(), text.size());
  words.push_back(text.size());
  return words;
}

std::string_view text_of(std::span<const uint64_t> key) {
  return {reinterpret_cast<const char*>(key.data()), key.back()};
}

std::string_view line_at(std::string_view text, size_t position) {
  const size_t begin = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// Says what sets a new kernel apart from the one in the cache that agrees with it the longest.
void explain_miss(std::span<const uint64_t> key, const OnceCache<KernelCode>& cache) {
  const std::vector<uint64_t> nearest = cache.nearest(key);
  if (nearest.empty()) {
    log_line("cache", "kernel miss: no kernel is cached yet");
    return;
  }
  const std::string_view mine = text_of(key), theirs = text_of(nearest);
  const auto differ = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end()).first;
  const auto at = static_cast<size_t>(differ - mine.begin());
  log_line("cache", str("kernel miss: `", line_at(mine, at), "` where the nearest has `",
                        line_at(theirs, std::min(at, theirs.size())), '`'));
}

size_t bytes_of(std::span<const uint64_t> key, const KernelCode& code) {
  return key.size_bytes() + code.bytes.size();
}

}  // namespace

KernelCache::KernelCache() : cache_(kCapacityBytes, bytes_of) {}

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
        if (log_wants("cache")) explain_miss(key, cache_);
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
