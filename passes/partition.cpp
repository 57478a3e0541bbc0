// Which device needs which value, how many transfers lie before it, and a piece for each such pair.
#include "passes/partition.h"

#include <algorithm>
#include <array>
#include <map>

#include "ir/builder.h"
#include "ir/error.h"

namespace reprise {

namespace {

class Partitioner {
 public:
  Partitioner(const Graph& graph, std::span<const uint32_t> output_devices)
      : graph_(graph),
        output_devices_(output_devices),
        devices_(find_devices(graph, output_devices)),
        reads_data_(graph.size()),
        levels_(graph.size()) {}

  Partition run() {
    for (uint32_t i = 0; i < graph_.size(); ++i) find_levels(i);
    for (uint32_t o = 0; o < graph_.outputs().size(); ++o) {
      const PlacedValue value{graph_.outputs()[o].index, output_devices_[o]};
      draft_of(value).outputs.push_back(o);
    }
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_[NodeId{i}];
      if (!is_transfer(node) || devices_[i] == 0) continue;
      need({node.operands[0].index, source_of(node)});
    }
    // The last piece first: what it needs of earlier ones becomes known on the way.
    for (auto it = drafts_.rbegin(); it != drafts_.rend(); ++it)
      find_members(it->first, it->second);
    for (const auto& [place, draft] : drafts_) emit(place, draft);
    return std::move(result_);
  }

 private:
  /// How many transfers lie before a piece, and its device.
  using Place = std::pair<uint32_t, uint32_t>;
  struct Draft {
    std::vector<uint32_t> outputs;
    std::vector<PlacedValue> values;
    std::vector<char> members;  ///< by node: computed here, or read as an input
  };

  void find_levels(uint32_t i) {
    const Node& node = graph_[NodeId{i}];
    reads_data_[i] = node.op == Op::Input;
    for (const NodeId operand : node.operands) reads_data_[i] |= reads_data_[operand.index];
    if (is_transfer(node)) {
      levels_[i][target_of(node)] = levels_[node.operands[0].index][source_of(node)] + 1;
      reads_data_[i] = 1;
      return;
    }
    if (reads_data_[i] == 0) return;
    for (uint32_t device = 0; device < kMaxGraphDevices; ++device) {
      if ((devices_[i] >> device & 1) == 0) continue;
      for (uint32_t o = 0; o < num_read(node); ++o) {
        levels_[i][device] = std::max(levels_[i][device], levels_[node.operands[o].index][device]);
      }
      if (node.op != Op::After) continue;
      for (const uint32_t level : levels_[node.operands[1].index]) {
        levels_[i][device] = std::max(levels_[i][device], level);
      }
    }
  }

  [[nodiscard]] uint32_t level(PlacedValue value) const {
    return levels_[value.node][value.device];
  }
  [[nodiscard]] Draft& draft_of(PlacedValue value) { return drafts_[{level(value), value.device}]; }
  /// Makes a value one that its piece stores.
  void need(PlacedValue value) {
    std::vector<PlacedValue>& values = draft_of(value).values;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }

  /// Whether a piece that reads a value of an earlier one computes it itself.
  [[nodiscard]] bool is_done_again(uint32_t i) const {
    const Node& node = graph_[NodeId{i}];
    if (reads_data_[i] == 0) return true;
    return op_def(node.op).kind == OpKind::Movement && node.op != Op::After;
  }

  /// Whether the piece at `place` is given the node's value.
  [[nodiscard]] bool is_given(uint32_t i, Place place) const {
    const Node& node = graph_[NodeId{i}];
    if (is_transfer(node)) return true;
    return node.op != Op::Input && !is_done_again(i) && levels_[i][place.second] < place.first;
  }

  /// The operands that a node has in this piece. What comes after something that is computed
  /// elsewhere, or before, has nothing to wait for here.
  [[nodiscard]] uint32_t num_read_in(const Node& node, Place place) const {
    if (node.op != Op::After) return num_read(node);
    const uint32_t awaited = node.operands[1].index;
    const bool is_here = (devices_[awaited] >> place.second & 1) != 0 &&
                         levels_[awaited][place.second] == place.first;
    return is_here ? 2 : 1;
  }

