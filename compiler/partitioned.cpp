// Compiles the pieces of a graph one by one and joins their plans.
#include "compiler/partitioned.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/error.h"
#include "passes/partition.h"

namespace reprise {

namespace {

/// Where a value is that passes from one piece to others.
struct Place {
  SlotId slot;
  int64_t offset = 0;  ///< bytes
};

int64_t bytes_of(const TensorType& type) {
  return type.shape.numel() * static_cast<int64_t>(size_of(type.dtype));
}

/// Where output `output` of a compiled piece lies densely, or nothing where it does not.
std::optional<Place> dense_place(const Plan& plan, uint32_t output, const TensorType& type) {
  for (uint32_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.kind == SlotKind::Output && slot.index == output) return Place{SlotId{s}, 0};
  }
  for (const Alias& alias : plan.aliases) {
    if (alias.output != output) continue;
    const auto dense = type.shape.contiguous_strides();
    for (int axis = 0; type.shape.numel() > 0 && axis < type.shape.rank(); ++axis) {
      if (type.shape[axis] > 1 && alias.strides[axis] != dense[axis]) return std::nullopt;
    }
    if (type.shape.numel() == 0) return Place{alias.slot, 0};
    if (plan.slots[alias.slot.index].dtype != type.dtype) return std::nullopt;
    return Place{alias.slot, alias.offset * static_cast<int64_t>(size_of(type.dtype))};
  }
  return std::nullopt;
}

/// The piece with a copy in place of every value that it stores for others.
Graph with_copies(const GraphPiece& piece) {
  Graph graph;
  graph.reserve(piece.graph.size());
  for (const Node& node : piece.graph.nodes()) graph.add(node);
  const std::span<const NodeId> outputs = piece.graph.outputs();
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (o < piece.outputs.size()) {
      graph.add_output(outputs[o]);
      continue;
    }
    const Attrs here = Attrs().add_int(piece.device).add_int(piece.device);
    graph.add_output(graph.add({Op::Transfer, piece.graph[outputs[o]].type, {outputs[o]}, here}));
  }
  return graph;
}

