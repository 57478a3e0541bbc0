// Files of a header, the whole key and the value, and whom to trust with them.
#include "compiler/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "ir/error.h"
#include "ir/hash.h"
#include "ir/log.h"

namespace reprise {

namespace {

namespace fs = std::filesystem;

struct Header {
  std::array<char, 8> magic{'r', 'e', 'p', 'r', 'i', 's', 'e', '\n'};
  uint32_t version = 1;  ///< of this layout
  uint32_t header_bytes = sizeof(Header);
  uint64_t key_bytes = 0, value_bytes = 0;
  uint64_t checksum[2] = {0, 0};  ///< of key and value
  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) == 48);

constexpr std::string_view kSuffix = ".entry", kUnfinished = ".unfinished";
/// An unfinished file this old belongs to a process that ended.
constexpr auto kAbandoned = std::chrono::hours(1);

Header header_of(std::string_view key, std::span<const std::byte> value) {
  std::vector<std::byte> all(key.size() + value.size());
  if (!key.empty()) std::memcpy(all.data(), key.data(), key.size());
  if (!value.empty()) std::memcpy(all.data() + key.size(), value.data(), value.size());
  const Hash128 hash = hash_bytes(all);
  Header header;
  header.key_bytes = key.size();
  header.value_bytes = value.size();
  header.checksum[0] = hash.low;
  header.checksum[1] = hash.high;
  return header;
}

/// Closes what it opened.
class File {
 public:
  File(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

  [[nodiscard]] bool read(void* to, size_t bytes) const {
    auto* place = static_cast<std::byte*>(to);
    while (bytes > 0) {
      const ssize_t got = ::read(descriptor_, place, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      place += got;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }
  [[nodiscard]] bool write(const void* from, size_t bytes) const {
    const auto* place = static_cast<const std::byte*>(from);
    while (bytes > 0) {
      const ssize_t put = ::write(descriptor_, place, bytes);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      place += put;
      bytes -= static_cast<size_t>(put);
    }
    return true;
  }

 private:
  const int descriptor_;
};

/// Whether nobody but this user could have written it.
bool is_own(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

fs::path user_folder() {
  if (const char* const named = std::getenv("REPRISE_CACHE_DIR")) return named;
  if (const char* const caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches == '/')
    return fs::path(caches) / "reprise";
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "reprise";
  return {};
}

}  // namespace

DiskCache::DiskCache(fs::path folder, uint64_t capacity)
    : folder_(std::move(folder)), capacity_(capacity) {}

DiskCache& DiskCache::user() {
  static DiskCache& cache = *new DiskCache(user_folder());  // used until the very end
  return cache;
}

fs::path DiskCache::file_of(std::string_view key) const {
  const Hash128 hash = hash_bytes(std::as_bytes(std::span(key)));
  return folder_ / str(to_string(hash), kSuffix);
}

bool DiskCache::is_trusted() const {
  struct stat status {};
  if (folder_.empty() || ::stat(folder_.c_str(), &status) != 0) return false;
  if (S_ISDIR(status.st_mode) && is_own(status)) return true;
  if (log_wants("cache")) log_line("cache", str("not used: others can write ", folder_.string()));
  return false;
}

std::optional<std::vector<std::byte>> DiskCache::find(std::string_view key) const {
  if (!is_trusted()) return std::nullopt;
  const File file(file_of(key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat status {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !is_own(status)) return std::nullopt;
  Header header;
  if (!file.read(&header, sizeof header)) return std::nullopt;
  const auto bytes = static_cast<uint64_t>(status.st_size);
  // Told apart before anything is allocated for what a damaged header says.
  if (header.key_bytes != key.size() || header.value_bytes > bytes ||
      bytes != sizeof header + key.size() + header.value_bytes) {
    return std::nullopt;
  }
  std::string stored(key.size(), '\0');
  std::vector<std::byte> value(header.value_bytes);
  if (!file.read(stored.data(), stored.size()) || stored != key) return std::nullopt;
  if (!file.read(value.data(), value.size()) || header != header_of(key, value)) {
    return std::nullopt;
  }
  ::futimens(file.descriptor(), nullptr);  // used now; where that fails it seems older than it is
  return value;
}

bool DiskCache::store(std::string_view key, std::span<const std::byte> value) const {
  if (folder_.empty()) return false;
  std::error_code error;
  if (!fs::exists(folder_, error)) {
    fs::create_directories(folder_.parent_path(), error);
    ::mkdir(folder_.c_str(), 0700);
  }
  const Header header = header_of(key, value);
  if (!is_trusted() || sizeof header + key.size() + value.size() > capacity_) return false;
  static std::atomic<uint64_t> number{0};
  const fs::path finished = file_of(key);
  const fs::path path = str(finished.string(), '.', ::getpid(), '-', number++, kUnfinished);
  bool written = false;
  {
    const File file(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW);
    if (file.descriptor() < 0) return false;
    written = file.write(&header, sizeof header) && file.write(key.data(), key.size()) &&
              file.write(value.data(), value.size());
  }
  written = written && ::rename(path.c_str(), finished.c_str()) == 0;
  if (!written) ::unlink(path.c_str());
  if (written) evict();
  return written;
}

void DiskCache::evict() const {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process may be at it too
    const fs::file_time_type used = fs::last_write_time(it->path(), gone);
    const uint64_t bytes = gone ? 0 : fs::file_size(it->path(), gone);
    if (gone) continue;
    if (it->path().extension() == kSuffix) {
      entries.push_back({used, bytes, it->path()});
      total += bytes;
    } else if (it->path().extension() == kUnfinished &&
               used + kAbandoned < fs::file_time_type::clock::now()) {
      fs::remove(it->path(), gone);
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (size_t i = 0; i < entries.size() && total > capacity_; ++i) {
    std::error_code gone;
    fs::remove(entries[i].path, gone);
    total -= entries[i].bytes;
  }
}

}  // namespace reprise
