// What is the same for every way to run a program: its data, its text, its right results.
#include "program.h"

#include <cstdlib>
#include <cstring>
#include <random>

#include "ir/error.h"
#include "runtime/device.h"

namespace reprise {

LeafData leaf_data(const Graph& graph, uint64_t seed) {
  LeafData data;
  data.inputs.resize(num_inputs(graph));
  data.parameters.resize(num_parameters(graph));
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Input && node.op != Op::Parameter) continue;
    const auto index = static_cast<size_t>(node.attrs.word(0));
    // Each leaf has a stream of its own, so that dropping one leaves the others as they are.
    std::mt19937 random(
        static_cast<uint32_t>(seed * 2654435761u + 2 * index + (node.op == Op::Input ? 1 : 0)));
    const Draw draw = random() % 3 == 0 ? Draw::Anything : Draw::Small;
    const Bytes elements = sample_elements(node.type.dtype, node.type.shape.numel(), draw, random);
    if (node.op == Op::Input) {
      data.inputs[index] = elements;
    } else {
      data.parameters[index] = 0;
      std::memcpy(&data.parameters[index], elements.data(), elements.size());
    }
  }
  return data;
}

namespace {

/// The same graph, the strides of each input as `change` gives them.
template <class Change>
Graph with_strides(const Graph& graph, const Change& change) {
  Graph changed;
  for (Node node : graph.nodes()) {
    if (node.op == Op::Input) {
      node.attrs = Attrs().add_int(node.attrs.word(0)).add_ints(change(node.attrs.ints(1)));
    }
    changed.add(std::move(node));
  }
  for (const NodeId output : graph.outputs()) changed.add_output(output);
  return changed;
}

}  // namespace

Graph without_strides(const Graph& graph) {
  return with_strides(graph, [](auto) { return std::vector<int64_t>(); });
}

Graph with_forward_strides(const Graph& graph) {
  return with_strides(graph, [](std::span<const int64_t> strides) {
    std::vector<int64_t> forward(strides.begin(), strides.end());
    for (int64_t& stride : forward) stride = std::abs(stride);
    return forward;
  });
}

std::vector<Bytes> reference_outputs(const Graph& graph, const LeafData& data) {
  std::vector<const void*> inputs;
  for (const Bytes& input : data.inputs) inputs.push_back(input.data());
  return interpret(without_strides(graph), default_device().target().numerics, inputs,
                   data.parameters);
}

std::string print(const Program& program) {
  std::string text;
  for (const auto& [input, output] : program.assigns) {
    text += str("# then input ", input, " = output ", output, '\n');
  }
  return text + print(program.graph);
}

}  // namespace reprise
