// One function a mode.
#include "tests/fuzz/modes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "compiler/pipeline.h"
#include "ir/builder.h"
#include "ir/scalar_interpreter.h"
#include "passes/graph_passes.h"
#include "runtime/check.h"
#include "runtime/device.h"
#include "tests/fuzz/live_program.h"
#include "tests/vulkan_device.h"

namespace reprise {

namespace {

using Scalars = LiveProgram::Scalars;

std::string in_step(size_t step, const std::string& found) {
  return found.empty() ? found : str("step ", step, ": ", found);
}

/// The text reads back as the same graph, and no graph pass changes a bit of it.
std::string passes(const Program& program) {
  const Graph& graph = program.graph;
  verify(graph);
  if (parse_graph(print(graph)) != graph) return "the text parses to another graph";
  const std::vector<Bytes> expected = reference_outputs(graph, program.data);
  Graph all = without_strides(graph);
  for (const GraphPass& pass : graph_passes()) {
    all = pass.run(all);
    verify(all);
    const std::vector<Bytes> outputs = reference_outputs(all, program.data);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorType& type = graph[graph.outputs()[i]].type;
      const std::string found = difference(type.dtype, outputs[i], expected[i]);
      if (!found.empty()) {
        return str(pass.name, ": output ", i, ", ", type, ", ", found, " expected");
      }
    }
  }
  return {};
}

/// A tape for each step; the second finds what the first compiled, and takes other data.
std::string run_taped(const Program& program, size_t steps) {
  const auto expected = expected_steps(program, steps);
  LiveProgram live(program);
  for (size_t i = 0; i < steps; ++i) {
    live.load(expected[i].data);
    const Tape tape;
    const std::vector<Tensor> outputs = live.record(Scalars::Numbers);
    live.assign(outputs);
    if (i != 1) tape.realize(outputs);  // else a read realizes
    const std::string found = live.compare(expected[i], outputs);
    if (!found.empty()) return in_step(i, found);
  }
  return {};
}
std::string taped(const Program& program) {
  return run_taped(program, 3);
}

std::string threads(const Program& program) {
  const int before = num_threads();
  std::string found;
  for (const int count : {1, 3}) {
    set_num_threads(count);
    found = run_taped(program, 1);
    if (!found.empty()) {
      found = str(count, " threads: ", found);
      break;
    }
  }
  set_num_threads(before);
  return found;
}

/// Inputs are views of blocks that other handles see too: assigning one changes no other.
std::string shared(const Program& program) {
  const auto expected = expected_steps(program, 2);
  LiveProgram live(program);
  for (size_t i = 0; i < expected.size(); ++i) {
    live.load(expected[i].data, LiveProgram::Storage::Shared);
    const Tape tape;
    const std::vector<Tensor> outputs = live.record(Scalars::Numbers);
    live.assign(outputs);
    tape.realize();
    std::string found = live.compare(expected[i], outputs);
    if (found.empty()) found = live.compare_shared();
    if (!found.empty()) return in_step(i, found);
  }
  return {};
}

/// Inputs are assigned in the midst of recording, whatever value has their type.
std::string rebound(const Program& program) {
  Program busy{.graph = program.graph, .assigns = {}, .data = program.data};
  for (const Node& node : program.graph.nodes()) {
    if (node.op != Op::Input) continue;
    for (uint32_t n = 0; n < program.graph.size(); ++n) {
      const Node& other = program.graph[NodeId{n}];
      if (other.type != node.type || other == node) continue;
      busy.assigns.push_back({static_cast<uint32_t>(node.attrs.word(0)),
                              static_cast<uint32_t>(busy.graph.outputs().size())});
      busy.graph.add_output(NodeId{n});
      break;
    }
  }
  const auto expected = expected_steps(busy, 3);
  LiveProgram live(busy);
  for (size_t i = 0; i < expected.size(); ++i) {
    live.load(expected[i].data);
    std::string found;
    if (i == 1) {  // eager
      found = live.compare(expected[i], live.record_rebinding());
    } else {
      const Tape tape;
      found = live.compare(expected[i], live.record_rebinding());
    }
    if (!found.empty()) return in_step(i, found);
  }
  return {};
}

/// Without a tape; some handles stay alive, and outputs are read from the last to the first.
std::string eager(const Program& program) {
  const auto expected = expected_steps(program, 2);
  LiveProgram live(program);
  const Graph& graph = program.graph;
  for (size_t i = 0; i < expected.size(); ++i) {
    live.load(expected[i].data);
    std::vector<Tensor> values;
    std::vector<Tensor> outputs = live.record(Scalars::Numbers, &values);
    Graph kept = graph;
    for (uint32_t n = 0; n < graph.size(); ++n) {
      const bool is_leaf = graph[NodeId{n}].op == Op::Input;
      if (n % 3 == 1 && !is_leaf) {
        kept.add_output(NodeId{n});
      } else {
        values[n] = {};
      }
    }
    live.assign(outputs);
    const std::vector<Bytes> all = reference_outputs(kept, expected[i].data);
    for (size_t o = kept.outputs().size(); o-- > graph.outputs().size();) {
      const NodeId node = kept.outputs()[o];
      const TensorType& type = graph[node].type;
      const std::string found = tensor_difference(values[node.index], type, all[o]);
      if (!found.empty())
        return in_step(i, str("%", node.index, ", ", type, ", ", found, " expected"));
    }
    const std::string found = live.compare(expected[i], outputs);
    if (!found.empty()) return in_step(i, found);
  }
  return {};
}

/// Every plan is run op by op as well: the runtime's own check.
std::string ops(const Program& program) {
  const bool before = checking_plans();
  set_checking_plans(true);
  std::string found;
  try {
    found = run_taped(program, 1);
  } catch (...) {
    set_checking_plans(before);
    throw;
  }
  set_checking_plans(before);
  return found;
}

/// A frozen step: recorded with the first data, replayed with the rest. Even inputs are its
/// arguments; odd ones are read through their tensors, which are assigned between replays.
std::string frozen(const Program& program) {
  const auto expected = expected_steps(program, 4);
  LiveProgram live(program);
  live.load(expected[0].data);
  const std::vector<Tensor> first = live.inputs();
  std::vector<size_t> arguments;
  for (size_t i = 0; i < first.size(); ++i) {
    if (i % 2 == 0 && !first[i].empty_handle() && !live.is_assigned(i)) arguments.push_back(i);
  }
  const auto pick = [&](const std::vector<Tensor>& from) {
    std::vector<Tensor> picked;
    for (const size_t i : arguments) picked.push_back(from[i]);
    return picked;
  };
  Frozen step;
  std::vector<std::vector<Tensor>> results;
  {
    const Tape tape;
    results.push_back(live.record(Scalars::Cells));
    live.assign(results[0]);
    step = tape.freeze(pick(first), results[0]);
    tape.realize(results[0]);
  }
  for (size_t i = 1; i < expected.size(); ++i) {
    live.load(expected[i].data);
    for (size_t k = 0; k < first.size(); ++k) {
      if (k % 2 == 1 && !first[k].empty_handle() && !live.is_assigned(k)) {
        first[k].assign_(live.inputs()[k]);
      }
    }
    results.push_back(step.replay(pick(live.inputs())));
  }
  // Read last: replays must not share memory.
  const Graph& graph = program.graph;
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t o = 0; o < results[i].size(); ++o) {
      const Node& node = graph[graph.outputs()[o]];
      if (node.op == Op::Parameter) continue;  // it stays as it was recorded
      const std::string found = tensor_difference(results[i][o], node.type, expected[i].outputs[o]);
      if (!found.empty())
        return in_step(i, str("output ", o, ", ", node.type, ", ", found, " expected"));
    }
  }
  return in_step(expected.size() - 1, live.compare(expected.back(), {}));
}

