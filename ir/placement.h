// On which devices the values of a graph are needed: its transfers say so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace reprise {

/// Devices are numbers below this, which mean something to whoever runs the graph.
inline constexpr uint32_t kMaxGraphDevices = 8;

/// Whether a node passes from one device to another.
[[nodiscard]] bool is_transfer(const Node& node);
[[nodiscard]] bool has_transfers(const Graph& graph);
/// Where a transfer comes from and leads to. Throws DeviceError for a number that no device has.
[[nodiscard]] uint32_t source_of(const Node& transfer);
[[nodiscard]] uint32_t target_of(const Node& transfer);

/// How many operands a node is computed from. Those of a checkpoint after the first were said to
/// the gradient pass; what another value comes after may be another device's.
[[nodiscard]] uint32_t num_read(const Node& node);

/// The devices that need each node, as bits, when each output is needed on one. Throws DeviceError
/// where a value is needed on another device than its transfer leads to.
[[nodiscard]] std::vector<uint8_t> find_devices(const Graph& graph,
                                                std::span<const uint32_t> output_devices);

}  // namespace reprise
