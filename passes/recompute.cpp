// Recomputing: values far larger than what they are made of are made again where they are needed.
//
// The scores of attention are such values: a product of few terms with as many elements as there
// are pairs of tokens. What reduces them along their rows can run block by block of rows and keep
// them in a cache (passes/lower_blocks.h); what reduces them along their columns, and what has to
// wait for a result of the former, cannot be among it and would have to read them from memory. It
// gets values of its own, made from the same operands by the same ops: the same bits.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "passes/graph_passes.h"
#include "passes/index_map.h"
#include "passes/lower_blocks.h"
#include "passes/lower_stages.h"
#include "passes/rewriter.h"

namespace reprise {

namespace {

/// Elements of a value for each of what it is made of from which on it is made again: then reading
/// the operands costs next to nothing, and the value's memory is what matters.
constexpr int64_t kFarLarger = 4;
/// Terms of a product beyond which making a value again is dearer than memory.
constexpr int64_t kMostTerms = 256;

class Recomputing {
 public:
  explicit Recomputing(const Graph& graph)
      : graph_(graph),
        rewriter_(graph),
        large_(graph.size()),
        waits_(graph.size()),
        owners_(graph.size(), kNone) {}

  Graph run() {
    for (uint32_t i = 0; i < graph_.size(); ++i) large_[i] = is_large(NodeId{i});
    for (NodeId output : graph_.outputs()) large_[output.index] = false;
    for (uint32_t i = 0; i < graph_.size(); ++i) count_waits(NodeId{i});
    for (uint32_t i = 0; i < graph_.size(); ++i) own(NodeId{i});
    for (uint32_t i = 0; i < graph_.size(); ++i) emit(NodeId{i});
    return rewriter_.finish();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Who reduces large values: along which axis, counted from the last, and after how many others.
  using Readers = std::pair<int, uint32_t>;

  /// Products that a value waits for, in the row of large values that it belongs to or in any.
  struct Waits {
    uint32_t in_row = 0, in_all = 0;
  };

  [[nodiscard]] static OpKind kind(const Node& node) { return op_def(node.op).kind; }

  [[nodiscard]] bool is_large(NodeId id) const {
    const Node& node = graph_[id];
    const Shape& shape = node.type.shape;
    if (shape.rank() < 2) return false;
    const auto reads_large = [&](NodeId operand) {
      return large_[operand.index] && graph_[operand].type.shape.numel() == shape.numel();
    };
    switch (kind(node)) {
      case OpKind::Contraction: {
        const Shape& a = graph_[node.operands[0]].type.shape;
        const int64_t matrix = shape[shape.rank() - 1] * shape[shape.rank() - 2];
        if (a[a.rank() - 1] > kMostTerms || matrix == 0 ||
            matrix * static_cast<int64_t>(size_of(node.type.dtype)) <= kSmallMatrix) {
          return false;
        }
        int64_t read = 0;
        for (NodeId operand : node.operands) read += graph_[operand].type.shape.numel();
        const bool alone = shape.numel() == matrix;
        return shape.numel() >= kFarLarger * read * (alone ? kBatchGain : 1);
      }
      case OpKind::Elementwise:
        return std::any_of(node.operands.begin(), node.operands.end(), reads_large);
      case OpKind::Movement:
        return reads_large(node.operands[0]) &&
               (node.op == Op::Permute ||
                squeezed(graph_[node.operands[0]].type.shape) == squeezed(shape));
      case OpKind::Leaf:
      case OpKind::Gather:
      case OpKind::Reduction:
      case OpKind::Scan:
      case OpKind::Scatter:
      case OpKind::Sort:
      case OpKind::Composite:
        return false;
    }
    return false;
  }

  /// An axis of a value as one of what it is a view of, counted from the last.
  [[nodiscard]] int below(NodeId id, int axis) const {
    for (; kind(graph_[id]) == OpKind::Movement && large_[id.index]; id = graph_[id].operands[0]) {
      if (graph_[id].op == Op::Permute) {
        axis = static_cast<int>(graph_[id].attrs.ints(0)[axis]);
        continue;
      }
      // Axes of extent 1 come or go: it has as many others behind it.
      const auto others = [](const Shape& shape, int from) {
        return std::count_if(shape.begin() + from, shape.end(), [](int64_t e) { return e != 1; });
      };
      const auto behind = others(graph_[id].type.shape, axis);
      const Shape& shape = graph_[graph_[id].operands[0]].type.shape;
      axis = shape.rank() - 1;
      while (axis > 0 && others(shape, axis) != behind) --axis;
    }
    return graph_[id].type.shape.rank() - 1 - axis;
  }

  /// The axis, counted from the last, along which a node reduces the large values it reads.
  [[nodiscard]] std::optional<int> reduced_axis(NodeId id) const {
    const Node& node = graph_[id];
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const NodeId operand = node.operands[o];
      if (!large_[operand.index]) continue;
      const int rank = graph_[operand].type.shape.rank();
      if (kind(node) == OpKind::Contraction) {
        return below(operand, o == 0 ? rank - 1 : rank - 2);
      }
      if (kind(node) != OpKind::Reduction) continue;
      const auto mask = static_cast<uint64_t>(node.attrs.word(0));
      for (int axis = rank - 2; axis < rank; ++axis) {
        if (mask == uint64_t{1} << axis) return below(operand, axis);
      }
    }
    return std::nullopt;
  }

