// Costs of ops and the needs of values, found before fusion places anything.
#include "passes/fuse_costs.h"

#include <algorithm>

#include "ir/scalar.h"
#include "passes/index_map.h"

namespace reprise {

namespace {

int64_t cost_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::Exp:
    case ScalarOp::Log:
    case ScalarOp::Tanh:
    case ScalarOp::Erf:
    case ScalarOp::Sin:
    case ScalarOp::Cos:
      return 16;
    case ScalarOp::Div:
    case ScalarOp::Mod:
    case ScalarOp::Sqrt:
      return 4;
    case ScalarOp::Const:
    case ScalarOp::Param:
    case ScalarOp::Index:
    case ScalarOp::Load:
    case ScalarOp::Reduced:
      return 0;
    default:
      return 1;
  }
}

/// Movements between an operand and its memory that are looked at.
constexpr size_t kMaxViews = 16;

/// Whether an index is affine once loops are split: sums of variables and of digits of them.
bool is_affine_when_split(const IndexSpace& space, const IndexExpr& e) {
  for (const IndexTerm& term : e.terms) {
    const IndexAtom& atom = space.atom(term.atom);
    switch (atom.kind) {
      case IndexAtom::Kind::Variable:
        break;
      case IndexAtom::Kind::Scalar:
        return false;
      case IndexAtom::Kind::Div:
      case IndexAtom::Kind::Mod: {
        if (atom.of.offset != 0 || atom.of.terms.size() != 1 || atom.of.terms[0].coefficient != 1) {
          return false;
        }
        const int64_t extent = space.atom(atom.of.terms[0].atom).high + 1;
        if (extent % atom.divisor != 0 || !is_affine_when_split(space, atom.of)) return false;
        break;
      }
    }
  }
  return true;
}

/// The variables that an index depends on, as a mask.
uint32_t variables_of(const IndexSpace& space, const IndexExpr& e) {
  uint32_t mask = 0;
  for (const IndexTerm& term : e.terms) {
    const IndexAtom& atom = space.atom(term.atom);
    mask |= atom.kind == IndexAtom::Kind::Variable ? uint32_t{1} << atom.number
                                                   : variables_of(space, atom.of);
  }
  return mask;
}

/// Whether a contraction reads its operand through movements from `memory` as it packs it: because
/// a copy would have more elements than there are (windows), or because digits of its loops are all
/// there is to compute. Both axes of the tile must advance in memory. What all products of a batch
/// share is packed for each of them: a copy is made once.
bool is_seen_through(const Graph& graph, const Node& product, NodeId operand, NodeId memory) {
  const Shape& shape = graph[operand].type.shape;
  IndexSpace space;
  IndexMap map;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    map.coordinates.push_back(space.variable(static_cast<uint32_t>(axis), shape[axis]));
  }
  for (NodeId id = operand; id != memory; id = graph[id].operands[0]) {
    map = space.through(graph[id], graph[graph[id].operands[0]].type.shape, map);
  }
  uint32_t seen = 0, wanted = 0;
  for (const IndexExpr& e : map.coordinates) seen |= variables_of(space, e);
  for (int axis = shape.rank() - 2; axis < shape.rank(); ++axis) {
    if (shape[axis] > 1) wanted |= uint32_t{1} << axis;
  }
  if ((wanted & ~seen) != 0) return false;
  const auto batch = [](const Shape& s) {
    return s.numel() / std::max<int64_t>(1, s[s.rank() - 1] * s[s.rank() - 2]);
  };
  const bool shared = batch(shape) < batch(product.type.shape);
  if (!shared && shape.numel() > graph[memory].type.shape.numel()) return true;
  if (shared && !map.conditions.empty()) return false;
  const auto is_affine = [&](const IndexExpr& e) { return is_affine_when_split(space, e); };
  return std::all_of(map.coordinates.begin(), map.coordinates.end(), is_affine) &&
         std::all_of(map.conditions.begin(), map.conditions.end(),
                     [&](const IndexCondition& c) { return is_affine(c.value); });
}

