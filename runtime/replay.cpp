// Replaying a frozen step: bind, run, store.
#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/error.h"
#include "runtime/check.h"
#include "runtime/frozen_step.h"

namespace reprise {

struct FrozenStep::Run {
  SmallVector<NodeId, 16> leaves;    ///< a reference each once the run has begun
  SmallVector<TensorId, 8> pending;  ///< among the leaves that are read: to be computed first
  SmallVector<uint64_t, 16> cells;   ///< by parameter; only those of Scalars are set
  SmallVector<NodeId, 16> made;      ///< by graph output, in flight, a reference each
  SmallVector<NodeId, 4> scalars;    ///< by parameter that is a result, a reference each
  SmallVector<NodeId, 16> replaced;  ///< by assign: the node before, with the binding's reference
  std::vector<StoredValue> stored;   ///< parameters given where data is read
  std::vector<std::array<int64_t, kMaxDims>> strides;  ///< when no variant fits
  std::shared_ptr<const Variant> variant;
  Execution execution;

  [[nodiscard]] NodeId node(const Result& result, uint32_t graph_parameters) const {
    switch (result.kind) {
      case Result::Kind::Output:
        return made[result.index];
      case Result::Kind::Leaf:
        return leaves[result.index];
      case Result::Kind::Parameter:
        return scalars[result.index - graph_parameters];
    }
    return {};
  }
  /// Ready for the next replay; holds nothing.
  void clear() {
    leaves.clear();
    cells.clear();
    made.clear();
    scalars.clear();
    replaced.clear();
    stored.clear();
    variant.reset();
    execution.release();
  }
};

FrozenStep::FrozenStep(Runtime::Impl& runtime) : runtime_(runtime) {}

FrozenStep::~FrozenStep() {
  Runtime::Impl::Locked locked(runtime_);
  for (const Leaf& leaf : leaves_) {
    if (leaf.tensor.valid()) runtime_.release(leaf.tensor, locked);
  }
  for (const Assign& assign : assigns_) runtime_.release(assign.tensor, locked);
}

std::unique_ptr<FrozenStep::Run> FrozenStep::idle_run() {
  if (idle_.empty()) return std::make_unique<Run>();
  std::unique_ptr<Run> run = std::move(idle_.back());
  idle_.pop_back();
  return run;
}

void FrozenStep::replay(std::span<const TensorId> inputs, std::span<TensorId> results) {
  std::unique_lock<std::mutex> turn(one_at_a_time_, std::defer_lock);
  if (!assigns_.empty() || !hooks_.empty()) turn.lock();
  size_t begun = 0;
  try {
    for (; begun < hooks_.size(); ++begun) hooks_[begun](ReplayEvent::Begins);
    run_once(inputs, results);
  } catch (...) {
    while (begun > 0) hooks_[--begun](ReplayEvent::Failed);
    throw;
  }
}

void FrozenStep::run_once(std::span<const TensorId> inputs, std::span<TensorId> results) {
  ThreadState& thread = runtime_.thread();
  std::unique_ptr<Run> run;
  for (;;) {
    {
      Runtime::Impl::Locked locked(runtime_);
      if (!run) run = idle_run();
      check_inputs(inputs);
      if (!find_leaves(inputs, *run, locked)) continue;
      if (run->pending.empty() && find_variant(*run)) {
        read_cells(*run);
        begin(*run, thread);
        break;
      }
    }
    if (!run->pending.empty()) {
      runtime_.realize(run->pending, Runtime::Impl::What::Given);
      continue;
    }
    auto variant = compile(std::move(run->strides));
    const Runtime::Impl::Locked locked(runtime_);
    variants_.insert(variants_.begin(), std::move(variant));
    if (variants_.size() > kMaxVariants) variants_.pop_back();
  }
  try {
    std::optional<OpByOp> check;
    if (checking_plans()) {
      std::vector<int64_t> shifts;
      check.emplace(*device_, specialized(run->variant->strides, shifts), run->execution.inputs,
                    run->execution.parameters, output_places_);
    }
    execute(*run->variant->loaded, run->execution);
    if (check) check->compare(run->execution.results);
  } catch (...) {
    finish(std::move(run), false, {});
    throw;
  }
  finish(std::move(run), true, results);
}

void FrozenStep::read_cells(Run& run) const {
  run.cells.clear();
  for (const ParameterSource& source : parameters_) {
    const bool is_cell = source.kind == ParameterSource::Kind::Cell;
    run.cells.push_back(is_cell ? source.cell->value().bits(source.dtype) : 0);
  }
}

void FrozenStep::check_inputs(std::span<const TensorId> inputs) const {
  if (inputs.size() != num_inputs_) {
    throw ShapeError(
        str("replay: the step has ", num_inputs_, " inputs, it was given ", inputs.size()));
  }
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const TensorType& want = leaves_[i].type;
    const LiveNode& node = runtime_.nodes[runtime_.node_of(inputs[i]).index];
    const TensorType& have = node.type;
    if (!node.devices.contains(leaves_[i].readers)) {
      const DeviceSet readers = leaves_[i].readers;
      throw DeviceError(str("replay: input ", i, " is on ", node.devices.names(),
                            ", the step was frozen with one on ", readers.names(),
                            "; move it with to(\"", readers.first().name(), "\")"));
    }
    if (have == want) [[likely]]
      continue;
    const std::string text =
        str("replay: input ", i, " is ", have, ", it was ", want, " when the step was frozen");
    if (have.dtype != want.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
}

bool FrozenStep::find_leaves(std::span<const TensorId> inputs, Run& run,
                             Runtime::Impl::Locked& locked) const {
  run.leaves.clear();
  for (const Assign& assign : assigns_) {  // what it goes back to if this fails must be computed
    if (!runtime_.live_node(assign.tensor).in_flight) continue;
    runtime_.computed.wait(locked.lock);
    return false;
  }
  run.pending.clear();
  for (uint32_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    const TensorId id = leaf.tensor.valid() ? leaf.tensor : inputs[i];
    const NodeId node = runtime_.node_of(id);
    const LiveNode& live = runtime_.nodes[node.index];
    if (live.in_flight) {
      runtime_.computed.wait(locked.lock);
      return false;
    }
    if (leaf.is_read && !live.is_leaf()) run.pending.push_back(id);
    if (leaf.same_as != i && run.leaves[leaf.same_as] != node) {
      const auto name = [&](uint32_t number) {
        return number < num_inputs_ ? str("input ", number)
                                    : str("captured tensor ", number - num_inputs_);
      };
      throw Error(str("replay: ", name(leaf.same_as), " and ", name(i), " of type ", leaf.type,
                      " were one value when the step was frozen, and are two now; freeze a step "
                      "in which they already differ"));
    }
    run.leaves.push_back(node);
  }
  return true;
}

bool FrozenStep::find_variant(Run& run) {
  const auto strides_of = [&](uint32_t leaf) -> std::array<int64_t, kMaxDims> {
    const auto& stored = runtime_.nodes[run.leaves[leaf].index].stored;
    return stored ? stored->strides : std::array<int64_t, kMaxDims>{};
  };
  const auto fits = [&](const Variant& variant) {
    for (uint32_t i = 0; i < input_leaves_.size(); ++i) {
      const auto& stored = runtime_.nodes[run.leaves[input_leaves_[i]].index].stored;
      const auto rank = static_cast<size_t>(leaves_[input_leaves_[i]].type.shape.rank());
      if (stored && !std::equal(stored->strides.begin(), stored->strides.begin() + rank,
                                variant.strides[i].begin())) {
        return false;
      }
    }
    return true;
  };
  for (auto it = variants_.begin(); it != variants_.end(); ++it) {
    if (!fits(**it)) continue;
    run.variant = *it;
    if (it != variants_.begin()) std::rotate(variants_.begin(), it, it + 1);
    return true;
  }
  run.strides.clear();
  for (const uint32_t leaf : input_leaves_) run.strides.push_back(strides_of(leaf));
  return false;
}

void FrozenStep::begin(Run& run, ThreadState& thread) {
  auto& nodes = runtime_.nodes;
  for (const NodeId leaf : run.leaves) ++nodes[leaf.index].refs;
  for (size_t i = 0; i < output_types_.size(); ++i) {
    const TensorType& type = output_types_[i];
    LiveNode& node = runtime_.new_node(Op::Input, type.dtype, type.shape);
    node.devices = output_devices_[i];
    node.in_flight = true;
    run.made.push_back(node.id);
  }
  const uint64_t counter = runtime_.random_counter;
  runtime_.random_counter += random_;
  for (uint32_t i = graph_parameters_; i < parameters_.size(); ++i) {
    const uint64_t bits = parameter_bits(run, i, counter);
    run.scalars.push_back(runtime_.new_parameter(thread, {.dtype = parameters_[i].dtype}, bits).id);
  }
  for (const Assign& assign : assigns_) {
    Binding& b = runtime_.binding(assign.tensor);
    const NodeId before = b.node;
    const NodeId after = run.node(assign.value, graph_parameters_);
    if (thread.in_tape()) {
      thread.rebinds.push_back({.tensor = assign.tensor,
                                .generation = b.generation,
                                .old_node = before,
                                .sequence = nodes[before.index].sequence,
                                .by_replay = true});
      runtime_.note_capture(thread, assign.tensor, nodes[after.index]);
    }
    runtime_.note_left(nodes[before.index], assign.tensor);
    --nodes[before.index].bindings;
    run.replaced.push_back(before);
    ++nodes[after.index].refs;
    ++nodes[after.index].bindings;
    b.node = after;
    ++b.version;
  }

  Execution& execution = run.execution;
  execution.clear(*run.variant->loaded);
  run.stored.reserve(input_leaves_.size());  // they are pointed to
  for (uint32_t i = 0; i < input_leaves_.size(); ++i) {
    const LiveNode& leaf = nodes[run.leaves[input_leaves_[i]].index];
    const StoredValue& value =
        leaf.stored ? *leaf.stored : run.stored.emplace_back(runtime_.store_parameter(leaf));
    execution.inputs.push_back({&value, run.variant->shifts[i]});
  }
  for (const Variant::Donation& donation : run.variant->donations) {
    LiveNode& leaf = nodes[run.leaves[donation.leaf].index];
    const size_t bytes = static_cast<size_t>(output_types_[donation.output].shape.numel()) *
                         size_of(output_types_[donation.output].dtype);
    // Two references are this run's: the leaf's and the replaced binding's.
    if (execution.donations[donation.output] || leaf.bindings > 0 || leaf.refs != 2 ||
        leaf.consumed || !leaf.stored ||
        !can_donate(*leaf.stored, bytes, *run.variant->loaded->output_devices[donation.output])) {
      continue;
    }
    leaf.consumed = true;
    execution.donations[donation.output] = leaf.stored->storage;
    execution.donated.push_back(run.leaves[donation.leaf]);
  }

  for (uint32_t i = 0; i < graph_parameters_; ++i) {
    execution.parameters.push_back(parameter_bits(run, i, counter));
  }
}

uint64_t FrozenStep::parameter_bits(const Run& run, uint32_t index, uint64_t counter) const {
  const ParameterSource& source = parameters_[index];
  switch (source.kind) {
    case ParameterSource::Kind::Fixed:
      return source.bits;
    case ParameterSource::Kind::Cell:
      return run.cells[index];
    case ParameterSource::Kind::Key:
      return runtime_.seed;
    case ParameterSource::Kind::Counter:
      return source.bits + counter;
    case ParameterSource::Kind::Leaf: {
      const LiveNode& leaf = runtime_.nodes[run.leaves[source.bits].index];
      uint64_t bits = leaf.bits;
      if (leaf.stored) {
        leaf.stored->storage->device()->download(&bits, leaf.stored->address(),
                                                 size_of(source.dtype));
      }
      return bits;
    }
  }
  return 0;
}

void FrozenStep::finish(std::unique_ptr<Run> done_run, bool done, std::span<TensorId> results) {
  Run& run = *done_run;
  Runtime::Impl::Locked locked(runtime_);
  auto& nodes = runtime_.nodes;
  for (uint32_t i = 0; i < run.made.size(); ++i) {
    LiveNode& node = nodes[run.made[i].index];
    node.in_flight = false;
    if (done) node.stored = std::move(run.execution.results[i]);
  }
  for (uint32_t i = 0; i < run.replaced.size(); ++i) {
    const NodeId before = run.replaced[i];
    const NodeId after = run.node(assigns_[i].value, graph_parameters_);
    Binding& b = runtime_.binding(assigns_[i].tensor);
    if (done || b.node != after) {
      runtime_.drop(before, locked);
      continue;
    }
    b.node = before;
    --b.version;
    ++nodes[before.index].bindings;
    runtime_.unbind(after, locked);
  }
  if (done) {
    ++runtime_.counters.replays;
    runtime_.counters.launches += run.variant->loaded->plan.launches.size();
    REPRISE_ASSERT(results.size() == results_.size());
    for (size_t i = 0; i < results.size(); ++i) {
      results[i] = runtime_.bind(run.node(results_[i], graph_parameters_));
    }
  } else {
    for (const NodeId leaf : run.execution.donated) nodes[leaf.index].consumed = false;
  }
  for (const NodeId id : run.made) runtime_.drop(id, locked);
  for (const NodeId id : run.scalars) runtime_.drop(id, locked);
  for (const NodeId id : run.leaves) runtime_.drop(id, locked);
  for (auto& storage : run.execution.donations) locked.discard(std::move(storage));
  for (StoredValue& value : run.execution.results) locked.discard(std::move(value.storage));
  run.clear();
  idle_.push_back(std::move(done_run));
  runtime_.computed.notify_all();
}

}  // namespace reprise
