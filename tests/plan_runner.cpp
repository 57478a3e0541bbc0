// Runs graphs through fusion, lowering and memory planning on the interpreters.
#include "plan_runner.h"

#include "compiler/pipeline.h"
#include "ir/error.h"

namespace reprise {

Lowered lower_verified(const Graph& graph) {
  verify(graph);
  const Graph whole = split_pairs(expand(graph));
  Lowered lowered = lower(whole, fuse(whole));
  for (const Kernel& kernel : lowered.kernels) {
    try {
      verify(kernel);
    } catch (const InternalError& error) {
      throw InternalError(str(error.what(), "\n", print(graph), print(kernel)));
    }
  }
  lowered.plan = plan_memory(lowered.plan);
  verify(lowered.plan, lowered.kernels);
  return lowered;
}

std::vector<Bytes> unwritten_outputs(const Graph& graph) {
  std::vector<Bytes> outputs;
  for (NodeId output : graph.outputs()) {
    const TensorType& type = graph[output].type;
    outputs.emplace_back(type.shape.numel() * size_of(type.dtype), std::byte{0xa5});
  }
  return outputs;
}

void copy_aliases(const Graph& graph, const Plan& plan, const GraphInputs& inputs,
                  std::vector<Bytes>& outputs) {
  for (const Alias& alias : plan.aliases) {
    const TensorType& type = graph[graph.outputs()[alias.output]].type;
    const Slot& slot = plan.slots[alias.slot.index];
    const auto index = static_cast<size_t>(slot.index);
    const std::byte* from = slot.kind == SlotKind::Input
                                ? static_cast<const std::byte*>(inputs.pointers[index])
                                : outputs[index].data();
    const size_t width = size_of(type.dtype);
    for (int64_t i = 0; i < type.shape.numel(); ++i) {
      int64_t element = alias.offset, rest = i;
      for (int axis = type.shape.rank(); axis-- > 0;) {
        element += rest % type.shape[axis] * alias.strides[axis];
        rest /= type.shape[axis];
      }
      std::copy_n(from + element * width, width, outputs[alias.output].data() + i * width);
    }
  }
}

std::vector<Bytes> run_lowered(const Graph& graph, const Lowered& lowered,
                               const GraphInputs& inputs) {
  std::vector<Bytes> outputs = unwritten_outputs(graph);
  std::vector<void*> input_pointers, output_pointers;
  for (const void* pointer : inputs.pointers) {
    input_pointers.push_back(const_cast<void*>(pointer));
  }
  for (Bytes& output : outputs) output_pointers.push_back(output.data());
  interpret(lowered.plan, lowered.kernels, Numerics{}, input_pointers, output_pointers,
            inputs.parameters);
  copy_aliases(graph, lowered.plan, inputs, outputs);
  return outputs;
}

std::string lowering_difference(const Graph& graph, uint32_t seed) {
  return lowering_difference(graph, sample_inputs(graph, seed));
}

std::string lowering_difference(const Graph& graph, const GraphInputs& inputs) {
  const std::vector<Bytes> expected = interpret(graph, inputs);
  const Lowered lowered = lower_verified(graph);
  const std::vector<Bytes> actual = run_lowered(graph, lowered, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string found =
        difference(graph[graph.outputs()[i]].type.dtype, expected[i], actual[i]);
    if (found.empty()) continue;
    std::string text =
        str("output ", i, ": ", found, "\n", print(graph), print(fuse(graph), graph));
    for (const Kernel& kernel : lowered.kernels) text += print(kernel);
    return text + print(lowered.plan);
  }
  return {};
}

}  // namespace reprise
