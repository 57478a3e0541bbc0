// What outlives the process, and everything that may be wrong with it: then it is a miss.
#include "compiler/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "ir/error.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

class Disk : public ::testing::Test {
 protected:
  void SetUp() override {
    static int number = 0;
    folder_ = fs::temp_directory_path() / str("reprise-disk-", ::getpid(), '-', number++);
  }
  void TearDown() override {
    std::error_code error;
    if (fs::exists(folder_)) ::chmod(folder_.c_str(), 0700);
    fs::remove_all(folder_, error);
  }
  static Bytes bytes(std::string_view text) {
    const auto all = std::as_bytes(std::span(text));
    return {all.begin(), all.end()};
  }
  /// Changes a byte of a key's file, or cuts it short.
  static void damage(const fs::path& file, size_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char changed = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(changed);
  }
  fs::path folder_;
};

TEST_F(Disk, GivesBackWhatWasStored) {
  const DiskCache cache(folder_ / "deeper");
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_TRUE(cache.store("key", bytes("value")));
  EXPECT_TRUE(cache.store("other", bytes("")));
  const DiskCache again(folder_ / "deeper");
  EXPECT_EQ(again.find("key"), bytes("value"));
  EXPECT_EQ(again.find("other"), bytes(""));
  EXPECT_TRUE(again.store("key", bytes("new value")));
  EXPECT_EQ(cache.find("key"), bytes("new value"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "deeper"), fs::directory_iterator()), 2);
}

TEST_F(Disk, AnyDamageIsAMiss) {
  const DiskCache cache(folder_);
  ASSERT_TRUE(cache.store("key", bytes("value")));
  const fs::path file = cache.file_of("key");
  const size_t size = fs::file_size(file);
  for (size_t at = 0; at < size; ++at) {
    ASSERT_TRUE(cache.store("key", bytes("value")));
    damage(file, at);
    EXPECT_EQ(cache.find("key"), std::nullopt) << "byte " << at;
    ASSERT_TRUE(cache.store("key", bytes("value")));
    fs::resize_file(file, at);
    EXPECT_EQ(cache.find("key"), std::nullopt) << at << " bytes";
  }
  ASSERT_TRUE(cache.store("key", bytes("value")));
  std::ofstream(file, std::ios::app) << "more";
  EXPECT_EQ(cache.find("key"), std::nullopt);
  ASSERT_TRUE(cache.store("key", bytes("value")));
  EXPECT_EQ(cache.find("key"), bytes("value"));
}

// The file's name is a hash, which only finds.
TEST_F(Disk, AnotherKeyUnderTheSameNameIsAMiss) {
  const DiskCache cache(folder_);
  ASSERT_TRUE(cache.store("key", bytes("value")));
  fs::rename(cache.file_of("key"), cache.file_of("yek"));
  EXPECT_EQ(cache.find("yek"), std::nullopt);
}

TEST_F(Disk, AFolderThatOthersWriteIsNotUsed) {
  const DiskCache cache(folder_);
  ASSERT_TRUE(cache.store("key", bytes("value")));
  ::chmod(folder_.c_str(), 0777);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  EXPECT_FALSE(cache.store("key", bytes("value")));
  ::chmod(folder_.c_str(), 0700);
  EXPECT_EQ(cache.find("key"), bytes("value"));
  ::chmod(cache.file_of("key").c_str(), 0666);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::rename(cache.file_of("key"), elsewhere);
  fs::create_symlink(elsewhere, cache.file_of("key"));
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST_F(Disk, WithoutAFolderNothingIsKept) {
  const DiskCache none("");
  EXPECT_FALSE(none.store("key", bytes("value")));
  EXPECT_EQ(none.find("key"), std::nullopt);
  std::ofstream(folder_) << "a file";
  const DiskCache no_folder(folder_);
  EXPECT_FALSE(no_folder.store("key", bytes("value")));
  EXPECT_EQ(no_folder.find("key"), std::nullopt);
  if (::geteuid() == 0) GTEST_SKIP() << "root writes where nobody may";
  fs::remove(folder_);
  fs::create_directory(folder_);
  ::chmod(folder_.c_str(), 0500);
  EXPECT_FALSE(no_folder.store("key", bytes("value")));
}

TEST_F(Disk, WhatWasUsedTheLongestAgoGoes) {
  const DiskCache cache(folder_, 3000);
  const Bytes large(900);
  const auto make_older = [&](std::string_view key, int minutes) {
    fs::last_write_time(cache.file_of(key),
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  ASSERT_TRUE(cache.store("a", large));
  ASSERT_TRUE(cache.store("b", large));
  ASSERT_TRUE(cache.store("c", large));
  make_older("a", 3);
  make_older("b", 2);
  make_older("c", 1);
  EXPECT_TRUE(cache.find("a").has_value());  // used now
  ASSERT_TRUE(cache.store("d", large));
  EXPECT_TRUE(cache.find("a").has_value());
  EXPECT_FALSE(cache.find("b").has_value());
  EXPECT_TRUE(cache.find("c").has_value());
  EXPECT_TRUE(cache.find("d").has_value());
  EXPECT_FALSE(cache.store("e", Bytes(4000)));
}

TEST_F(Disk, AbandonedFilesAreCleared) {
  const DiskCache cache(folder_);
  ASSERT_TRUE(cache.store("key", bytes("value")));
  const fs::path left = folder_ / "left.unfinished";
  std::ofstream(left) << "half";
  ASSERT_TRUE(cache.store("key", bytes("value")));
  EXPECT_TRUE(fs::exists(left));
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.store("key", bytes("value")));
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(Disk, ManyWriteAndReadAtOnce) {
  const DiskCache cache(folder_, 20000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::string key = str("key", (i + t) % 5);
        const Bytes value(1000 + static_cast<size_t>((i + t) % 5), std::byte{42});
        cache.store(key, value);
        const auto found = cache.find(key);
        if (found && *found != value) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace reprise
