// Values of a graph as scalars of a body: nodes evaluated at index maps.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/scalar.h"
#include "passes/index_map.h"
#include "passes/lower_draft.h"

namespace reprise {

/// What is loaded and what is recomputed: the group that stores each node, or kNoGroup.
inline constexpr uint32_t kNoGroup = UINT32_MAX;
struct StoredValues {
  std::vector<uint32_t> group_of;
  [[nodiscard]] bool is_stored(NodeId node) const { return group_of[node.index] != kNoGroup; }
};

/// Splitting `variable`'s loop so that the inner one has extent `inner` would make an index affine.
struct SplitRequest {
  uint32_t variable = 0;
  int64_t inner = 0;
};

/// Emits the values of one body. Nothing here recurses over the graph's depth; a pair of node and
/// index map is emitted once.
class ValueLowering {
 public:
  /// `group` is the one being lowered: values it stores itself are computed, those of others
  /// loaded.
  ValueLowering(const Graph& graph, const StoredValues& stored, uint32_t group, KernelDraft& draft,
                Body& body, uint32_t num_variables)
      : graph_(graph),
        stored_(stored),
        group_(group),
        draft_(draft),
        builder_(body),
        num_variables_(num_variables) {}

  [[nodiscard]] IndexSpace& space() { return space_; }
  [[nodiscard]] ScalarBuilder& builder() { return builder_; }

  /// Makes `node` at `map` known: an anchor's result in its epilogue.
  void bind(NodeId node, IndexMap map, ScalarId value);
  [[nodiscard]] ScalarId value(NodeId node, IndexMap map);
  /// The scalars of `node` at `map`: two of a pair made here, its parts, else one.
  [[nodiscard]] SmallVector<ScalarId, 2> scalars(NodeId node, const IndexMap& map);
  /// Writes values of this group to their buffers. All of them are computed before the first store,
  /// so that every load of a point precedes its stores.
  void store(NodeId node, const IndexMap& map, std::span<const ScalarId> scalars);

  /// Element `element` of a buffer.
  [[nodiscard]] Access access(BufferId buffer, const IndexExpr& element);
  /// An expression as an i64 scalar.
  [[nodiscard]] ScalarId scalar(const IndexExpr& e);

  [[nodiscard]] std::span<const SplitRequest> split_requests() const { return requests_; }

 private:
  using MapId = uint32_t;
  struct Place {
    NodeId node;
    MapId map = 0;
  };
  struct Frame {
    Place place;
    SmallVector<Place, 3> operands;
    bool gathered = false;  ///< the index of a gather is known; its data comes next
  };

  [[nodiscard]] static uint64_t key(Place place) {
    return static_cast<uint64_t>(place.node.index) << 32 | place.map;
  }
  [[nodiscard]] bool is_loaded(NodeId node) const {
    return graph_[node].op == Op::Input ||
           (stored_.is_stored(node) && stored_.group_of[node.index] != group_);
  }
  [[nodiscard]] Frame frame(Place place);
  [[nodiscard]] Place operand_place(Place place, NodeId operand);
  [[nodiscard]] Place gather_data(Place place, ScalarId index);
  [[nodiscard]] ScalarId compute(const Frame& frame);
  [[nodiscard]] ScalarId load(Place place);
  [[nodiscard]] ScalarId load_part(Place place);
  [[nodiscard]] ScalarId pad(const Frame& frame);
  [[nodiscard]] ScalarId mask(std::span<const IndexCondition> conditions);
  /// The affine part of an expression in a body's form; the rest is summed into `dynamic`.
  [[nodiscard]] Affine affine(const IndexExpr& e, ScalarId* dynamic);
  void emit_atoms(const IndexExpr& e);
  void request_split(const IndexAtom& atom);

  const Graph& graph_;
  const StoredValues& stored_;
  uint32_t group_;
  KernelDraft& draft_;
  ScalarBuilder builder_;
  uint32_t num_variables_;
  IndexSpace space_;
  std::unordered_map<uint64_t, ScalarId> values_;
  std::unordered_map<uint32_t, ScalarId> atoms_;
  std::vector<SplitRequest> requests_;
};

}  // namespace reprise
