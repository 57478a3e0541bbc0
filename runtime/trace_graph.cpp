// From a trace to the graph the compiler is given.
#include <algorithm>

#include "ir/builder.h"
#include "ir/error.h"
#include "runtime/plan_entry.h"

namespace reprise {

namespace {

/// The operands of every recorded node as trace references, found once.
class Reader {
 public:
  Reader(const Trace& trace, const Slab<LiveNode>& nodes) : trace_(trace), nodes_(nodes) {
    for (const Trace::Recorded& r : trace.recorded()) {
      operand_start_.push_back(static_cast<uint32_t>(operands_.size()));
      if (!trace.alive(r)) continue;
      for (const NodeId operand : nodes[r.node.index].operands) {
        operands_.push_back(trace.at(operand));
        REPRISE_ASSERT(operands_.back().valid());
      }
    }
    operand_start_.push_back(static_cast<uint32_t>(operands_.size()));
  }
  [[nodiscard]] const LiveNode& node(uint32_t i) const {
    return nodes_[trace_.recorded()[i].node.index];
  }
  [[nodiscard]] std::span<const TraceRef> operands(uint32_t i) const {
    return std::span(operands_).subspan(operand_start_[i],
                                        operand_start_[i + 1] - operand_start_[i]);
  }

 private:
  const Trace& trace_;
  const Slab<LiveNode>& nodes_;
  std::vector<TraceRef> operands_;
  std::vector<uint32_t> operand_start_;
};

}  // namespace

Value add_input(GraphBuilder& builder, const TensorType& type, uint32_t index,
                std::span<const int64_t> strides, int64_t* shift) {
  // Kernels see addresses that only grow: a reversed axis becomes a reversed view of a forward one.
  const Shape& shape = type.shape;
  const auto contiguous = shape.contiguous_strides();
  const auto width = static_cast<int64_t>(size_of(type.dtype));
  std::vector<int64_t> forward(shape.rank()), starts(shape.rank(), 0), steps(shape.rank(), 1);
  bool is_contiguous = true, is_reversed = false;
  *shift = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    int64_t stride = strides[axis] / width;
    if (stride < 0) {
      is_reversed = true;
      *shift += strides[axis] * std::max<int64_t>(shape[axis] - 1, 0);
      starts[axis] = std::max<int64_t>(shape[axis] - 1, 0);
      steps[axis] = -1;
      stride = -stride;
    }
    forward[axis] = stride;
    is_contiguous &= shape[axis] <= 1 || stride == contiguous[axis];
  }
  if (is_contiguous) forward.clear();
  const Value value = builder.input(type, index, forward);
  return is_reversed ? builder.slice(value, starts, steps, shape) : value;
}

TraceGraph build_graph(const Trace& trace, const Slab<LiveNode>& nodes,
                       std::span<const uint32_t> wanted, std::span<const uint32_t> kept) {
  const Reader reader(trace, nodes);
  const auto count = static_cast<uint32_t>(trace.recorded().size());

  std::vector<char> needed(count, 0);
  for (const uint32_t i : wanted) needed[i] = 1;
  for (uint32_t i = count; i-- > 0;) {
    if (!needed[i]) continue;
    for (const TraceRef ref : reader.operands(i)) {
      if (!ref.is_leaf()) needed[ref.index()] = 1;
    }
  }

  TraceGraph result;
  GraphBuilder builder(result.graph);
  std::vector<Value> leaf_values(trace.leaves().size());
  std::vector<int64_t> leaf_inputs(trace.leaves().size(), -1);
  const auto leaf_value = [&](uint32_t leaf) {
    if (leaf_values[leaf].valid()) return leaf_values[leaf];
    const LiveNode& node = nodes[trace.leaves()[leaf].index];
    if (!node.stored) {
      const auto index = static_cast<uint32_t>(result.parameters.size());
      result.parameters.push_back(leaf);
      return leaf_values[leaf] = builder.parameter(node.type.dtype, index);
    }
    const auto index = static_cast<uint32_t>(result.inputs.size());
    leaf_inputs[leaf] = index;
    PlanEntry::Input input{.leaf = leaf, .shift = 0, .users = {}};
    const Value value = add_input(builder, node.type, index, node.stored->strides, &input.shift);
    result.inputs.push_back(std::move(input));
    return leaf_values[leaf] = value;
  };

  std::vector<Value> values(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!needed[i]) continue;
    const LiveNode& node = reader.node(i);
    Operands operands;
    for (const TraceRef ref : reader.operands(i)) {
      const Value value = ref.is_leaf() ? leaf_value(ref.index()) : values[ref.index()];
      operands.push_back(NodeId{value.index});
    }
    values[i] = Value{result.graph.add({node.op, node.type, operands, node.attrs}).index};
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (const TraceRef ref : reader.operands(i)) {
      if (ref.is_leaf() && leaf_inputs[ref.index()] >= 0) {
        result.inputs[leaf_inputs[ref.index()]].users.push_back(i);
      }
    }
  }
  for (const uint32_t i : kept) {
    if (!needed[i]) continue;
    builder.output(values[i]);
    result.outputs.push_back(i);
  }
  return result;
}

}  // namespace reprise
