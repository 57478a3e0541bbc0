// Freezing: a tape's history becomes a graph, and what it read becomes the step's leaves.
#include <algorithm>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/error.h"
#include "ir/placement.h"
#include "runtime/frozen_step.h"

namespace reprise {

/// Builds one FrozenStep. The runtime's mutex is held throughout.
class Freezer {
 public:
  Freezer(Runtime::Impl& runtime, ThreadState& thread, FrozenStep& step)
      : runtime_(runtime), thread_(thread), step_(step), builder_(step.graph_) {}

  void run(std::span<const TensorId> inputs, std::span<const TensorId> outputs) {
    find_history();
    add_inputs(inputs);
    find_assigns();
    for (const TensorId id : outputs) {
      const NodeId node = runtime_.node_of(id);
      runtime_.note_read(thread_, id, runtime_.nodes[node.index]);
      results_.push_back(node);
    }
    mark_needed();
    record_needed();
    step_.graph_parameters_ = static_cast<uint32_t>(step_.parameters_.size());
    for (const NodeId node : results_) step_.results_.push_back(result(node));
    for (size_t i = 0; i < assigned_.size(); ++i) {
      step_.assigns_[i].value = result(assigned_[i]);
    }
    guard_inputs(inputs);
    const ThreadState::TapeStart& start = thread_.tapes.back();
    step_.hooks_.assign(thread_.hooks.begin() + static_cast<ptrdiff_t>(start.hooks),
                        thread_.hooks.end());
    step_.random_ = thread_.random - start.random;
    find_places();
  }

 private:
  [[nodiscard]] LiveNode& node(NodeId id) { return runtime_.nodes[id.index]; }
  [[nodiscard]] const ThreadState::TapeStart& start() const { return thread_.tapes.back(); }

  /// What the innermost tape recorded, in order.
  void find_history() {
    const auto& history = thread_.history;
    const auto first = std::partition_point(history.begin(), history.end(), [&](NodeId id) {
      return node(id).sequence < start().sequence;
    });
    history_ = std::span(history).subspan(static_cast<size_t>(first - history.begin()));
    for (uint32_t i = 0; i < history_.size(); ++i) place_[history_[i]] = i;
  }

  [[nodiscard]] bool is_live(TensorId id, uint32_t generation) {
    const Binding& b = runtime_.tensors[slot_of(id)];
    return b.refs > 0 && b.generation == generation;
  }

  void add_inputs(std::span<const TensorId> inputs) {
    step_.num_inputs_ = inputs.size();
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const NodeId id = runtime_.node_of(inputs[i]);
      for (size_t r = start().rebinds; r < thread_.rebinds.size(); ++r) {
        const ThreadState::Rebind& rebind = thread_.rebinds[r];
        if (rebind.tensor != inputs[i] || !is_live(rebind.tensor, rebind.generation)) continue;
        throw Error(str("freeze: input ", i, " of type ", node(id).type,
                        " was assigned inside the tape; a replay could not tell which of its "
                        "values is meant"));
      }
      const auto [known, is_new] = leaf_of_.try_emplace(id, i);
      step_.leaves_.push_back({.type = node(id).type, .tensor = {}, .same_as = known->second});
    }
  }

  /// Every tensor that the tape assigned and somebody still holds, with its present value.
  void find_assigns() {
    for (size_t r = start().rebinds; r < thread_.rebinds.size(); ++r) {
      const ThreadState::Rebind& rebind = thread_.rebinds[r];
      if (rebind.by_replay || !is_live(rebind.tensor, rebind.generation)) continue;
      const auto same = [&](const FrozenStep::Assign& a) { return a.tensor == rebind.tensor; };
      if (std::any_of(step_.assigns_.begin(), step_.assigns_.end(), same)) continue;
      ++runtime_.binding(rebind.tensor).refs;
      step_.assigns_.push_back({rebind.tensor, {}});
      assigned_.push_back(runtime_.node_of(rebind.tensor));
    }
  }

