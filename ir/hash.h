// 128-bit keys of graphs and kernels, and the byte strings that decide when two keys meet.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

class Graph;
struct Kernel;

/// A hash finds, a byte comparison decides: never take equal hashes for equal things.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

[[nodiscard]] Hash128 hash_bytes(std::span<const std::byte> bytes);
[[nodiscard]] inline Hash128 hash_bytes(std::string_view text) {
  return hash_bytes(std::as_bytes(std::span(text)));
}
/// Mixes one more word into a rolling 64-bit hash; for tables inside one process only.
[[nodiscard]] uint64_t mix_hash(uint64_t hash, uint64_t word);
/// 32 hexadecimal digits, for file names and logs.
[[nodiscard]] std::string to_string(Hash128 hash);

/// Everything there is to a graph (a kernel) as bytes: equal bytes, equal meaning. Independent of
/// addresses and of the process; graphs with registered ops keep the op's number of this process.
[[nodiscard]] std::vector<std::byte> key_bytes(const Graph& graph);
[[nodiscard]] std::vector<std::byte> key_bytes(const Kernel& kernel);
[[nodiscard]] Hash128 hash(const Graph& graph);
[[nodiscard]] Hash128 hash(const Kernel& kernel);

}  // namespace reprise

template <>
struct std::hash<reprise::Hash128> {
  size_t operator()(const reprise::Hash128& hash) const noexcept { return hash.low; }
};
