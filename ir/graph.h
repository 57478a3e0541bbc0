// Tensor values: ops, attributes, operands, dtypes and shapes, in topological order. No memory.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/ids.h"
#include "ir/op.h"
#include "ir/shape.h"

namespace reprise {

using Operands = SmallVector<NodeId, 3>;

/// Layout of a leaf's elements in its storage; strides in elements. The offset is not part of it:
/// a launch is given the address of element 0.
/// Input attributes: index (Int), strides (Ints; empty: row-major contiguous).
/// Parameter attributes: index (Int). Several inputs may share one storage; nothing here says so.
struct Node {
  Op op = Op::Input;
  TensorType type;
  Operands operands;
  Attrs attrs;
  friend bool operator==(const Node&, const Node&) = default;
};

/// Read-only once built; a pass makes a new one. Operands precede their users.
class Graph {
 public:
  NodeId add(Node node);
  void reserve(uint32_t nodes) { nodes_.reserve(nodes); }
  void add_output(NodeId id) { outputs_.push_back(id); }

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id.index]; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const NodeId> outputs() const { return outputs_; }

  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  std::vector<Node> nodes_;
  std::vector<NodeId> outputs_;
};

/// Number of inputs (parameters): one more than the largest index among those leaves.
[[nodiscard]] uint32_t num_inputs(const Graph& graph);
[[nodiscard]] uint32_t num_parameters(const Graph& graph);

/// Contractions that are made of other ops (a convolution) as those.
[[nodiscard]] Graph expand(const Graph& graph);
/// Values of pairs (complex numbers and integers) as their two parts. What is left of pairs are
/// inputs, which `real` and `imag` read, and outputs: a `complex` of two parts, or, where `memory`
/// gives another value than the output it is asked for, a view of that value's memory.
[[nodiscard]] Graph split_pairs(const Graph& graph,
                                const std::function<NodeId(NodeId output)>& memory);

/// Textual form; `print(parse(text)) == text`. Grammar: docs/IR.md.
[[nodiscard]] std::string print(const Graph& graph);
/// Throws ParseError with line and column.
[[nodiscard]] Graph parse_graph(std::string_view text);
/// Throws InternalError naming the rule (G01, G02, ...) and the node.
void verify(const Graph& graph);

struct Numerics;
/// Evaluates a graph node by node on host memory, contiguous, in the orders docs/SEMANTICS.md
/// fixes. `inputs` by input index, laid out as the input's strides say; `parameters` as raw words.
/// Returns the outputs' elements. Throws IndexError as a launch would report it.
[[nodiscard]] std::vector<std::vector<std::byte>> interpret(const Graph& graph,
                                                            const Numerics& numerics,
                                                            std::span<const void* const> inputs,
                                                            std::span<const uint64_t> parameters);

}  // namespace reprise
