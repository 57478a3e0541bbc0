// Runs whole graphs as compiled code on the CPU device.
#include "compiled_graph.h"

#include "compiler/kernel_cache.h"
#include "compiler/pipeline.h"
#include "ir/error.h"
#include "plan_runner.h"
#include "runtime/device.h"

namespace reprise {

std::vector<Bytes> run_compiled(const Graph& graph, const GraphInputs& inputs) {
  Device& device = cpu_device();
  const CompiledGraph compiled = compile(graph, device.target(), {});
  KernelCache cache;
  std::vector<std::shared_ptr<Executable>> executables;
  for (const auto& code : cache.get_all(device.backend(), compiled, device.target(), {}, 2)) {
    executables.push_back(device.load(*code));
  }
  std::vector<Bytes> outputs = unwritten_outputs(graph);
  Bytes arena(static_cast<size_t>(compiled.plan.arenas[0]) + 64, std::byte{0x5a});
  auto* const base =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(arena.data()) + 63) / 64 * 64);
  std::vector<void*> addresses;
  for (const Slot& slot : compiled.plan.slots) {
    switch (slot.kind) {
      case SlotKind::Input:
        addresses.push_back(const_cast<void*>(inputs.pointers[slot.index]));
        break;
      case SlotKind::Output:
        addresses.push_back(outputs[slot.index].data());
        break;
      case SlotKind::Arena:
        addresses.push_back(base + slot.offset);
        break;
    }
  }
  for (const Launch& launch : compiled.plan.launches) {
    std::vector<void*> buffers;
    for (SlotId slot : launch.buffers) buffers.push_back(addresses[slot.index]);
    std::vector<uint64_t> params;
    for (uint32_t param : launch.params) params.push_back(inputs.parameters[param]);
    LaunchStatus status;
    device.launch(*executables[launch.kernel], buffers, params, &status);
    if (status.failed != 0) {
      throw InternalError(str("index ", status.index, " against ", status.extent));
    }
  }
  copy_aliases(graph, compiled.plan, inputs, outputs);
  return outputs;
}

std::string compiled_difference(const Graph& graph, const GraphInputs& inputs) {
  const auto expected = interpret(graph, inputs, cpu_device().target().numerics);
  const std::vector<Bytes> actual = run_compiled(graph, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorType& type = graph[graph.outputs()[i]].type;
    const std::string found = difference(type.dtype, expected[i], actual[i]);
    if (!found.empty()) return str("output ", i, ", ", type, ": ", found);
  }
  return {};
}

}  // namespace reprise