class Joiner {
 public:
  Joiner(const Graph& graph, PartitionedGraph& result) : graph_(graph), result_(result) {
    plan().params.assign(num_parameters(graph), DType::F32);
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::Parameter) plan().params[node.attrs.word(0)] = node.type.dtype;
    }
    plan().arenas.clear();
  }

  /// Whether every value that the piece stores for others lies as those expect it.
  [[nodiscard]] static bool fits(const GraphPiece& piece, const Plan& plan,
                                 std::span<const GraphPiece> readers) {
    for (size_t v = 0; v < piece.values.size(); ++v) {
      const auto output = static_cast<uint32_t>(piece.outputs.size() + v);
      const TensorType& type = piece.graph[piece.graph.outputs()[output]].type;
      const std::optional<Place> place = dense_place(plan, output, type);
      if (!place) return false;
      // A transfer begins anywhere, a launch is given whole slots.
      const auto reads = [&](const GraphPiece::Source& source) {
        return source.kind == GraphPiece::Source::Kind::Value && source.value == piece.values[v];
      };
      const auto is_reader = [&](const GraphPiece& reader) {
        return std::any_of(reader.inputs.begin(), reader.inputs.end(), reads);
      };
      if (place->offset != 0 && std::any_of(readers.begin(), readers.end(), is_reader)) {
        return false;
      }
    }
    return true;
  }

  void add(const GraphPiece& piece, CompiledGraph compiled) {
    const uint32_t device = number_of(piece.device);
    const Plan& own = compiled.plan;
    std::vector<SlotId> slots;
    slots.reserve(own.slots.size());
    for (const Slot& slot : own.slots) slots.push_back(add_slot(piece, slot, device));
    for (Launch launch : own.launches) {
      launch.kernel += plan().num_kernels;
      for (SlotId& slot : launch.buffers) slot = slots[slot.index];
      for (uint32_t& param : launch.params) param = piece.parameters[param];
      plan().launches.push_back(std::move(launch));
    }
    plan().num_kernels += own.num_kernels;
    for (const Alias& alias : own.aliases) {
      if (alias.output >= piece.outputs.size()) continue;
      const SlotId slot = slots[alias.slot.index];
      outlive(slot);
      plan().aliases.push_back({piece.outputs[alias.output], slot, alias.offset, alias.strides});
    }
    for (size_t v = 0; v < piece.values.size(); ++v) {
      const auto output = static_cast<uint32_t>(piece.outputs.size() + v);
      const TensorType& type = piece.graph[piece.graph.outputs()[output]].type;
      const std::optional<Place> place = dense_place(own, output, type);
      REPRISE_ASSERT(place.has_value());
      places_[piece.values[v]] = {slots[place->slot.index], place->offset};
    }
    for (const Donation& donation : own.donations) {
      const GraphPiece::Source& source = piece.inputs[donation.input];
      if (source.kind != GraphPiece::Source::Kind::Input) continue;
      if (donation.output >= piece.outputs.size()) continue;
      donations_.push_back({{source.input, piece.outputs[donation.output]},
                            static_cast<uint32_t>(plan().launches.size())});
    }
    result_.pieces.push_back({piece.device, std::move(compiled)});
  }

  void add(const GraphTransfer& transfer) {
    const TensorType& type = graph_[NodeId{transfer.to.node}].type;
    const Place from = places_.at(transfer.from);
    const SlotId to = push({.kind = SlotKind::Arena,
                            .dtype = type.dtype,
                            .bytes = bytes_of(type),
                            .index = 0,
                            .offset = 0,
                            .device = number_of(transfer.to.device)});
    plan().transfers.push_back({.before = static_cast<uint32_t>(plan().launches.size()),
                                .from = from.slot,
                                .to = to,
                                .offset = from.offset});
    places_[transfer.to] = {to, 0};
  }

  void finish() {
    for (const auto& [donation, end] : donations_) {
      if (is_last_use(donation.input, end)) plan().donations.push_back(donation);
    }
    if (plan().arenas.empty()) static_cast<void>(number_of(0));
    plan() = plan_memory(plan());
  }

 private:
  Plan& plan() { return result_.plan; }

  SlotId push(Slot slot) {
    plan().slots.push_back(slot);
    return SlotId{static_cast<uint32_t>(plan().slots.size() - 1)};
  }

  uint32_t number_of(uint32_t device) {
    auto& devices = result_.devices;
    const auto known = std::find(devices.begin(), devices.end(), device);
    if (known != devices.end()) return static_cast<uint32_t>(known - devices.begin());
    devices.push_back(device);
    plan().arenas.push_back(0);
    return static_cast<uint32_t>(devices.size() - 1);
  }

  SlotId add_slot(const GraphPiece& piece, Slot slot, uint32_t device) {
    slot.device = device;
    switch (slot.kind) {
      case SlotKind::Input: {
        const GraphPiece::Source& source = piece.inputs[slot.index];
        if (source.kind == GraphPiece::Source::Kind::Value) {
          const Place place = places_.at(source.value);
          REPRISE_ASSERT(place.offset == 0);
          return place.slot;
        }
        slot.index = source.input;
        SlotId& known = inputs_[{source.input, device}];
        if (!known.valid()) known = push(slot);
        return known;
      }
      case SlotKind::Output:
        if (std::cmp_less(slot.index, piece.outputs.size())) {
          slot.index = piece.outputs[slot.index];
        } else {
          slot.kind = SlotKind::Arena;
          slot.index = 0;
        }
        return push(slot);
      case SlotKind::Arena:
        return push(slot);
    }
    return {};
  }

  /// What an output is a view of is there as long as the output.
  void outlive(SlotId id) {
    Slot& slot = plan().slots[id.index];
    if (slot.kind != SlotKind::Arena) return;
    slot.kind = SlotKind::Output;
    slot.index = static_cast<int64_t>(graph_.outputs().size()) + hidden_++;
  }

  /// Whether nothing reads an input from launch `end` on, nor as a view.
  [[nodiscard]] bool is_last_use(uint32_t input, uint32_t end) {
    std::vector<uint32_t> slots;
    for (const auto& [key, slot] : inputs_) {
      if (key.first == input) slots.push_back(slot.index);
    }
    if (slots.size() != 1) return false;
    const SlotId slot{slots[0]};
    const auto is_view = [&](const Alias& alias) { return alias.slot == slot; };
    if (std::any_of(plan().aliases.begin(), plan().aliases.end(), is_view)) return false;
    for (const Transfer& transfer : plan().transfers) {
      if (transfer.from == slot && transfer.before >= end) return false;
    }
    for (size_t l = end; l < plan().launches.size(); ++l) {
      const auto& buffers = plan().launches[l].buffers;
      if (std::find(buffers.begin(), buffers.end(), slot) != buffers.end()) return false;
    }
    return true;
  }

  const Graph& graph_;
  PartitionedGraph& result_;
  std::map<PlacedValue, Place> places_;
  std::map<std::pair<uint32_t, uint32_t>, SlotId> inputs_;  ///< by number and device
  std::vector<std::pair<Donation, uint32_t>> donations_;    ///< and the launches up to its piece
  int64_t hidden_ = 0;
};

}  // namespace

PartitionedGraph compile_partitioned(
    const Graph& graph, std::span<const uint32_t> output_devices,
    const std::function<const TargetInfo&(uint32_t device)>& target, const CompileOptions& options,
    const StageObserver& observer) {
  if (observer) observer("graph", print(graph));
  const Partition parts = partition(graph, output_devices);
  PartitionedGraph result;
  Joiner joiner(graph, result);
  size_t next = 0;
  for (uint32_t p = 0; p < parts.pieces.size(); ++p) {
    const GraphPiece& piece = parts.pieces[p];
    StageObserver named;
    if (observer) {
      named = [&observer, p](std::string_view stage, std::string_view text) {
        observer(str("piece", p, '.', stage), text);
      };
    }
    const TargetInfo& info = target(piece.device);
    CompiledGraph compiled = compile(piece.graph, info, options, named);
    if (!Joiner::fits(piece, compiled.plan, parts.pieces)) {
      compiled = compile(with_copies(piece), info, options, named);
      REPRISE_ASSERT(Joiner::fits(piece, compiled.plan, parts.pieces));
    }
    joiner.add(piece, std::move(compiled));
    for (; next < parts.transfers.size() && parts.transfers[next].after <= p + 1; ++next) {
      joiner.add(parts.transfers[next]);
    }
  }
  joiner.finish();
  if (observer) observer("plan", print(result.plan));
  return result;
}

}  // namespace reprise
