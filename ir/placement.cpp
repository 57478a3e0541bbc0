// Needs go from outputs to operands, and change devices at transfers.
#include "ir/placement.h"

#include <algorithm>

#include "ir/error.h"

namespace reprise {

namespace {

uint32_t device_at(const Node& transfer, int word) {
  const int64_t device = transfer.attrs.word(word);
  if (device < 0 || device >= kMaxGraphDevices) {
    throw DeviceError(str("transfer: there is no device ", device));
  }
  return static_cast<uint32_t>(device);
}

}  // namespace

bool is_transfer(const Node& node) {
  return node.op == Op::Transfer && node.attrs.word(0) != node.attrs.word(1);
}

bool has_transfers(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), is_transfer);
}

uint32_t source_of(const Node& transfer) {
  return device_at(transfer, 0);
}

uint32_t target_of(const Node& transfer) {
  return device_at(transfer, 1);
}

uint32_t num_read(const Node& node) {
  return node.op == Op::Checkpoint || node.op == Op::After ? 1 : node.operands.size();
}

std::vector<uint8_t> find_devices(const Graph& graph, std::span<const uint32_t> output_devices) {
  std::vector<uint8_t> devices(graph.size());
  for (uint32_t o = 0; o < graph.outputs().size(); ++o) {
    REPRISE_ASSERT(output_devices[o] < kMaxGraphDevices);
    devices[graph.outputs()[o].index] |= static_cast<uint8_t>(1u << output_devices[o]);
  }
  for (uint32_t i = graph.size(); i-- > 0;) {
    const Node& node = graph[NodeId{i}];
    if (devices[i] == 0) continue;
    if (!is_transfer(node)) {
      for (uint32_t o = 0; o < num_read(node); ++o) devices[node.operands[o].index] |= devices[i];
      continue;
    }
    if (devices[i] != 1u << target_of(node)) {
      throw DeviceError(str("the value of ", NodeId{i}, " is transferred to device ",
                            target_of(node), ", but needed on another"));
    }
    devices[node.operands[0].index] |= static_cast<uint8_t>(1u << source_of(node));
  }
  return devices;
}

}  // namespace reprise