/// Inputs as literals: each is one number everywhere, written as a constant.
std::string folded(const Program& program) {
  static constexpr double kNumbers[] = {2, 0, -1, 0.5, -0.0, 3, NAN, HUGE_VAL, -1e10, 1e-40, 1, 7};
  const auto number_of = [&](const Node& leaf) {
    const auto index = static_cast<size_t>(leaf.attrs.word(0));
    return kNumbers[(2 * index + (leaf.op == Op::Input) + program.graph.size()) %
                    std::size(kNumbers)];
  };
  Program literal;
  GraphBuilder b(literal.graph);
  LeafData data;
  data.inputs.resize(num_inputs(program.graph));
  data.parameters.resize(num_parameters(program.graph));
  std::vector<Value> values;
  for (const Node& node : program.graph.nodes()) {
    if (node.op == Op::Input || node.op == Op::Parameter) {
      const double number = number_of(node);
      const auto index = static_cast<size_t>(node.attrs.word(0));
      // Of pairs the real part; the other is 0.
      const DType part = part_of(node.type.dtype);
      const uint64_t bits = convert_bits(std::bit_cast<uint64_t>(number), DType::F64, part);
      values.push_back(b.broadcast_to(b.constant(number, node.type.dtype), node.type.shape));
      if (node.op == Op::Parameter) {
        data.parameters[index] = bits;
        continue;
      }
      Bytes element(size_of(node.type.dtype));
      std::memcpy(element.data(), &bits, size_of(part));
      for (int64_t i = 0; i < node.type.shape.numel(); ++i) {
        data.inputs[index].insert(data.inputs[index].end(), element.begin(), element.end());
      }
      continue;
    }
    std::vector<Value> operands;
    for (const NodeId operand : node.operands) operands.push_back(values[operand.index]);
    values.push_back(b.record(node.op, operands, node.attrs, &node.type));
  }
  for (const NodeId output : program.graph.outputs()) b.output(values[output.index]);
  const std::vector<Bytes> expected = reference_outputs(program.graph, data);
  LiveProgram live(literal);
  const Tape tape;
  return live.compare({{}, expected}, live.record(Scalars::Numbers));
}