  void find_members(Place place, Draft& draft) {
    draft.members.assign(graph_.size(), 0);
    for (const uint32_t output : draft.outputs) {
      draft.members[graph_.outputs()[output].index] = 1;
    }
    for (const PlacedValue& value : draft.values) draft.members[value.node] = 1;
    for (uint32_t i = graph_.size(); i-- > 0;) {
      if (draft.members[i] == 0) continue;
      if (is_given(i, place)) {
        if (!is_transfer(graph_[NodeId{i}])) need({i, place.second});
        continue;
      }
      const Node& node = graph_[NodeId{i}];
      for (uint32_t o = 0; o < num_read_in(node, place); ++o) {
        draft.members[node.operands[o].index] = 1;
      }
    }
  }

  void emit(Place place, const Draft& draft) {
    GraphPiece piece{.device = place.second,
                     .graph = {},
                     .inputs = {},
                     .parameters = {},
                     .outputs = draft.outputs,
                     .values = draft.values};
    std::vector<NodeId> places(graph_.size());
    std::map<int64_t, uint32_t> inputs, parameters;  // of the whole graph: their number here
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (draft.members[i] != 0) places[i] = emit_node(i, place, piece, places, inputs, parameters);
    }
    for (const uint32_t output : piece.outputs) {
      piece.graph.add_output(places[graph_.outputs()[output].index]);
    }
    for (const PlacedValue& value : piece.values) piece.graph.add_output(places[value.node]);
    result_.pieces.push_back(std::move(piece));
    const auto after = static_cast<uint32_t>(result_.pieces.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_[NodeId{i}];
      if (!is_transfer(node) || devices_[i] == 0) continue;
      const PlacedValue from{node.operands[0].index, source_of(node)};
      if (Place{level(from), from.device} != place) continue;
      result_.transfers.push_back({from, {i, target_of(node)}, after});
    }
  }

  NodeId emit_node(uint32_t i, Place place, GraphPiece& piece, std::span<const NodeId> places,
                   std::map<int64_t, uint32_t>& inputs, std::map<int64_t, uint32_t>& parameters) {
    const Node& node = graph_[NodeId{i}];
    GraphBuilder builder(piece.graph);
    using Source = GraphPiece::Source;
    if (is_given(i, place)) {
      const auto index = static_cast<uint32_t>(piece.inputs.size());
      piece.inputs.push_back({Source::Kind::Value, 0, {i, place.second}});
      return NodeId{builder.input(node.type, index).index};
    }
    if (node.op == Op::Input) {
      const auto [known, is_new] = inputs.try_emplace(node.attrs.word(0), piece.inputs.size());
      if (is_new) {
        piece.inputs.push_back(
            {Source::Kind::Input, static_cast<uint32_t>(node.attrs.word(0)), {}});
      }
      return NodeId{builder.input(node.type, known->second, node.attrs.ints(1)).index};
    }
    if (node.op == Op::Parameter) {
      const auto [known, is_new] =
          parameters.try_emplace(node.attrs.word(0), piece.parameters.size());
      if (is_new) piece.parameters.push_back(static_cast<uint32_t>(node.attrs.word(0)));
      return NodeId{builder.parameter(node.type.dtype, known->second).index};
    }
    const uint32_t count = num_read_in(node, place);
    if (count == 1 && (node.op == Op::Checkpoint || node.op == Op::After)) {
      return places[node.operands[0].index];
    }
    Node copy{node.op, node.type, {}, node.attrs};
    for (uint32_t o = 0; o < count; ++o) copy.operands.push_back(places[node.operands[o].index]);
    return piece.graph.add(std::move(copy));
  }

  const Graph& graph_;
  const std::span<const uint32_t> output_devices_;
  const std::vector<uint8_t> devices_;
  std::vector<char> reads_data_;
  /// By node and device: transfers on the longest way from an input.
  std::vector<std::array<uint32_t, kMaxGraphDevices>> levels_;
  std::map<Place, Draft> drafts_;
  Partition result_;
};

}  // namespace

Partition partition(const Graph& graph, std::span<const uint32_t> output_devices) {
  return Partitioner(graph, output_devices).run();
}

}  // namespace reprise
