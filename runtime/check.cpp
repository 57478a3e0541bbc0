// Op by op against fused, and where they part.
#include "runtime/check.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ir/builder.h"
#include "ir/difference.h"
#include "ir/error.h"
#include "ir/log.h"
#include "ir/npy.h"
#include "ir/placement.h"
#include "runtime/runtime_impl.h"

namespace reprise {

namespace {

/// Somebody who sets it to anything that is no plain "no" wants to know of wrong bits.
bool asked_to_check() {
  const char* const wanted = std::getenv("REPRISE_CHECK");
  const std::string_view value = wanted != nullptr ? wanted : "";
  for (const std::string_view no : {"", "0", "no", "off", "false"}) {
    if (value == no) return false;
  }
  for (const std::string_view yes : {"1", "yes", "on", "true"}) {
    if (value == yes) return true;
  }
  log_line("check", str("REPRISE_CHECK is '", value,
                        "', taken for 1; known: 1, yes, on, true, 0, no, off, false"));
  return true;
}

std::atomic<bool>& checking() {
  static std::atomic<bool> on = asked_to_check();
  return on;
}

/// The same layout on a block of its own: the run may overwrite what it reads last.
StoredValue copied(const Execution::Input& input, const Node& node) {
  const StoredValue& value = *input.value;
  StoredValue copy;
  const StoragePtr host = copy_to(cpu_device(), value.storage);
  copy.storage = upload(*value.storage->device(), host->data(), host->bytes());
  copy.offset = value.offset + input.shift;
  const std::span<const int64_t> strides = node.attrs.ints(1);
  copy.strides = contiguous_byte_strides(node.type);
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    copy.strides[axis] = strides[axis] * static_cast<int64_t>(size_of(node.type.dtype));
  }
  return copy;
}

std::vector<std::byte> elements_of(const StoredValue& value, const TensorType& type) {
  std::vector<std::byte> bytes(static_cast<size_t>(type.shape.numel()) * size_of(type.dtype));
  copy_strided(on_host(value, type), type, bytes.data());
  return bytes;
}

}  // namespace

bool checking_plans() {
  return checking().load(std::memory_order_relaxed);
}

void set_checking_plans(bool on) {
  checking() = on;
}

OpByOp::OpByOp(Device& device, Graph graph, std::span<const Execution::Input> inputs,
               std::span<const uint64_t> parameters, std::span<const uint32_t> output_devices)
    : device_(device), graph_(std::move(graph)), parameters_(parameters.begin(), parameters.end()) {
  const std::vector<uint32_t> all_here(graph_.outputs().size(),
                                       static_cast<uint32_t>(device.index()));
  places_ = find_devices(graph_, output_devices.empty() ? all_here : output_devices);
  inputs_.resize(inputs.size());
  values_.resize(graph_.size());
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    const Node& node = graph_[NodeId{i}];
    if (node.op == Op::Parameter) continue;
    if (node.op == Op::Input) {
      const auto index = static_cast<size_t>(node.attrs.word(0));
      values_[i] = inputs_[index] = copied(inputs[index], node);
      continue;
    }
    if (is_transfer(node)) {
      if (places_[i] == 0) continue;
      const std::vector<std::byte> elements =
          elements_of(values_[node.operands[0].index], node.type);
      values_[i] = {contiguous_byte_strides(node.type), 0,
                    upload(place_of(NodeId{i}), elements.data(), elements.size())};
      continue;
    }
    Graph alone;
    GraphBuilder builder(alone);
    std::vector<Execution::Input> operands;
    std::vector<uint64_t> scalars;
    Operands places;
    for (const NodeId operand : node.operands) {
      const TensorType& type = graph_[operand].type;
      Value value;
      if (graph_[operand].op == Op::Parameter) {
        value = builder.parameter(type.dtype, static_cast<uint32_t>(scalars.size()));
        scalars.push_back(parameters_[static_cast<size_t>(graph_[operand].attrs.word(0))]);
      } else {
        const StoredValue& stored = values_[operand.index];
        Execution::Input input{&stored, 0};
        value = add_input(builder, type, static_cast<uint32_t>(operands.size()), stored.strides,
                          &input.shift);
        operands.push_back(input);
      }
      places.push_back(NodeId{value.index});
    }
    alone.add_output(alone.add({node.op, node.type, places, node.attrs}));
    const auto plan = Runtime::get().load_plan(alone, place_of(NodeId{i}));
    Execution run;
    run.clear(*plan);
    run.inputs = operands;
    run.parameters = scalars;
    try {
      execute(*plan, run);
    } catch (const IndexError&) {
      failed_ = true;
      return;
    }
    values_[i] = std::move(run.results[0]);
  }
}