/// On the Vulkan device of tests: frozen, replayed, and without a tape. Nothing where there is
/// none.
std::string vulkan(const Program& program) {
  std::string why;
  Device* const device = test_vulkan_device(&why);
  if (device == nullptr) return {};
  const DeviceScope scope(*device);
  try {
    const std::string found = frozen(program);
    return found.empty() ? eager(program) : found;
  } catch (const UnsupportedError& error) {
    if (names_missing_type(device->target(), error.what())) return {};
    throw;
  }
}

/// The first float output's gradient by the inputs, from a tape against one that is recorded into
/// the graph.
std::string gradients(const Program& program) {
  Program longer{.graph = program.graph, .assigns = {}, .data = program.data};
  GraphBuilder b(longer.graph);
  Value y{};
  for (const NodeId output : program.graph.outputs()) {
    if (!y.valid() && is_float(program.graph[output].type.dtype)) y = Value{output.index};
  }
  std::vector<Value> xs;
  for (uint32_t i = 0; i < program.graph.size(); ++i) {
    const Node& node = program.graph[NodeId{i}];
    if (node.op == Op::Input && is_differentiable(node.type.dtype)) xs.push_back(Value{i});
  }
  if (!y.valid() || xs.empty()) return {};
  for (const Value g : gradient(b, y, b.ones(b.type(y)), xs)) b.output(g);
  const auto expected = expected_steps(longer, 1);
  LiveProgram live(program);
  live.load(expected[0].data);
  const Tape tape;
  std::vector<Tensor> values;
  std::vector<Tensor> outputs = live.record(Scalars::Numbers, &values);
  std::vector<Tensor> inputs;
  for (const Value x : xs) inputs.push_back(values[x.index]);
  for (Tensor& g : tape.gradient(values[y.index], inputs)) outputs.push_back(std::move(g));
  values.clear();
  tape.realize(outputs);
  return LiveProgram(longer).compare(expected[0], outputs);
}

