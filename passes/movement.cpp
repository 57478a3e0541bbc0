// Merging of nested movement: identities vanish, two of a kind become one.
#include "passes/movement.h"

#include <vector>

namespace reprise {

namespace {

bool moves_nothing(const Node& node, const Shape& operand) {
  if (node.type.shape != operand) return false;
  const int rank = operand.rank();
  switch (op_def(node.op).movement) {
    case Movement::Reshape:
    case Movement::Broadcast:
      return true;
    case Movement::Pad:  // the op takes no negative widths: equal extents mean that none was added
      return true;
    case Movement::Permute: {
      const std::span<const int64_t> order = node.attrs.ints(0);
      for (int axis = 0; axis < rank; ++axis) {
        if (order[axis] != axis) return false;
      }
      return true;
    }
    case Movement::Slice: {
      const std::span<const int64_t> starts = node.attrs.ints(0);
      const std::span<const int64_t> steps = node.attrs.ints(1 + rank);
      for (int axis = 0; axis < rank; ++axis) {
        // One element can only be taken from place 0, whatever the step says.
        if (operand[axis] > 1 && (starts[axis] != 0 || steps[axis] != 1)) return false;
      }
      return true;
    }
    case Movement::Window:  // adds axes
      return false;
  }
  return false;
}

/// Whether `longer` is `shape` with axes of extent 1 put in front.
bool adds_leading_ones(const Shape& shape, const Shape& longer) {
  const int added = longer.rank() - shape.rank();
  if (added < 0) return false;
  for (int axis = 0; axis < longer.rank(); ++axis) {
    if (longer[axis] != (axis < added ? 1 : shape[axis - added])) return false;
  }
  return true;
}

/// Turns `outer` over `inner` into a movement of inner's operand; false when they do not merge.
bool merge(Node& outer, const Node& inner, const Shape& innermost) {
  const Movement kind = op_def(outer.op).movement;
  const Movement below = op_def(inner.op).movement;
  const int rank = outer.type.shape.rank();
  // Every element of a broadcast rank-0 value is that value, wherever it moves.
  if (below == Movement::Broadcast && innermost.rank() == 0 && kind != Movement::Pad) {
    outer.op = Op::BroadcastTo;
    outer.attrs = {};
    return true;
  }
  if (kind == Movement::Broadcast && below == Movement::Reshape) {
    return adds_leading_ones(innermost, inner.type.shape);
  }
  if (kind != below) return false;
  switch (kind) {
    case Movement::Reshape:
    case Movement::Broadcast:
      return true;
    case Movement::Permute: {
      std::vector<int64_t> order;
      for (int64_t axis : outer.attrs.ints(0)) order.push_back(inner.attrs.ints(0)[axis]);
      outer.attrs = Attrs().add_ints(order);
      return true;
    }
    case Movement::Slice: {
      if (outer.type.shape.numel() == 0) return false;
      std::vector<int64_t> starts;
      std::vector<int64_t> steps;
      for (int axis = 0; axis < rank; ++axis) {
        const int64_t step = inner.attrs.ints(1 + rank)[axis];
        starts.push_back(inner.attrs.ints(0)[axis] + step * outer.attrs.ints(0)[axis]);
        // The step of a single element means nothing; a product of two such could overflow.
        const bool single = outer.type.shape[axis] == 1;
        steps.push_back(single ? 1 : step * outer.attrs.ints(1 + rank)[axis]);
      }
      outer.attrs = Attrs().add_ints(starts).add_ints(steps);
      return true;
    }
    case Movement::Pad: {
      std::vector<int64_t> low;
      std::vector<int64_t> high;
      for (int axis = 0; axis < rank; ++axis) {
        low.push_back(outer.attrs.ints(0)[axis] + inner.attrs.ints(0)[axis]);
        high.push_back(outer.attrs.ints(1 + rank)[axis] + inner.attrs.ints(1 + rank)[axis]);
      }
      outer.attrs = Attrs().add_ints(low).add_ints(high);
      return true;
    }
    case Movement::Window:
      return false;
  }
  return false;
}

/// Windows that are no more than new axes of extent 1, or one that is the whole of each axis.
bool only_adds_axes(const Node& window, const Shape& operand) {
  if (op_def(window.op).movement != Movement::Window) return false;
  const auto windows = static_cast<int>(window.attrs.word(0));
  const std::span<const int64_t> sizes = window.attrs.ints(0);
  const std::span<const int64_t> strides = window.attrs.ints(1 + windows);
  const std::span<const int64_t> dilations = window.attrs.ints(2 + 2 * windows);
  for (int w = 0; w < windows; ++w) {
    const int64_t extent = operand[operand.rank() - windows + w];
    const bool of_one = sizes[w] == 1 && (strides[w] == 1 || extent == 1);
    const bool of_all = sizes[w] == extent && dilations[w] == 1;
    if (!of_one && !of_all) return false;
    // Axes that trade places among others that are longer than 1 are no reshape.
    if (of_all && !of_one && windows > 1) return false;
  }
  return true;
}

}  // namespace

NodeId add_movement(Graph& graph, Node node) {
  if (node.op == Op::After) return graph.add(std::move(node));
  if (only_adds_axes(node, graph[node.operands[0]].type.shape)) {
    node.op = Op::Reshape;
    node.attrs = {};
  }
  while (true) {
    const Node& inner = graph[node.operands[0]];
    if (moves_nothing(node, inner.type.shape)) return node.operands[0];
    if (op_def(inner.op).kind != OpKind::Movement || inner.op == Op::After) break;
    if (!merge(node, inner, graph[inner.operands[0]].type.shape)) break;
    node.operands[0] = inner.operands[0];
  }
  return graph.add(std::move(node));
}

NodeId add_broadcast(Graph& graph, NodeId value, const Shape& shape) {
  const DType dtype = graph[value].type.dtype;
  return add_movement(
      graph, {.op = Op::BroadcastTo, .type = {dtype, shape}, .operands = {value}, .attrs = {}});
}

}  // namespace reprise
