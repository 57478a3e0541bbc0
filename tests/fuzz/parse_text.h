// What must hold for any text or file that a parser of ours is given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

enum class TextKind : uint8_t { Graph, Kernel, Schedule, Plan, Npy, Idx };
inline constexpr TextKind kTextKinds[] = {TextKind::Graph, TextKind::Kernel, TextKind::Schedule,
                                          TextKind::Plan,  TextKind::Npy,    TextKind::Idx};
[[nodiscard]] std::string_view name(TextKind kind);

/// How far a text got.
enum class ParseOutcome : uint8_t {
  Refused,   ///< by the parser, with an error that says why
  Parsed,    ///< and its printed form parses to itself, but the verifier names a rule it breaks
  Verified,  ///< and what runs it takes it, as far as it is small enough to be run
};
/// Throws InternalError when anything else happens.
ParseOutcome check_text(TextKind kind, std::string_view text);

/// Good texts: those of tests/cases, and some more.
[[nodiscard]] std::vector<std::string> seed_texts(TextKind kind);

/// One of `seeds`, spoilt in a few places; the same for the same state of `random`.
[[nodiscard]] std::string mutated(std::span<const std::string> seeds, uint64_t random);

}  // namespace reprise