/// The graph with indices as the leaves hold them, no longer brought into range.
Graph with_wild_indices(const Graph& graph) {
  const auto wild = [&](NodeId index) {
    NodeId raw = index;
    for (const Op op : {Op::Subtract, Op::Remainder}) {
      if (graph[raw].op == op) raw = graph[raw].operands[0];
    }
    return graph[raw].type == graph[index].type ? raw : index;
  };
  Graph result;
  for (Node node : graph.nodes()) {
    const OpKind kind = op_def(node.op).kind;
    if (kind == OpKind::Gather || kind == OpKind::Scatter) {
      node.operands[1] = wild(node.operands[1]);
    }
    if (node.op == Op::CheckIndex) node.operands[0] = wild(node.operands[0]);
    result.add(std::move(node));
  }
  for (const NodeId output : graph.outputs()) result.add_output(output);
  return result;
}

/// One output on its own; none where an index that it needs is out of range.
std::optional<Bytes> output_alone(const Graph& graph, NodeId output, const LeafData& data) {
  Graph alone;
  for (Node node : graph.nodes()) alone.add(std::move(node));
  alone.add_output(output);
  try {
    return reference_outputs(dce(alone), data)[0];
  } catch (const IndexError&) {
    return std::nullopt;
  }
}

/// An index out of range is told to who reads what needs it, and to nobody else.
std::string indices(const Program& program) {
  const Program wild{with_wild_indices(program.graph), {}, expected_steps(program, 1)[0].data};
  const Graph& graph = wild.graph;
  if (graph == program.graph) return {};
  std::vector<std::optional<Bytes>> expected;
  for (const NodeId output : graph.outputs()) {
    expected.push_back(output_alone(graph, output, wild.data));
  }
  LiveProgram live(wild);
  live.load(wild.data);
  for (const bool taped : {true, false}) {
    std::optional<Tape> tape;
    if (taped) tape.emplace();
    const std::vector<Tensor> outputs = live.record(Scalars::Numbers);
    try {
      if (taped) tape->realize(outputs);
    } catch (const IndexError&) {
    }
    for (size_t i = outputs.size(); i-- > 0;) {
      const TensorType& type = graph[graph.outputs()[i]].type;
      try {
        // Without an expectation anything may come: what needs no bad element need not look at it.
        const Bytes none(static_cast<size_t>(type.shape.numel()) * size_of(type.dtype));
        const std::string found = tensor_difference(outputs[i], type, expected[i].value_or(none));
        if (expected[i] && !found.empty()) {
          return str("output ", i, ", ", type, ", ", found, " expected");
        }
      } catch (const IndexError& error) {
        if (expected[i]) return str("output ", i, ", ", type, " needs no index: ", error.what());
      }
    }
  }
  return {};
}

constexpr Mode kModes[] = {
    {"passes", 1, passes, ""},       {"taped", 1, taped, "interpreter"},
    {"frozen", 1, frozen, ""},       {"threads", 8, threads, "interpreter"},
    {"folded", 4, folded, ""},       {"eager", 4, eager, ""},
    {"shared", 4, shared, ""},       {"rebound", 4, rebound, ""},
    {"gradients", 6, gradients, ""}, {"ops", 10, ops, "ops"},
    {"indices", 2, indices, ""},     {"vulkan", 25, vulkan, ""},
};

}  // namespace

std::span<const Mode> modes() {
  return kModes;
}

const Mode& find_mode(std::string_view name) {
  std::string known;
  for (const Mode& mode : kModes) {
    if (mode.name == name) return mode;
    known += str(known.empty() ? "" : ", ", mode.name);
  }
  throw Error(str("no mode is called '", name, "'; there are ", known));
}

std::string run_mode(const Mode& mode, const Program& program) {
  try {
    return mode.run(program);
  } catch (const std::exception& error) {
    return str("threw: ", error.what());
  }
}

}  // namespace reprise