  /// How many products of large values, one after another, a node waits for. A product along the
  /// rows gives a row for each of theirs: what is made of it row by row has only those before the
  /// product to wait for, where it is used for the same row.
  void count_waits(NodeId id) {
    const Node& node = graph_[id];
    const std::optional<int> axis = reduced_axis(id);
    const bool keeps_rows = large_[id.index] || axis == 0 || is_row_by_row(id);
    uint32_t in_row = 0, in_all = 0;
    for (const NodeId operand : node.operands) {
      in_row = std::max(in_row, waits_[operand.index].in_row);
      in_all = std::max(in_all, waits_[operand.index].in_all);
    }
    const bool product = kind(node) == OpKind::Contraction && axis.has_value();
    if (!keeps_rows) in_row = in_all;
    waits_[id.index] = {.in_row = in_row, .in_all = std::max(in_all, in_row + (product ? 1 : 0))};
  }

  /// Whether row i of the result is made of rows i of the operands.
  [[nodiscard]] bool is_row_by_row(NodeId id) const {
    const Node& node = graph_[id];
    if (kind(node) == OpKind::Elementwise) return true;
    if (kind(node) != OpKind::Reduction) return false;
    const int rank = graph_[node.operands[0]].type.shape.rank();
    const bool keeps_axes = node.type.shape.rank() == rank;
    return keeps_axes && static_cast<uint64_t>(node.attrs.word(0)) == uint64_t{1} << (rank - 1);
  }

  /// Large values belong to the first who reduce what is made of them. Who reduces them along the
  /// other axis makes them again in any case, and may as well wait for the first: with more of its
  /// kind it makes them once.
  void own(NodeId id) {
    std::optional<int> axis = reduced_axis(id);
    if (!axis) return;
    const std::vector<NodeId> values = large_behind(id);
    // Whole matrices of them lie in a cache: along which axis they are reduced there is all one.
    if (fits_local(values.front())) axis = 0;
    uint32_t first = kNone;
    for (const NodeId value : values) {
      const uint32_t owner = owners_[value.index];
      if (owner != kNone && readers_[owner].first != *axis) {
        first = std::min(first, readers_[owner].second);
      }
    }
    uint32_t waits = first == kNone ? 0 : first + 1;
    for (const NodeId operand : graph_[id].operands) {
      const Waits& own = waits_[operand.index];
      waits = std::max(waits, *axis == 0 ? own.in_row : own.in_all);
    }
    const Readers readers{*axis, waits};
    const auto [found, is_new] =
        numbers_.try_emplace(readers, static_cast<uint32_t>(numbers_.size()));
    if (is_new) readers_.push_back(readers);
    readers_of_[id] = found->second;
    for (const NodeId value : values) {
      uint32_t& owner = owners_[value.index];
      if (owner == kNone) owner = found->second;
    }
  }

  /// Whether matrices are points of a grid, each with all of its values in locals.
  [[nodiscard]] bool fits_local(NodeId value) const {
    const auto& [dtype, shape] = graph_[value].type;
    const int64_t matrix = shape[shape.rank() - 1] * shape[shape.rank() - 2];
    return matrix * static_cast<int64_t>(size_of(dtype)) <= kMaxLocalBytes &&
           shape.numel() >= kEnoughPoints * matrix;
  }

  /// The large values that a node is made of.
  [[nodiscard]] std::vector<NodeId> large_behind(NodeId id) const {
    std::vector<NodeId> found, pending(graph_[id].operands.begin(), graph_[id].operands.end());
    std::set<NodeId> seen;
    while (!pending.empty()) {
      const NodeId value = pending.back();
      pending.pop_back();
      if (!large_[value.index] || !seen.insert(value).second) continue;
      found.push_back(value);
      for (const NodeId operand : graph_[value].operands) pending.push_back(operand);
    }
    return found;
  }

  void emit(NodeId id) {
    uint32_t readers = owners_[id.index];
    if (const auto found = readers_of_.find(id); found != readers_of_.end() && readers == kNone) {
      readers = found->second;
    }
    Node node = rewriter_.remapped(id);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      node.operands[o] = made_for(readers, graph_[id].operands[o]);
    }
    rewriter_.replace(id, rewriter_.graph().add(std::move(node)));
  }

  /// A value as some readers see it: what belongs to others they make again, with what it reads.
  NodeId made_for(uint32_t readers, NodeId value) {
    std::vector<NodeId> pending{value};
    while (!pending.empty()) {
      const NodeId id = pending.back();
      if (!is_foreign(readers, id) || copies_.contains({readers, id})) {
        pending.pop_back();
        continue;
      }
      bool ready = true;
      for (NodeId operand : graph_[id].operands) {
        if (!is_foreign(readers, operand) || copies_.contains({readers, operand})) continue;
        pending.push_back(operand);
        ready = false;
      }
      if (!ready) continue;
      Node node = rewriter_.remapped(id);
      for (size_t o = 0; o < node.operands.size(); ++o) {
        const NodeId operand = graph_[id].operands[o];
        if (is_foreign(readers, operand)) node.operands[o] = copies_.at({readers, operand});
      }
      copies_[{readers, id}] = rewriter_.graph().add(std::move(node));
      pending.pop_back();
    }
    return is_foreign(readers, value) ? copies_.at({readers, value}) : rewriter_[value];
  }

  [[nodiscard]] bool is_foreign(uint32_t readers, NodeId value) const {
    const uint32_t owner = owners_[value.index];
    return readers != kNone && owner != kNone && owner != readers;
  }

  const Graph& graph_;
  GraphRewriter rewriter_;
  std::vector<bool> large_;
  std::vector<Waits> waits_;
  std::vector<uint32_t> owners_;  ///< of large values, by node
  std::map<Readers, uint32_t> numbers_;
  std::vector<Readers> readers_;  ///< by number
  std::map<NodeId, uint32_t> readers_of_;
  std::map<std::pair<uint32_t, NodeId>, NodeId> copies_;
};

}  // namespace

Graph recompute(const Graph& graph) {
  return Recomputing(graph).run();
}

}  // namespace reprise