/// The value whose memory a contraction reads its operand from: the deepest one below it that it is
/// a strided view of, each axis of the tile advancing, or sees through to; else the operand itself.
NodeId operand_memory(const Graph& graph, const Node& product, NodeId operand) {
  std::vector<NodeId> below{operand};
  while (op_def(graph[below.back()].op).kind == OpKind::Movement && below.size() < kMaxViews) {
    below.push_back(graph[below.back()].operands[0]);
  }
  const Shape& shape = graph[operand].type.shape;
  const auto is_readable = [&](NodeId memory) {
    const Node& node = graph[memory];
    if (op_def(node.op).kind == OpKind::Leaf && node.op != Op::Input) return false;
    StridedView view;
    if (!strided_view(graph, operand, &view, [&](NodeId id) { return id == memory; }) ||
        view.base != memory) {
      return false;
    }
    for (int axis = shape.rank() - 2; axis < shape.rank(); ++axis) {
      if (shape[axis] > 1 && view.strides[axis] == 0) return false;
    }
    return true;
  };
  const Node& deepest = graph[below.back()];
  const bool has_memory = op_def(deepest.op).kind != OpKind::Leaf || deepest.op == Op::Input;
  if (!is_readable(below.back()) && has_memory &&
      is_seen_through(graph, product, operand, below.back())) {
    // Zeros around what windows overlap in are laid down once: each element would be asked for
    // its place several times.
    for (NodeId id : below) {
      if (graph[id].op == Op::Pad && shape.numel() >= 2 * graph[id].type.shape.numel()) return id;
    }
    return below.back();
  }
  while (below.size() > 1 && !is_readable(below.back())) below.pop_back();
  return below.back();
}

}  // namespace

int64_t OpCosts::operator()(const Node& node) {
  const OpDef& def = op_def(node.op);
  switch (def.kind) {
    case OpKind::Movement:
      return 1;
    case OpKind::Gather:
      return 6;
    case OpKind::Reduction:
    case OpKind::Contraction:
    case OpKind::Scan:
    case OpKind::Scatter:
    case OpKind::Sort:
    case OpKind::Composite:
      return 0;
    case OpKind::Leaf:
    case OpKind::Elementwise:
      break;
  }
  if (def.kind == OpKind::Elementwise && def.lower == nullptr)
    return 1;  // a load or store of pairs
  if (def.lower == nullptr && def.lower_leaf == nullptr) return 0;
  const DType first = node.operands.empty() ? node.type.dtype : graph_[node.operands[0]].type.dtype;
  const uint64_t key = static_cast<uint64_t>(node.op) << 32 | static_cast<uint64_t>(first) << 8 |
                       static_cast<uint64_t>(node.type.dtype);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Body body;
  ScalarBuilder builder(body);
  std::vector<TensorType> types;
  std::vector<ScalarId> operands;
  for (NodeId operand : node.operands) {
    types.push_back(graph_[operand].type);
    operands.push_back(builder.param(static_cast<uint32_t>(operands.size()), types.back().dtype));
  }
  const OpContext context{
      .op = node.op, .operands = types, .attrs = node.attrs, .result = &node.type};
  if (def.lower != nullptr) {
    (void)def.lower(builder, operands, context);
  } else {
    const std::vector<ScalarId> indices(node.type.shape.rank(),
                                        builder.param(UINT32_MAX, DType::I64));
    (void)def.lower_leaf(builder, operands, indices, context);
  }
  int64_t cost = 0;
  for (const Instr& instr : body.instrs) cost += cost_of(instr.op);
  // Even a copy is work: chains of anything end somewhere.
  if (def.kind == OpKind::Elementwise) cost = std::max<int64_t>(cost, 1);
  return known_[key] = cost;
}

