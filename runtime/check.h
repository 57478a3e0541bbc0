// REPRISE_CHECK: every plan is run op by op as well, and the bits compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/execute.h"
#include "runtime/live_node.h"

namespace reprise {

/// Whether plans are checked: REPRISE_CHECK is set when the first plan runs, to something else than
/// 0, no, off or false, or a test said so.
[[nodiscard]] bool checking_plans();
void set_checking_plans(bool on);

/// A graph's nodes, each computed by a plan of its own from copies of what a run is about to read.
class OpByOp {
 public:
  /// Computes every node where it belongs: what no transfer brings elsewhere on `device`, or where
  /// `output_devices` say (see Runtime::load_plan). `inputs` are by graph input, as a launch would
  /// get them.
  OpByOp(Device& device, Graph graph, std::span<const Execution::Input> inputs,
         std::span<const uint64_t> parameters, std::span<const uint32_t> output_devices = {});

  /// Compares the values of the graph's outputs with what a fused run made of them. Throws
  /// InternalError naming the first node whose bits differ when it is computed together with all
  /// it needs, and the command that does it again with files it writes.
  void compare(std::span<const StoredValue> outputs) const;

 private:
  /// An element that differs, as text; empty when none does.
  [[nodiscard]] std::string difference(NodeId node, const StoredValue& fused) const;
  [[nodiscard]] std::string reproduction(const Graph& graph) const;
  [[nodiscard]] Graph ending_at(NodeId node) const;
  [[nodiscard]] std::vector<StoredValue> run(const Graph& graph, Device& device) const;
  /// The device that computes a node.
  [[nodiscard]] Device& place_of(NodeId node) const;

  Device& device_;
  Graph graph_;
  std::vector<uint8_t> places_;      ///< by node: devices that need it, as bits
  std::vector<StoredValue> inputs_;  ///< copies
  std::vector<uint64_t> parameters_;
  std::vector<StoredValue> values_;  ///< by node; parameters have none
  bool failed_ = false;              ///< an index was out of range: nothing to compare
};

}  // namespace reprise
