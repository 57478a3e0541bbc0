// Prologues: what an elementwise value reads, as index maps over its own axes.
#include "passes/fuse_prologue.h"

#include <utility>
#include <vector>

#include "passes/index_map.h"

namespace reprise {

namespace {

/// Adds the variables of an expression to `seen`; false where it is not affine.
bool note_variables(const IndexSpace& space, const IndexExpr& e, uint32_t* seen) {
  for (const IndexTerm& term : e.terms) {
    const IndexAtom& atom = space.atom(term.atom);
    if (atom.kind != IndexAtom::Kind::Variable) return false;
    *seen |= uint32_t{1} << atom.number;
  }
  return true;
}

bool is_contiguous(const IndexSpace& space, const IndexExpr& element, int last) {
  for (const IndexTerm& term : element.terms) {
    if (static_cast<int>(space.atom(term.atom).number) == last && term.coefficient != 1) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool reads_like_memory(const Graph& graph, NodeId value,
                       const std::function<bool(NodeId)>& is_loaded) {
  IndexSpace space;
  const Shape& shape = graph[value].type.shape;
  const int last = shape.rank() - 1;
  IndexMap own;
  uint32_t wanted = 0, seen = 0;
  for (int axis = 0; axis <= last; ++axis) {
    own.coordinates.push_back(space.variable(static_cast<uint32_t>(axis), shape[axis]));
    if (shape[axis] > 1) wanted |= uint32_t{1} << axis;
  }
  // Values of low cost only: paths are few.
  std::vector<std::pair<NodeId, IndexMap>> pending{{value, std::move(own)}};
  while (!pending.empty()) {
    const auto [id, map] = std::move(pending.back());
    pending.pop_back();
    const Node& node = graph[id];
    if (is_loaded(id)) {
      const IndexExpr element = space.dot(map.coordinates, storage_strides(node));
      if (!note_variables(space, element, &seen) || !is_contiguous(space, element, last)) {
        return false;
      }
      continue;
    }
    switch (op_def(node.op).kind) {
      case OpKind::Leaf:
        if (node.op == Op::Iota) {
          for (const IndexExpr& e : map.coordinates) {
            if (!note_variables(space, e, &seen)) return false;
          }
        } else if (node.op != Op::Constant && node.op != Op::Parameter) {
          return false;
        }
        break;
      case OpKind::Elementwise:
        if (node.op == Op::CheckIndex) return false;
        for (NodeId operand : node.operands) {
          pending.emplace_back(operand, IndexSpace::broadcast(graph[operand].type.shape, map));
        }
        break;
      case OpKind::Movement: {
        const NodeId operand = node.operands[0];
        IndexMap through = space.through(node, graph[operand].type.shape, map);
        if (!through.conditions.empty()) return false;
        pending.emplace_back(operand, std::move(through));
        break;
      }
      case OpKind::Gather:
      case OpKind::Scan:
      case OpKind::Scatter:
      case OpKind::Sort:
      case OpKind::Reduction:
      case OpKind::Contraction:
      case OpKind::Composite:
        return false;
    }
  }
  return (wanted & ~seen) == 0;
}

}  // namespace reprise
