// What fusion decides: groups of nodes that share a kernel, what each of them stores, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace reprise {

/// Why a value is computed where it is, or is not computed with what it reads.
enum class FuseReason : uint8_t {
  Epilogue,        ///< computed where an operand is
  SeenThrough,     ///< a permutation or reshape of a group's value: another place of its points
  Sibling,         ///< beside another value that reads the same
  Recomputed,      ///< read elsewhere, but cheap to compute from stored values there
  Prologue,        ///< computed where a product packs or reads its operand
  StoredAsOutput,  ///< an output, or read through strides
  StoredForOther,  ///< read by another kernel
  Dear,            ///< a group of its own: computing it again for every reader costs too much
  Dependence,      ///< not fused: what it reads may depend on the group
  OtherPlace,      ///< not fused: reads other elements of the group than its own
  Full,            ///< not fused: the kernel is full
};
inline constexpr int kNumFuseReasons = static_cast<int>(FuseReason::Full) + 1;
/// What `Fusion` prints of it.
[[nodiscard]] std::string_view text(FuseReason reason);

struct FusionNote {
  NodeId value;
  uint32_t group = 0;  ///< into Fusion::groups, or kNoGroup
  FuseReason reason = FuseReason::Epilogue;
  static constexpr uint32_t kNoGroup = UINT32_MAX;
};

/// A movement inside a group: it sees the group's points at another place. Place 0 is that of the
/// anchor's result.
struct FusionView {
  NodeId node;
  uint32_t from = 0;   ///< place of its operand
  uint32_t place = 0;  ///< its own
};

struct FusionGroup {
  std::vector<NodeId> stores;    ///< values this kernel writes, in graph order
  std::vector<uint32_t> places;  ///< of each of them
  std::vector<FusionView> views;
  NodeId anchor;  ///< the reduction or contraction in it, if any
};

struct Fusion {
  std::vector<FusionGroup> groups;  ///< in launch order
  std::vector<FusionNote> notes;    ///< for each edge that was a candidate
};

/// Groups in launch order with what they store, then the notes; for people and text cases.
[[nodiscard]] std::string print(const Fusion& fusion, const Graph& graph);
/// Only the notes, one line each.
[[nodiscard]] std::string explain(const Fusion& fusion, const Graph& graph);

}  // namespace reprise
