// Fusion: decides which values get memory and which kernel computes each of them.
//
// One pass in graph order. A value is either free (no home: recomputed inside every kernel that
// reads it) or at home in a group, computed at each point of that group's iteration. A group is
// opened by an anchor (reduction, contraction, scan, scatter, sort), or by an elementwise value
// that must be stored or is too dear to recompute; elementwise consumers of the same shape join it.
// What a consumer outside needs of a group is stored then, not before: a value that only its own
// group reads stays in registers.
//
// Each group has a level above the levels of all it reads. A value may join a group if everything
// else it reads lies on lower levels; so groups never depend on each other in a circle, and no
// search is needed to know it.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "ir/error.h"
#include "passes/fuse_costs.h"
#include "passes/fuse_prologue.h"
#include "passes/fuse_views.h"
#include "passes/graph_passes.h"
#include "passes/index_map.h"

namespace reprise {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph), op_cost_(graph), needs_(find_needs(graph)), values_(graph.size()) {}

  Fusion run() {
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (needs_[i].used) place(NodeId{i});
    }
    return finish();
  }

 private:
  struct ValueState {
    uint32_t home = kNone;  ///< group that computes it at its own points
    uint32_t place = 0;     ///< which view of the group's points those are
    uint32_t level = 0;     ///< free values: highest level of a group they read
    int64_t cost = 0;       ///< free values: scalar operations to compute one element
    int64_t loads = 0;      ///< free values: loads of one element, counted with repetition
    /// Free values: what one element is loaded from, the first few.
    SmallVector<uint32_t, 4> sources;
    uint32_t counted_by = kNone;  ///< group that has this free operand in its sums already
    bool stored = false;
    bool dear = false;        ///< has a home because recomputing costs too much
    bool recomputed = false;  ///< at home, but cheap to compute from stored values elsewhere
  };
  struct GroupState {
    NodeId anchor;
    uint32_t level = 0;
    std::vector<int64_t> shape;  ///< without axes of extent 1
    int64_t cost = 0;
    int64_t loads = 0;
    bool has_readers = false;  ///< its level is relied upon
    std::unique_ptr<GroupViews> views{};
  };

  // Values

  void place(NodeId id) {
    const Node& node = graph_[id];
    switch (op_def(node.op).kind) {
      case OpKind::Leaf:
      case OpKind::Gather:
        place_free(id);
        break;
      case OpKind::Elementwise:
        if (!join_operand(id)) place_free(id);
        break;
      case OpKind::Movement:
        place_movement(id);
        break;
      case OpKind::Reduction:
      case OpKind::Scan:
      case OpKind::Contraction:
      case OpKind::Scatter:
      case OpKind::Sort:
        place_anchor(id);
        break;
      case OpKind::Composite:
        REPRISE_ASSERT(false);
    }
    if (needs_[id.index].stored) store(id, FuseReason::StoredAsOutput);
    if (needs_[id.index].factor) store(id, FuseReason::StoredForOther);
  }

  /// Recomputed by each reader, unless that costs too much: then a group of its own is opened.
  void place_free(NodeId id) {
    const Node& node = graph_[id];
    ValueState& value = values_[id.index];
    value.cost = op_cost_(node);
    for (NodeId operand : node.operands) {
      value.level = std::max(value.level, read(operand, id));
      const ValueState& state = values_[operand.index];
      if (is_loaded(operand)) {
        value.loads += 1;
        add_source(value, operand.index);
      } else {
        value.cost += state.cost;
        value.loads += state.loads;
        for (uint32_t source : state.sources) add_source(value, source);
      }
    }
    value.cost = std::min(value.cost, kMaxCost);
    value.loads = std::min(value.loads, kMaxCost);
    if (node.op == Op::Input) return;
    value.dear = is_dear(id);
    const bool factor = needs_[id.index].factor && !is_prologue(id);
    if (needs_[id.index].stored || factor || value.dear) {
      if (!join_sibling(id)) open(id, NodeId{});
      if (value.dear) note(id, value.home, FuseReason::Dear);
    }
  }

  static void add_source(ValueState& value, uint32_t source) {
    if (value.sources.size() == kMaxSources) return;
    if (std::find(value.sources.begin(), value.sources.end(), source) == value.sources.end()) {
      value.sources.push_back(source);
    }
  }

  [[nodiscard]] bool is_dear(NodeId id) const {
    const ValueState& value = values_[id.index];
    const Needs& needs = needs_[id.index];
    if (value.cost > kMaxFreeCost || value.loads > kMaxFreeLoads) return true;
    // Uniform values are computed once a kernel, however often they are read.
    if (needs.uniform) return false;
    if (needs.expanded && value.cost > kExpandCost && graph_[id].type.shape.numel() > 1)
      return true;
    return (needs.users - 1) * value.cost > kRecomputeCost;
  }

  /// Whether the only product that reads a value may compute it there.
  [[nodiscard]] bool is_prologue(NodeId id) const {
    const ValueState& value = values_[id.index];
    const Needs& needs = needs_[id.index];
    // What a batch reads of other kernels is likely to become a stage beside it: the value is then
    // no more than a local, and packing it gains nothing.
    const bool beside = needs.batched && value.level > 0;
    return !beside && needs.users == 1 && value.cost <= kPrologueCost &&
           needs.reuse >= kPrologueReuse * value.cost &&
           reads_like_memory(graph_, id, [this](NodeId node) { return is_loaded(node); });
  }

  void place_movement(NodeId id) {
    const Node& node = graph_[id];
    const NodeId operand = node.operands[0];
    ValueState& value = values_[id.index];
    const bool is_after = node.op == Op::After;
    const uint32_t home = is_after ? kNone : open_home(operand);
    if (home != kNone && is_identity_movement(node, graph_[operand].type.shape)) {
      value.home = home;  // the same place of the same group
      value.place = values_[operand.index].place;
      value.cost = values_[operand.index].cost;
      return;
    }
    if (home != kNone && see_through(id, operand)) return;
    value.level = read(operand, id);
    if (is_after) value.level = std::max(value.level, await(node.operands[1]));
    value.cost = 1;
    if (is_loaded(operand)) {
      value.loads = 1;
      add_source(value, operand.index);
    } else {
      value.sources = values_[operand.index].sources;
      value.cost = std::min(kMaxCost, values_[operand.index].cost + 1);
      value.loads = values_[operand.index].loads;
    }
    if (needs_[id.index].stored || value.cost > kMaxFreeCost) open(id, NodeId{});
  }

  /// Makes a movement of an anchor's epilogue another place of the group's points.
  bool see_through(NodeId id, NodeId operand) {
    ValueState& value = values_[id.index];
    const uint32_t home = values_[operand.index].home;
    GroupState& group = groups_[home];
    if (!group.anchor.valid()) return false;
    if (group.views == nullptr) {
      group.views = std::make_unique<GroupViews>(graph_[group.anchor].type.shape);
    }
    const auto place = group.views->add(graph_, id, values_[operand.index].place);
    if (!place) return false;
    value.home = home;
    value.place = *place;
    value.cost = values_[operand.index].cost;
    note(id, home, FuseReason::SeenThrough);
    return true;
  }

  void place_anchor(NodeId id) {
    uint32_t level = 0;
    for (NodeId operand : graph_[id].operands) {
      level = std::max(level, read(operand, id));
      if (!is_loaded(operand)) values_[id.index].cost += values_[operand.index].cost;
    }
    values_[id.index].level = level;
    open(id, id);
    for (NodeId operand : graph_[id].operands) {
      while (op_def(graph_[operand].op).kind == OpKind::Movement) {
        operand = graph_[operand].operands[0];
      }
      if (needs_[operand.index].factor && values_[operand.index].home == kNone) {
        note(operand, values_[id.index].home, FuseReason::Prologue);
      }
    }
  }

  // Groups

  void open(NodeId id, NodeId anchor) {
    ValueState& value = values_[id.index];
    value.home = static_cast<uint32_t>(groups_.size());
    groups_.push_back({.anchor = anchor,
                       .level = value.level + 1,
                       .shape = squeezed(graph_[id].type.shape),
                       .cost = value.cost,
                       .loads = value.loads,
                       .has_readers = false,
                       .views = nullptr});
    value.cost = op_cost_(graph_[id]);
    if (!anchor.valid()) note_sources(id);
  }

  /// Tries to compute an elementwise value where one of its operands is computed.
  bool join_operand(NodeId id) {
    const Node& node = graph_[id];
    uint32_t group = kNone, place = 0;
    for (NodeId operand : node.operands) {
      const uint32_t home = open_home(operand);
      if (home == kNone || !same_place(operand, id)) continue;
      if (group == kNone || groups_[home].level > groups_[group].level) {
        group = home;
        place = values_[operand.index].place;
      }
    }
    if (group == kNone) return false;
    for (NodeId operand : node.operands) {
      if (values_[operand.index].home == group && values_[operand.index].place != place) {
        note(id, group, FuseReason::OtherPlace);
        return false;
      }
    }
    uint32_t level = 0;
    int64_t cost = groups_[group].cost + op_cost_(node), loads = groups_[group].loads;
    for (NodeId operand : node.operands) {
      const ValueState& state = values_[operand.index];
      if (state.home == group && same_place(operand, id)) continue;
      level = std::max(level, level_of(operand));
      if (state.counted_by == group) continue;
      if (is_loaded(operand) || state.home != kNone) {
        loads += 1;
      } else {
        cost += state.cost;
        loads += state.loads;
      }
    }
    // While nobody relies on the group's level, it can wait for what this operand needs.
    if (level >= groups_[group].level && groups_[group].has_readers) {
      note(id, group, FuseReason::Dependence);
      return false;
    }
    if (cost > kMaxFusedOps || loads > kMaxFusedLoads) {
      note(id, group, FuseReason::Full);
      return false;
    }
    for (NodeId operand : node.operands) {
      ValueState& state = values_[operand.index];
      if (state.home == group && same_place(operand, id)) continue;
      read(operand, id);
      state.counted_by = group;
    }
    groups_[group].level = std::max(groups_[group].level, level + 1);
    groups_[group].cost = cost;
    groups_[group].loads = loads;
    values_[id.index].home = group;
    values_[id.index].place = place;
    values_[id.index].cost = op_cost_(node);
    note(id, group, FuseReason::Epilogue);
    return true;
  }

  /// An elementwise value that is stored anyway may share the kernel of another that reads the
  /// same.
  bool join_sibling(NodeId id) {
    const ValueState& value = values_[id.index];
    for (uint32_t source : value.sources) {
      const auto found = readers_.find(source);
      if (found == readers_.end() || !is_worth_sharing(NodeId{source}, id)) continue;
      const uint32_t group = found->second;
      GroupState& state = groups_[group];
      if (value.level >= state.level || state.shape != squeezed(graph_[id].type.shape) ||
          state.cost + value.cost > kMaxFusedOps || state.loads + value.loads > kMaxFusedLoads) {
        continue;
      }
      state.cost += value.cost;
      state.loads += value.loads;
      values_[id.index].home = group;
      values_[id.index].cost = op_cost_(graph_[id]);
      note_sources(id);
      note(id, group, FuseReason::Sibling);
      return true;
    }
    return false;
  }

  /// What is small beside the value is read from a cache anyway.
  [[nodiscard]] bool is_worth_sharing(NodeId source, NodeId id) const {
    constexpr int64_t kSmallPart = 8;
    return graph_[source].type.shape.numel() * kSmallPart >= graph_[id].type.shape.numel();
  }

  void note_sources(NodeId id) {
    for (uint32_t source : values_[id.index].sources) readers_[source] = values_[id.index].home;
  }

  // Edges

  /// The group that computes `id`, if more can be computed there.
  [[nodiscard]] uint32_t open_home(NodeId id) const {
    const uint32_t home = values_[id.index].home;
    if (home == kNone || !groups_[home].anchor.valid()) return home;
    return is_sequential(op_def(graph_[groups_[home].anchor].op).kind) ? kNone : home;
  }

  /// Whether `user` reads its own place of `operand`.
  [[nodiscard]] bool same_place(NodeId operand, NodeId user) const {
    const Shape& a = graph_[operand].type.shape;
    const Shape& b = graph_[user].type.shape;
    return a == b || squeezed(a) == squeezed(b);
  }

  [[nodiscard]] bool is_loaded(NodeId id) const {
    return values_[id.index].stored || graph_[id].op == Op::Input;
  }

  /// Level of the groups that must have run before `id` can be read elsewhere.
  [[nodiscard]] uint32_t level_of(NodeId id) const {
    const ValueState& value = values_[id.index];
    return value.home == kNone ? value.level : groups_[value.home].level;
  }

  /// The level after which `id` is known, relied upon from now on; nothing of it need be stored.
  uint32_t await(NodeId id) {
    const uint32_t home = values_[id.index].home;
    if (home != kNone) groups_[home].has_readers = true;
    return level_of(id);
  }

  /// Makes `operand` readable outside its group; returns the level that is then relied upon.
  uint32_t read(NodeId operand, NodeId user) {
    // A member that only looks at another one's place is read as that one.
    while (values_[operand.index].home != kNone && !values_[operand.index].stored &&
           op_def(graph_[operand].op).kind == OpKind::Movement && is_member_view(operand)) {
      operand = graph_[operand].operands[0];
    }
    ValueState& value = values_[operand.index];
    if (value.home == kNone) return value.level;
    if (!value.stored) {
      if (value.recomputed || is_cheap_elsewhere(operand)) {
        value.recomputed = true;
        uint32_t level = 0;
        for (NodeId o : graph_[operand].operands) level = std::max(level, read(o, operand));
        note(user, value.home, FuseReason::Recomputed);
        return level;
      }
      store(operand, FuseReason::StoredForOther);
    }
    groups_[value.home].has_readers = true;
    return groups_[value.home].level;
  }

  /// A movement that has no work of its own in its group.
  [[nodiscard]] bool is_member_view(NodeId id) const {
    return values_[graph_[id].operands[0].index].home == values_[id.index].home;
  }

  /// One cheap operation on values that have memory, or none to read, anyway.
  [[nodiscard]] bool is_cheap_elsewhere(NodeId id) {
    const Node& node = graph_[id];
    if (needs_[id.index].stored || groups_[values_[id.index].home].anchor == id) return false;
    if (op_def(node.op).kind != OpKind::Elementwise || values_[id.index].dear) return false;
    int64_t cost = op_cost_(node);
    for (NodeId operand : node.operands) {
      if (is_loaded(operand)) continue;
      if (values_[operand.index].home != kNone) return false;
      cost += values_[operand.index].cost;
    }
    return cost <= kCheapCost;
  }

  void store(NodeId id, FuseReason reason) {
    ValueState& value = values_[id.index];
    if (value.stored || value.home == kNone) return;
    value.stored = true;
    note(id, value.home, reason);
  }

  void note(NodeId id, uint32_t group, FuseReason reason) {
    if (notes_.size() < kMaxReasons) notes_.push_back({id, group, reason});
  }

  Fusion finish() {
    std::vector<FusionGroup> groups(groups_.size());
    std::vector<uint32_t> order(groups_.size());
    std::vector<bool> feeds(groups_.size());
    for (uint32_t g = 0; g < groups.size(); ++g) {
      groups[g].anchor = groups_[g].anchor;
      order[g] = g;
    }
    for (uint32_t i = 0; i < values_.size(); ++i) {
      if (!values_[i].stored) continue;
      groups[values_[i].home].stores.push_back(NodeId{i});
      groups[values_[i].home].places.push_back(values_[i].place);
      if (!needs_[i].output) feeds[values_[i].home] = true;
    }
    // Within a level, kernels that only write outputs come last: an output may then take over the
    // storage of an input that the others still read.
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      if (groups_[a].level != groups_[b].level) return groups_[a].level < groups_[b].level;
      return feeds[a] && !feeds[b];
    });
    Fusion fusion;
    std::vector<uint32_t> number(groups.size(), kNone);
    for (uint32_t g : order) {
      // A group whose values all turned out to be recomputed elsewhere has nothing to do.
      if (groups[g].stores.empty()) continue;
      number[g] = static_cast<uint32_t>(fusion.groups.size());
      if (groups_[g].views != nullptr) groups[g].views = views_used(g, groups[g].stores);
      fusion.groups.push_back(std::move(groups[g]));
    }
    for (FusionNote note : notes_) {
      note.group = number[note.group];
      fusion.notes.push_back(note);
    }
    return fusion;
  }

  /// The views of a group that its stores are computed from.
  [[nodiscard]] std::vector<FusionView> views_used(uint32_t group,
                                                   std::span<const NodeId> stores) const {
    std::vector<NodeId> pending(stores.begin(), stores.end());
    std::unordered_set<uint32_t> seen;
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (values_[id.index].home != group || !seen.insert(id.index).second) continue;
      for (NodeId operand : graph_[id].operands) pending.push_back(operand);
    }
    std::vector<FusionView> used;
    for (const FusionView& view : groups_[group].views->views()) {
      if (seen.contains(view.node.index)) used.push_back(view);
    }
    return used;
  }

  static constexpr size_t kMaxReasons = 10000;
  static constexpr uint32_t kMaxSources = 4;

  const Graph& graph_;
  OpCosts op_cost_;
  std::vector<Needs> needs_;
  std::vector<ValueState> values_;
  std::vector<GroupState> groups_;
  std::unordered_map<uint32_t, uint32_t>
      readers_;  ///< loaded value -> elementwise group that reads it
  std::vector<FusionNote> notes_;
};

}  // namespace

Fusion fuse(const Graph& graph) {
  return Fuser(graph).run();
}

bool can_join(const Graph& graph, NodeId producer, NodeId consumer) {
  const OpKind from = op_def(graph[producer].op).kind;
  const Node& to = graph[consumer];
  const OpKind kind = op_def(to.op).kind;
  switch (from) {
    case OpKind::Leaf:
    case OpKind::Elementwise:
    case OpKind::Movement:
    case OpKind::Gather:
      return kind != OpKind::Contraction;
    case OpKind::Reduction:
    case OpKind::Contraction: {
      const Shape& shape = graph[producer].type.shape;
      if (kind == OpKind::Movement) return is_identity_movement(to, shape);
      return kind == OpKind::Elementwise && squeezed(shape) == squeezed(to.type.shape);
    }
    case OpKind::Scan:
    case OpKind::Scatter:
    case OpKind::Sort:
    case OpKind::Composite:
      return false;
  }
  return false;
}

}  // namespace reprise