  /// What depends on no data is computed where the first output that does is.
  void find_places() {
    const auto known = [](DeviceSet devices) { return !devices.is_all(); };
    const auto& outputs = step_.output_devices_;
    const auto first = std::find_if(outputs.begin(), outputs.end(), known);
    step_.device_ = first == outputs.end() ? &default_device() : &first->first();
    for (const DeviceSet devices : outputs) {
      const Device& place = devices.contains(*step_.device_) ? *step_.device_ : devices.first();
      step_.output_places_.push_back(static_cast<uint32_t>(place.index()));
    }
    const std::vector<uint8_t> needs = find_devices(step_.graph_, step_.output_places_);
    for (uint32_t i = 0; i < step_.graph_.size(); ++i) {
      const Node& node = step_.graph_[NodeId{i}];
      if (node.op != Op::Input) continue;
      FrozenStep::Leaf& leaf = step_.leaves_[step_.input_leaves_[node.attrs.word(0)]];
      leaf.readers = leaf.readers | DeviceSet::of_bits(needs[i]);
    }
  }

  [[nodiscard]] bool is_computed(NodeId id) const {
    return !leaf_of_.contains(id) && place_.contains(id);
  }

  void mark_needed() {
    needed_.assign(history_.size(), 0);
    const auto need = [&](NodeId id) {
      if (is_computed(id)) needed_[place_.at(id)] = 1;
    };
    for (const NodeId id : results_) need(id);
    for (const NodeId id : assigned_) need(id);
    for (size_t i = history_.size(); i-- > 0;) {
      if (!needed_[i]) continue;
      for (const NodeId operand : node(history_[i]).operands) need(operand);
    }
  }

  void record_needed() {
    values_.resize(history_.size());
    for (uint32_t i = 0; i < history_.size(); ++i) {
      if (!needed_[i]) continue;
      Operands operands;
      for (const NodeId operand : node(history_[i]).operands) {
        operands.push_back(NodeId{value_of(operand).index});
      }
      const LiveNode& op = node(history_[i]);
      values_[i] = Value{step_.graph_.add({op.op, op.type, operands, op.attrs}).index};
    }
  }

  [[nodiscard]] Value value_of(NodeId id) {
    if (is_computed(id)) return values_[place_.at(id)];
    const auto known = leaf_values_.find(id);
    if (known != leaf_values_.end()) return known->second;
    return leaf_values_[id] = leaf_value(id);
  }

  [[nodiscard]] Value leaf_value(NodeId id) {
    const TensorType type = node(id).type;
    const auto input = leaf_of_.find(id);
    if (node(id).op == Op::Parameter && !node(id).stored) {
      const ParameterSource source = source_of(id);
      if (source.kind == ParameterSource::Kind::Leaf) step_.leaves_[source.bits].is_read = true;
      return builder_.parameter(type.dtype, add_parameter(source));
    }
    const uint32_t leaf = input != leaf_of_.end() ? input->second : capture(id);
    const auto index = static_cast<uint32_t>(step_.input_leaves_.size());
    step_.input_leaves_.push_back(leaf);
    step_.leaves_[leaf].is_read = true;
    return builder_.input(type, index);
  }

  [[nodiscard]] uint32_t add_parameter(const ParameterSource& source) {
    step_.parameters_.push_back(source);
    return static_cast<uint32_t>(step_.parameters_.size() - 1);
  }

  [[nodiscard]] ParameterSource source_of(NodeId id) {
    const LiveNode& parameter = node(id);
    const auto leaf = [&](uint32_t number) {
      return ParameterSource{
          .kind = ParameterSource::Kind::Leaf, .dtype = parameter.type.dtype, .bits = number};
    };
    if (const auto input = leaf_of_.find(id); input != leaf_of_.end()) return leaf(input->second);
    for (const ThreadState::Source& s : thread_.sources) {
      if (s.node != id || s.sequence != parameter.sequence) continue;
      if (s.source.kind != ParameterSource::Kind::Counter) return s.source;
      ParameterSource counter = s.source;
      if (counter.bits < start().random) break;  // reserved before this tape: drawn once
      counter.bits -= start().random;
      return counter;
    }
    if (!readers_of(id).empty()) return leaf(capture(id));
    return {.dtype = parameter.type.dtype, .bits = parameter.bits};
  }

