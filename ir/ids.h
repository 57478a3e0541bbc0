// Typed 4-byte ids that print as their syntax.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

namespace reprise {

/// An index into one kind of table. `Tag::kPrefix` is how the id prints before its number.
template <class Tag>
struct Id {
  uint32_t index = UINT32_MAX;

  [[nodiscard]] bool valid() const { return index != UINT32_MAX; }
  friend auto operator<=>(const Id&, const Id&) = default;
  friend std::ostream& operator<<(std::ostream& out, Id id) {
    return out << Tag::kPrefix << id.index;
  }
};

struct NodeTag {
  static constexpr const char* kPrefix = "%";
};
struct ScalarTag {
  static constexpr const char* kPrefix = "%";
};
struct BufferTag {
  static constexpr const char* kPrefix = "b";
};
struct SlotTag {
  static constexpr const char* kPrefix = "s";
};

/// A value of a graph.
using NodeId = Id<NodeTag>;
/// A value of a stage's scalar body.
using ScalarId = Id<ScalarTag>;
/// A buffer of a kernel.
using BufferId = Id<BufferTag>;
/// A memory slot of a plan.
using SlotId = Id<SlotTag>;

}  // namespace reprise

template <class Tag>
struct std::hash<reprise::Id<Tag>> {
  size_t operator()(reprise::Id<Tag> id) const noexcept { return id.index; }
};