std::string OpByOp::difference(NodeId node, const StoredValue& fused) const {
  const TensorType& type = graph_[node].type;
  const std::vector<std::byte> have = elements_of(fused, type);
  const std::vector<std::byte> want = elements_of(values_[node.index], type);
  const std::optional<size_t> index = first_difference(type.dtype, have, want);
  if (!index) return {};
  return str("element ", *index, " of ", type, " is ", element_text(type.dtype, have, *index),
             " fused, ", element_text(type.dtype, want, *index), " op by op");
}

Graph OpByOp::ending_at(NodeId node) const {
  std::vector<char> needed(node.index + 1, 0);
  needed[node.index] = 1;
  for (uint32_t i = node.index + 1; i-- > 0;) {
    if (!needed[i]) continue;
    for (const NodeId operand : graph_[NodeId{i}].operands) needed[operand.index] = 1;
  }
  Graph graph;
  std::vector<NodeId> places(node.index + 1);
  for (uint32_t i = 0; i <= node.index; ++i) {
    if (!needed[i]) continue;
    Node copy = graph_[NodeId{i}];
    for (NodeId& operand : copy.operands) operand = places[operand.index];
    places[i] = graph.add(std::move(copy));
  }
  graph.add_output(places[node.index]);
  return graph;
}

Device& OpByOp::place_of(NodeId node) const {
  const DeviceSet places = DeviceSet::of_bits(places_[node.index]);
  return places.empty() || places.contains(device_) ? device_ : places.first();
}

std::vector<StoredValue> OpByOp::run(const Graph& graph, Device& device) const {
  const auto plan = Runtime::get().load_plan(graph, device);
  Execution run;
  run.clear(*plan);
  for (const StoredValue& input : inputs_) run.inputs.push_back({&input, 0});
  run.parameters = parameters_;
  execute(*plan, run);
  return std::move(run.results);
}

void OpByOp::compare(std::span<const StoredValue> outputs) const {
  if (failed_) return;
  // What comes after them is memory that they are views of.
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const NodeId output = graph_.outputs()[i];
    std::string text = difference(output, outputs[i]);
    if (text.empty()) continue;
    // The first node, in order of recording, that comes out differently with all it needs fused.
    for (uint32_t n = 0; n < output.index; ++n) {
      const Node& node = graph_[NodeId{n}];
      if (node.op == Op::Input || node.op == Op::Parameter) continue;
      const Graph graph = ending_at(NodeId{n});
      const std::string first = difference(NodeId{n}, run(graph, place_of(NodeId{n}))[0]);
      if (first.empty()) continue;
      throw InternalError(
          str("REPRISE_CHECK: ", first, ": ", node.op, " at %", n, reproduction(graph)));
    }
    throw InternalError(str("REPRISE_CHECK: ", text, ": ", graph_[output].op, " at %", output.index,
                            ", whose operands agree", reproduction(graph_)));
  }
}

std::string OpByOp::reproduction(const Graph& graph) const {
  static std::atomic<int> number{0};
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / str("reprise-check-", getpid(), '-', number++);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream file(folder / "graph.txt");
  file << print(graph);
  if (error || !file.flush()) return str("; cannot write ", folder.string());
  std::string command = str("\n  reprise run ", (folder / "graph.txt").string());
  for (const Node& node : graph.nodes()) {
    const bool is_input = node.op == Op::Input;
    if (!is_input && node.op != Op::Parameter) continue;
    const auto index = static_cast<size_t>(node.attrs.word(0));
    const std::string name = str(is_input ? "input" : "parameter", index);
    const std::string path = (folder / (name + ".npy")).string();
    const auto scalar = std::as_bytes(std::span(parameters_));
    if (is_input) {
      write_npy(path, node.type, elements_of(inputs_[index], node.type));
    } else {
      write_npy(path, node.type,
                scalar.subspan(index * sizeof(uint64_t), size_of(node.type.dtype)));
    }
    command += str(" --input ", name, '=', path);
  }
  return command + " --compare ops";
}

}  // namespace reprise
