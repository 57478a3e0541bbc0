// The cache under plans and code: finds by hash, decides by comparison, makes once, stays bounded.
#include "compiler/once_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace reprise {
namespace {

using Cache = OnceCache<int>;

TEST(OnceCache, EqualHashesOfDifferentKeysAreDifferentEntries) {
  Cache cache(8);
  const uint64_t a[] = {1, 2}, b[] = {1, 3}, shorter[] = {1};
  EXPECT_EQ(*cache.get_or_make(7, a, [] { return std::make_shared<const int>(10); }), 10);
  EXPECT_EQ(*cache.get_or_make(7, b, [] { return std::make_shared<const int>(20); }), 20);
  EXPECT_EQ(*cache.find(7, a), 10);
  EXPECT_EQ(*cache.find(7, b), 20);
  EXPECT_EQ(cache.find(7, shorter), nullptr);
}

TEST(OnceCache, ConcurrentMissesMakeOnce) {
  Cache cache(8);
  const uint64_t key[] = {42};
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto value = cache.get_or_make(1, key, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_shared<const int>(++made);
      });
      EXPECT_EQ(*value, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(OnceCache, AFailureIsThrownToItsCallerAndTheNextOneTries) {
  Cache cache(8);
  const uint64_t key[] = {1};
  EXPECT_THROW(
      (void)cache.get_or_make(1, key, []() -> Cache::Ptr { throw std::runtime_error("no"); }),
      std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(*cache.get_or_make(1, key, [] { return std::make_shared<const int>(5); }), 5);
}

TEST(OnceCache, TheLeastRecentlyUsedGoesFirst) {
  Cache cache(2);
  const uint64_t keys[][1] = {{0}, {1}, {2}};
  for (uint64_t i = 0; i < 2; ++i) {
    (void)cache.get_or_make(i, keys[i],
                            [&] { return std::make_shared<const int>(static_cast<int>(i)); });
  }
  EXPECT_NE(cache.find(0, keys[0]), nullptr);  // used: now 1 is the oldest
  (void)cache.get_or_make(2, keys[2], [] { return std::make_shared<const int>(2); });
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.find(0, keys[0]), nullptr);
  EXPECT_EQ(cache.find(1, keys[1]), nullptr);
}

TEST(OnceCache, TheBoundIsAWeight) {
  Cache cache(
      100, [](std::span<const uint64_t>, const int& value) { return static_cast<size_t>(value); });
  const auto put = [&](uint64_t key, int weight) {
    return *cache.get_or_make(key, std::span(&key, 1),
                              [&] { return std::make_shared<const int>(weight); });
  };
  const auto has = [&](uint64_t key) { return cache.find(key, std::span(&key, 1)) != nullptr; };
  put(1, 40);
  put(2, 40);
  EXPECT_TRUE(has(1));
  put(3, 40);  // 2 was used the longest ago
  EXPECT_EQ(cache.weight(), 80u);
  EXPECT_FALSE(has(2));
  EXPECT_TRUE(has(1));
  EXPECT_EQ(put(4, 1000), 1000);  // heavier than all: stays until the next one
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(has(4));
  put(5, 1);
  EXPECT_FALSE(has(4));
  EXPECT_EQ(cache.weight(), 1u);
}

TEST(OnceCache, CollidingHashesAreToldApart) {
  all_hashes_collide = true;
  Cache cache(8);
  for (uint64_t key = 0; key < 5; ++key) {
    (void)cache.get_or_make(key * 77, std::span(&key, 1),
                            [&] { return std::make_shared<const int>(static_cast<int>(key)); });
  }
  for (uint64_t key = 0; key < 5; ++key) {
    EXPECT_EQ(*cache.find(key * 31, std::span(&key, 1)), static_cast<int>(key));
  }
  all_hashes_collide = false;
}

}  // namespace
}  // namespace reprise
