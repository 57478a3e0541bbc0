// What fusion knows before it starts: what ops cost, and what readers will need of each value.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace reprise {

// Costs are scalar operations per element; a transcendental counts as its polynomial does.

/// A value is recomputed by further readers while all of them together cost no more than this: less
/// than a transcendental, which costs about as much as writing and reading an element.
inline constexpr int64_t kRecomputeCost = 12;
/// A value at home in a group is recomputed elsewhere, from values that have memory, up to this.
inline constexpr int64_t kCheapCost = 8;
/// Recomputing for every element of a larger shape (a broadcast) is allowed up to this.
inline constexpr int64_t kExpandCost = 4;
/// Past this a value gets a group of its own, into which its consumers join.
inline constexpr int64_t kMaxFreeCost = 256;
inline constexpr int64_t kMaxFreeLoads = 64;
/// Loads in one kernel body, which bounds its buffers.
inline constexpr int64_t kMaxFusedLoads = 128;
/// Where sums of costs saturate: shared subexpressions count once for each path.
inline constexpr int64_t kMaxCost = 1 << 20;

/// Costs of ops, measured once for each op and dtypes on the scalar program they lower to.
class OpCosts {
 public:
  explicit OpCosts(const Graph& graph) : graph_(graph) {}
  [[nodiscard]] int64_t operator()(const Node& node);

 private:
  const Graph& graph_;
  std::unordered_map<uint64_t, int64_t> known_;
};

struct Needs {
  bool used = false;      ///< an output depends on it
  bool output = false;    ///< it is the memory of an output
  bool stored = false;    ///< it must have memory: an output, or read through strides
  bool expanded = false;  ///< some reader reads an element more than once
  bool uniform = false;   ///< one element, computed from constants and parameters alone
  /// An operand of a product, which reads it from memory unless it is cheap to compute there;
  /// `reuse`: elements of the result for each of its own; `batched`: both factors have a batch.
  bool factor = false;
  bool batched = false;
  int64_t reuse = 0;
  int64_t users = 0;  ///< nodes that read it, through movements too
};
[[nodiscard]] std::vector<Needs> find_needs(const Graph& graph);

/// Where an output's elements are when it needs no computation of its own: an input, or the value
/// `view.base` that is stored for it. Contiguous views of computed values, any view of an input.
struct OutputView {
  NodeId base;
  int64_t offset = 0;
  std::vector<int64_t> strides;
};
[[nodiscard]] bool output_view(const Graph& graph, NodeId output, OutputView* view);

}  // namespace reprise