  /// The living tensors through which the tape got at a value from outside.
  [[nodiscard]] std::vector<TensorId> readers_of(NodeId id) {
    std::vector<TensorId> readers;
    const auto of_node = [&](const Capture& c) {
      return c.node == id && c.sequence == node(id).sequence;
    };
    // What an outer tape bound before this one began comes from outside too.
    const auto inside = std::span(thread_.captures).subspan(start().captures);
    for (size_t i = 0; i < thread_.captures.size(); ++i) {
      const Capture& c = thread_.captures[i];
      const bool is_inside = i >= start().captures && c.bound == Capture::Bound::Inside;
      if (!of_node(c) || is_inside || !is_live(c.tensor, c.generation)) continue;
      const bool bound_inside =
          std::any_of(inside.begin(), inside.end(), [&](const Capture& other) {
            return of_node(other) && other.tensor == c.tensor && other.generation == c.generation &&
                   other.bound == Capture::Bound::Inside;
          });
      // Assigned by an outer tape since it was read: the value is not the tensor's any more.
      const auto rebinds = std::span(thread_.rebinds).first(start().rebinds);
      const bool moved_on = std::any_of(rebinds.begin(), rebinds.end(), [&](const auto& r) {
        return r.tensor == c.tensor && r.generation == c.generation && r.old_node == id &&
               r.sequence == c.sequence;
      });
      if (bound_inside || moved_on) continue;
      if (std::find(readers.begin(), readers.end(), c.tensor) == readers.end()) {
        readers.push_back(c.tensor);
      }
    }
    return readers;
  }

  [[nodiscard]] uint32_t capture(NodeId id) {
    const TensorType type = node(id).type;
    const auto first = static_cast<uint32_t>(step_.leaves_.size());
    const std::vector<TensorId> readers = readers_of(id);
    for (const TensorId reader : readers) {
      ++runtime_.binding(reader).refs;
      step_.leaves_.push_back({.type = type, .tensor = reader, .same_as = first});
    }
    // Nobody holds it any more: it stays what it is.
    if (readers.empty()) {
      step_.leaves_.push_back({.type = type, .tensor = runtime_.bind(id), .same_as = first});
    }
    return leaf_of_[id] = first;
  }

  /// The tape may have read an input's value through other tensors too. They need not have an input
  /// of a replay for their value then: they must, as when the step was frozen.
  void guard_inputs(std::span<const TensorId> inputs) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const NodeId id = runtime_.node_of(inputs[i]);
      if (step_.leaves_[i].same_as != i) continue;
      for (const TensorId reader : readers_of(id)) {
        if (std::find(inputs.begin(), inputs.end(), reader) != inputs.end()) continue;
        ++runtime_.binding(reader).refs;
        step_.leaves_.push_back({.type = node(id).type, .tensor = reader, .same_as = i});
      }
    }
  }

  [[nodiscard]] FrozenStep::Result result(NodeId id) {
    using Kind = FrozenStep::Result::Kind;
    if (!is_computed(id)) {
      if (const auto known = leaf_of_.find(id); known != leaf_of_.end()) {
        return {Kind::Leaf, known->second};
      }
      if (node(id).op != Op::Parameter || node(id).stored) return {Kind::Leaf, capture(id)};
      const ParameterSource source = source_of(id);
      if (source.kind == ParameterSource::Kind::Leaf) {
        return {Kind::Leaf, static_cast<uint32_t>(source.bits)};
      }
      return {Kind::Parameter, add_parameter(source)};
    }
    const auto [known, is_new] =
        output_of_.try_emplace(id, static_cast<uint32_t>(output_of_.size()));
    if (is_new) {
      builder_.output(value_of(id));
      step_.output_types_.push_back(node(id).type);
      step_.output_devices_.push_back(node(id).devices);
    }
    return {Kind::Output, known->second};
  }

  Runtime::Impl& runtime_;
  ThreadState& thread_;
  FrozenStep& step_;
  GraphBuilder builder_;
  std::span<const NodeId> history_;
  std::unordered_map<NodeId, uint32_t> place_;    ///< in the history
  std::unordered_map<NodeId, uint32_t> leaf_of_;  ///< inputs and captures
  std::unordered_map<NodeId, Value> leaf_values_;
  std::unordered_map<NodeId, uint32_t> output_of_;
  std::vector<NodeId> results_, assigned_;
  std::vector<char> needed_;
  std::vector<Value> values_;  ///< by place in the history
};