namespace {

/// A view of the parts of an input of pairs as a view of that input, in elements of the parts. Of
/// an input that lies otherwise than row-major it would take the input's own strides.
bool see_input_of_part(const Graph& graph, StridedView* view) {
  const Node& part = graph[view->base];
  if (part.op != Op::Real && part.op != Op::Imag) return true;
  const Node& input = graph[part.operands[0]];
  if (input.op != Op::Input || !input.attrs.ints(1).empty()) return false;
  view->base = part.operands[0];
  view->offset = 2 * view->offset + (part.op == Op::Imag ? 1 : 0);
  for (int64_t& stride : view->strides) stride *= 2;
  return true;
}

}  // namespace

bool output_view(const Graph& graph, NodeId output, OutputView* view) {
  StridedView strided;
  if (!strided_view(graph, output, &strided) || !see_input_of_part(graph, &strided)) return false;
  const Node& base = graph[strided.base];
  if (base.op != Op::Input) {
    const Shape& shape = graph[output].type.shape;
    if (strided.offset != 0 || shape.numel() != base.type.shape.numel()) return false;
    const auto contiguous = shape.contiguous_strides();
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] != 1 && strided.strides[i] != contiguous[i]) return false;
    }
  }
  // Nothing of an empty value lies anywhere; its offset might be outside of the base.
  const int64_t offset = graph[output].type.shape.numel() == 0 ? 0 : strided.offset;
  *view = {strided.base, offset, std::move(strided.strides)};
  return true;
}

std::vector<Needs> find_needs(const Graph& graph) {
  std::vector<Needs> needs(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[NodeId{i}];
    needs[i].uniform = node.type.shape.numel() == 1 && node.op != Op::Input;
    for (NodeId operand : node.operands) {
      needs[i].uniform = needs[i].uniform && needs[operand.index].uniform;
    }
  }
  for (NodeId output : graph.outputs()) {
    OutputView view;
    needs[output.index].used = true;
    const NodeId memory = output_view(graph, output, &view) ? view.base : output;
    if (graph[memory].op == Op::Input) continue;
    needs[memory.index].output = needs[memory.index].stored = true;
  }
  for (uint32_t i = graph.size(); i-- > 0;) {
    const Node& node = graph[NodeId{i}];
    if (!needs[i].used) continue;
    const OpKind kind = op_def(node.op).kind;
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const NodeId operand = node.operands[o];
      Needs& need = needs[operand.index];
      need.used = true;
      if (node.op == Op::After && o == 1) continue;  // nothing of it is read
      const bool again = std::find(node.operands.begin(), node.operands.begin() + o, operand) !=
                         node.operands.begin() + o;
      if (again) continue;
      need.users += kind == OpKind::Movement ? std::max<int64_t>(1, needs[i].users) : 1;
      if (kind == OpKind::Movement) need.expanded |= needs[i].expanded;
      // What is added up is read once, the indices for each element that they move.
      if (kind == OpKind::Movement || kind == OpKind::Elementwise ||
          (kind == OpKind::Scatter && o == 1)) {
        need.expanded |= node.type.shape.numel() > graph[operand].type.shape.numel();
      }
      if (kind == OpKind::Contraction) {
        const NodeId memory = operand_memory(graph, node, operand);
        if (graph[memory].op == Op::Input) continue;
        Needs& factor = needs[memory.index];
        if (op_def(graph[memory].op).kind == OpKind::Elementwise) {
          const auto has_batch = [&](NodeId id) {
            const Shape& shape = graph[id].type.shape;
            const int64_t matrix = shape[shape.rank() - 1] * shape[shape.rank() - 2];
            return matrix != 0 && shape.numel() / matrix > 1;
          };
          factor.factor = true;
          factor.batched = has_batch(node.operands[0]) && has_batch(node.operands[1]);
          // What windows read repeatedly they would compute repeatedly.
          const int64_t repeats =
              std::max<int64_t>(1, graph[operand].type.shape.numel() /
                                       std::max<int64_t>(1, graph[memory].type.shape.numel()));
          factor.reuse = node.type.shape[node.type.shape.rank() - (o == 0 ? 1 : 2)] / repeats;
        } else {
          factor.stored = true;
        }
      }
    }
  }
  return needs;
}

}  // namespace reprise
