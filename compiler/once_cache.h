// A bounded cache that finds by hash, decides by comparison, and makes each value once.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace reprise {

/// For tests: every hash of every cache is the same, and only comparisons tell entries apart. To be
/// set while the caches are empty or not in use.
inline std::atomic<bool> all_hashes_collide{false};

/// Keys are words. Two keys with one hash are two entries: a collision is never a wrong answer.
/// Threads that miss on one key at once wait for the one that makes it; if making throws, every
/// waiter tries for itself. Entries weigh what `weigh` says, 1 unless told; past a total of
/// `capacity` the least recently used go first.
template <class T>
class OnceCache {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Weigh = size_t (*)(std::span<const uint64_t> key, const T& value);
  explicit OnceCache(size_t capacity, Weigh weigh = nullptr) : capacity_(capacity), weigh_(weigh) {}

  /// The value under `key`, or null. Counts as a use.
  [[nodiscard]] Ptr find(uint64_t hash, std::span<const uint64_t> key) {
    std::lock_guard lock(mutex_);
    const auto it = locate(hash, key);
    if (it == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it);
    return it->value;
  }

  /// The value under `key`, made by `make` if there is none. `made` tells whether it was made here.
  [[nodiscard]] Ptr get_or_make(uint64_t hash, std::span<const uint64_t> key,
                                const std::function<Ptr()>& make, bool* made = nullptr) {
    std::unique_lock lock(mutex_);
    if (made) *made = false;
    for (;;) {
      const auto it = locate(hash, key);
      if (it == entries_.end()) break;
      if (it->value) {
        entries_.splice(entries_.begin(), entries_, it);
        return it->value;
      }
      changed_.wait(lock);
    }
    entries_.push_front(Entry{index_hash(hash), {key.begin(), key.end()}, nullptr, 0});
    const auto mine = entries_.begin();
    const auto indexed = index_.emplace(mine->hash, mine);
    lock.unlock();
    Ptr value;
    try {
      value = make();
    } catch (...) {
      lock.lock();
      index_.erase(indexed);
      entries_.erase(mine);
      changed_.notify_all();
      throw;
    }
    lock.lock();
    mine->value = value;
    mine->weight = weigh_ != nullptr ? weigh_(mine->key, *value) : 1;
    weight_ += mine->weight;
    if (made) *made = true;
    changed_.notify_all();
    evict(mine);
    return value;
  }

  [[nodiscard]] size_t size() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }
  [[nodiscard]] size_t weight() const {
    std::lock_guard lock(mutex_);
    return weight_;
  }
  void clear() {
    std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      it = it->value ? drop(it) : std::next(it);
    }
  }
  /// The key in the cache that agrees with `key` the longest from its beginning; empty when the
  /// cache is. For explaining a miss.
  [[nodiscard]] std::vector<uint64_t> nearest(std::span<const uint64_t> key) const {
    std::lock_guard lock(mutex_);
    std::span<const uint64_t> best;
    size_t longest = 0;
    for (const Entry& entry : entries_) {
      if (!entry.value) continue;
      const auto differ =
          std::mismatch(key.begin(), key.end(), entry.key.begin(), entry.key.end()).first;
      const auto common = static_cast<size_t>(differ - key.begin());
      if (best.empty() || common > longest) {
        best = entry.key;
        longest = common;
      }
    }
    return {best.begin(), best.end()};
  }

 private:
  struct Entry {
    uint64_t hash;
    std::vector<uint64_t> key;
    Ptr value;  ///< null while it is being made
    size_t weight;
  };
  using List = std::list<Entry>;

  static uint64_t index_hash(uint64_t hash) {
    return all_hashes_collide.load(std::memory_order_relaxed) ? 0 : hash;
  }

  typename List::iterator locate(uint64_t hash, std::span<const uint64_t> key) {
    const auto [first, last] = index_.equal_range(index_hash(hash));
    for (auto it = first; it != last; ++it) {
      if (std::equal(it->second->key.begin(), it->second->key.end(), key.begin(), key.end())) {
        return it->second;
      }
    }
    return entries_.end();
  }
  typename List::iterator drop(typename List::iterator entry) {
    const auto [first, last] = index_.equal_range(entry->hash);
    for (auto it = first; it != last; ++it) {
      if (it->second == entry) {
        index_.erase(it);
        break;
      }
    }
    weight_ -= entry->weight;
    return entries_.erase(entry);
  }
  /// The newest stays, however heavy: whoever made it asks for it again.
  void evict(typename List::iterator newest) {
    for (auto it = entries_.end(); weight_ > capacity_ && it != entries_.begin();) {
      --it;
      if (it->value && it != newest) it = drop(it);
    }
  }

  const size_t capacity_;
  const Weigh weigh_;
  size_t weight_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  List entries_;  ///< most recently used first
  std::unordered_multimap<uint64_t, typename List::iterator> index_;
};

}  // namespace reprise