Graph FrozenStep::specialized(std::span<const std::array<int64_t, kMaxDims>> strides,
                              std::vector<int64_t>& shifts) const {
  shifts.resize(strides.size());
  Graph graph;
  GraphBuilder builder(graph);
  std::vector<NodeId> places;
  for (const Node& node : graph_.nodes()) {
    if (node.op == Op::Input) {
      const auto index = static_cast<uint32_t>(node.attrs.word(0));
      const Value input = add_input(builder, node.type, index, strides[index], &shifts[index]);
      places.push_back(NodeId{input.index});
      continue;
    }
    Operands operands;
    for (const NodeId operand : node.operands) operands.push_back(places[operand.index]);
    places.push_back(graph.add({node.op, node.type, operands, node.attrs}));
  }
  for (const NodeId output : graph_.outputs()) graph.add_output(places[output.index]);
  return graph;
}

std::shared_ptr<const FrozenStep::Variant> FrozenStep::compile(
    std::vector<std::array<int64_t, kMaxDims>> strides) const {
  auto variant = std::make_shared<Variant>();
  const Graph graph = specialized(strides, variant->shifts);
  variant->strides = std::move(strides);
  variant->loaded = runtime_.load_plan(graph, *device_, output_places_);
  // Only a value that this step replaces can be without another holder.
  for (const Donation& donation : variant->loaded->plan.donations) {
    const uint32_t leaf = input_leaves_[donation.input];
    const TensorId tensor = leaves_[leaf].tensor;
    const auto replaces = [&](const Assign& assign) { return assign.tensor == tensor; };
    if (std::any_of(assigns_.begin(), assigns_.end(), replaces)) {
      variant->donations.push_back({donation.output, leaf});
    }
  }
  return variant;
}

std::shared_ptr<const LoadedPlan> FrozenStep::plan() const {
  const std::lock_guard lock(runtime_.mutex);
  return variants_.front()->loaded;
}

std::shared_ptr<FrozenStep> Runtime::freeze(std::span<const TensorId> inputs,
                                            std::span<const TensorId> outputs) {
  ThreadState& thread = impl_->thread();
  if (!thread.in_tape()) throw Error("freeze: no tape is open on this thread");
  auto step = std::make_shared<FrozenStep>(*impl_);
  std::vector<std::array<int64_t, kMaxDims>> strides;
  {
    Impl::Locked locked(*impl_);
    Freezer(*impl_, thread, *step).run(inputs, outputs);
    // As they lie now; what is not computed yet will lie densely.
    for (const uint32_t leaf : step->input_leaves_) {
      const FrozenStep::Leaf& read = step->leaves_[leaf];
      const NodeId node = impl_->node_of(read.tensor.valid() ? read.tensor : inputs[leaf]);
      const auto& stored = impl_->nodes[node.index].stored;
      strides.push_back(stored ? stored->strides : contiguous_byte_strides(read.type));
    }
  }
  step->variants_.push_back(step->compile(std::move(strides)));
  return step;
}

void Runtime::at_replay(ReplayHook hook) {
  ThreadState& thread = impl_->thread();
  if (thread.in_tape()) thread.hooks.push_back(std::move(hook));
}

}  // namespace reprise
