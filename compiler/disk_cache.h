// What outlives the process: byte strings by key, a file each, in a folder of the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reprise {

/// Nothing here throws or stops a program: what cannot be read is a miss, what cannot be written is
/// not kept. Threads and processes may share a folder: entries are written under another name and
/// renamed. The folder must be the user's own, which nobody else can write.
class DiskCache {
 public:
  /// An empty name keeps nothing. The folder is made when something is stored. Past `capacity`
  /// bytes the entries used the longest ago go.
  explicit DiskCache(std::filesystem::path folder, uint64_t capacity = uint64_t{512} << 20);

  /// The user's: REPRISE_CACHE_DIR (empty: none), else reprise in XDG_CACHE_HOME or in ~/.cache.
  [[nodiscard]] static DiskCache& user();

  /// The bytes stored under this key, to the last bit. Counts as a use.
  [[nodiscard]] std::optional<std::vector<std::byte>> find(std::string_view key) const;
  /// Takes the place of what was stored under the key. Whether it was written.
  bool store(std::string_view key, std::span<const std::byte> value) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The file of a key.
  [[nodiscard]] std::filesystem::path file_of(std::string_view key) const;

 private:
  [[nodiscard]] bool is_trusted() const;
  void evict() const;

  const std::filesystem::path folder_;
  const uint64_t capacity_;
};

}  // namespace reprise
