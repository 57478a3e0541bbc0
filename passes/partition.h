// A graph with transfers as graphs of one device each, in order, and what passes between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/placement.h"

namespace reprise {

/// A node's value on one device. What reads no data may be computed on several.
struct PlacedValue {
  uint32_t node = 0;
  uint32_t device = 0;
  friend auto operator<=>(const PlacedValue&, const PlacedValue&) = default;
};

/// What one device computes before it needs something that does not exist yet.
struct GraphPiece {
  struct Source {
    enum class Kind : uint8_t {
      Input,  ///< an input of the whole graph
      Value,  ///< a piece before this one stores it, or a transfer brought it here
    } kind;
    uint32_t input = 0;  ///< Kind::Input
    PlacedValue value;   ///< Kind::Value; contiguous
  };
  uint32_t device = 0;
  Graph graph;                       ///< without transfers to other devices
  std::vector<Source> inputs;        ///< by its inputs
  std::vector<uint32_t> parameters;  ///< by its parameters: those of the whole graph
  // Its outputs are these, in this order:
  std::vector<uint32_t> outputs;    ///< outputs of the whole graph
  std::vector<PlacedValue> values;  ///< for later pieces and for transfers
};

struct GraphTransfer {
  PlacedValue from, to;
  uint32_t after = 0;  ///< so many pieces come before it
};

struct Partition {
  std::vector<GraphPiece> pieces;        ///< in an order that can be run
  std::vector<GraphTransfer> transfers;  ///< in order
};

/// Cuts a graph at its transfers. `output_devices`: where each output is to be. Pieces are as few
/// as the dependences allow when each value is computed as early as it can be; movements and what
/// reads no data are not stored for another piece but done again there. Throws DeviceError where a
/// value is to be on another device than its transfer brings it to.
[[nodiscard]] Partition partition(const Graph& graph, std::span<const uint32_t> output_devices);

}  // namespace reprise
