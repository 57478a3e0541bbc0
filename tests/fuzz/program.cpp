// What is the same for every way to run a program: its data, its text, its right results.
#include "tests/fuzz/program.h"

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

Graph without_strides(const Graph& graph) {
  Graph plain;
  for (Node node : graph.nodes()) {
    if (node.op == Op::Input) node.attrs = Attrs().add_int(node.attrs.word(0)).add_ints({});
    plain.add(std::move(node));
  }
  for (const NodeId output : graph.outputs()) plain.add_output(output);
  return plain;
}

std::vector<Bytes> reference_outputs(const Graph& graph, const LeafData& data) {
  std::vector<const void*> inputs;
  for (const Bytes& input : data.inputs) inputs.push_back(input.data());
  return interpret(without_strides(graph), cpu_device().target().numerics, inputs, data.parameters);
}

std::string print(const Program& program) {
  std::string text;
  for (const auto& [input, output] : program.assigns) {
    text += str("# then input ", input, " = output ", output, '\n');
  }
  return text + print(program.graph);
}

}  // namespace reprise
