// Nodes at index maps as scalar instructions: loads, index arithmetic, masks.
#include "passes/lower_values.h"

#include <algorithm>

#include "ir/error.h"

namespace reprise {

namespace {

OpContext context(const Node& node, std::span<const TensorType> operands) {
  return {.op = node.op, .operands = operands, .attrs = node.attrs, .result = &node.type};
}

/// What `split_pairs` leaves of these: parts of inputs.
bool is_part(const Node& node) {
  return node.op == Op::Real || node.op == Op::Imag;
}

std::vector<TensorType> operand_types(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  types.reserve(node.operands.size());
  for (NodeId operand : node.operands) types.push_back(graph[operand].type);
  return types;
}

}  // namespace

void ValueLowering::bind(NodeId node, IndexMap map, ScalarId value) {
  values_[key({node, space_.intern(std::move(map))})] = value;
}

ScalarId ValueLowering::value(NodeId node, IndexMap map) {
  const Place root{node, space_.intern(std::move(map))};
  if (const auto known = values_.find(key(root)); known != values_.end()) return known->second;
  std::vector<Frame> stack{frame(root)};
  while (!stack.empty()) {
    Frame& top = stack.back();
    Place missing{};
    for (const Place& operand : top.operands) {
      if (!values_.contains(key(operand))) {
        missing = operand;
        break;
      }
    }
    if (missing.node.valid()) {
      stack.push_back(frame(missing));
      continue;
    }
    const Node& node = graph_[top.place.node];
    if (node.op == Op::Gather && !top.operands.empty() && !top.gathered) {
      top.gathered = true;
      top.operands = {gather_data(top.place, values_.at(key(top.operands[0])))};
      continue;
    }
    values_[key(top.place)] = compute(top);
    stack.pop_back();
  }
  return values_.at(key(root));
}

ValueLowering::Frame ValueLowering::frame(Place place) {
  Frame frame{.place = place, .operands = {}, .gathered = false};
  const Node& node = graph_[place.node];
  if (is_loaded(place.node) || is_part(node)) return frame;
  switch (op_def(node.op).kind) {
    case OpKind::Leaf:
    case OpKind::Elementwise:
      for (NodeId operand : node.operands) frame.operands.push_back(operand_place(place, operand));
      return frame;
    case OpKind::Movement:
      frame.operands.push_back(operand_place(place, node.operands[0]));
      return frame;
    case OpKind::Gather: {
      const auto axis = static_cast<size_t>(node.attrs.word(0));
      const IndexMap& map = space_.map(place.map);
      const NodeId indices = node.operands[1];
      IndexMap at{.coordinates = {}, .conditions = map.conditions};
      for (int i = 0; i < graph_[indices].type.shape.rank(); ++i) {
        at.coordinates.push_back(map.coordinates[axis + i]);
      }
      frame.operands.push_back({indices, space_.intern(std::move(at))});
      return frame;
    }
    case OpKind::Reduction:
    case OpKind::Contraction:
    case OpKind::Scan:
    case OpKind::Scatter:
    case OpKind::Sort:
    case OpKind::Composite:
      break;
  }
  throw InternalError(str("fusion reads ", place.node, " = ", node.op, " inside a kernel that ",
                          "neither loads nor computes it there"));
}

ValueLowering::Place ValueLowering::operand_place(Place place, NodeId operand) {
  const Node& node = graph_[place.node];
  const Shape& shape = graph_[operand].type.shape;
  if (op_def(node.op).kind == OpKind::Movement) {
    return {operand, space_.intern(space_.through(node, shape, space_.map(place.map)))};
  }
  if (shape == node.type.shape) return {operand, place.map};
  return {operand, space_.intern(IndexSpace::broadcast(shape, space_.map(place.map)))};
}

ValueLowering::Place ValueLowering::gather_data(Place place, ScalarId index) {
  const Node& node = graph_[place.node];
  const NodeId data = node.operands[0];
  const Shape& shape = graph_[data].type.shape;
  const auto axis = static_cast<int>(node.attrs.word(0));
  const int index_rank = graph_[node.operands[1]].type.shape.rank();
  const int64_t extent = shape[axis];

  const ScalarId wide = builder_.cast(index, DType::I64);
  const ScalarId checked = builder_.check_index_from_end(wide, extent);

  const IndexMap& map = space_.map(place.map);
  IndexMap at{.coordinates = {}, .conditions = map.conditions};
  for (int i = 0; i < shape.rank(); ++i) {
    if (i == axis) {
      at.coordinates.push_back(space_.scalar(checked, extent));
    } else {
      at.coordinates.push_back(map.coordinates[i < axis ? i : i + index_rank - 1]);
    }
  }
  // Nothing can be read from an axis without elements: every index fails, the value is zero.
  if (extent == 0) at.conditions.push_back({IndexSpace::constant(0), 0});
  return {data, space_.intern(std::move(at))};
}

ScalarId ValueLowering::compute(const Frame& frame) {
  const Place place = frame.place;
  const Node& node = graph_[place.node];
  if (is_loaded(place.node)) return load(place);
  if (is_part(node)) return load_part(place);
  if (node.op == Op::Constant) return builder_.constant(node.attrs.as_float(0), node.type.dtype);
  if (node.op == Op::Parameter) {
    const auto index = static_cast<uint32_t>(node.attrs.word(0));
    return builder_.param(draft_.param(index, node.type.dtype), node.type.dtype);
  }
  const OpDef& def = op_def(node.op);
  SmallVector<ScalarId, 3> operands;
  for (const Place& operand : frame.operands) operands.push_back(values_.at(key(operand)));
  switch (def.kind) {
    case OpKind::Elementwise:
      return def.lower(builder_, operands, context(node, operand_types(graph_, node)));
    case OpKind::Leaf: {
      const std::vector<IndexExpr> coordinates = space_.map(place.map).coordinates;
      std::vector<ScalarId> indices;
      indices.reserve(coordinates.size());
      for (const IndexExpr& e : coordinates) indices.push_back(scalar(e));
      return def.lower_leaf(builder_, operands, indices,
                            context(node, operand_types(graph_, node)));
    }
    case OpKind::Movement:
      return def.movement == Movement::Pad ? pad(frame) : operands[0];
    case OpKind::Gather:
      return operands[0];
    case OpKind::Reduction:
    case OpKind::Contraction:
    case OpKind::Scan:
    case OpKind::Scatter:
    case OpKind::Sort:
    case OpKind::Composite:
      break;
  }
  throw InternalError(str("no scalar form of ", node.op));
}

ScalarId ValueLowering::load(Place place) {
  const Node& node = graph_[place.node];
  const int64_t extent = storage_extent(node);
  const BufferId buffer =
      node.op == Op::Input
          ? draft_.input(static_cast<uint32_t>(node.attrs.word(0)), node.type.dtype, extent)
          : draft_.read(place.node, node.type.dtype, extent);
  const IndexMap map = space_.map(place.map);
  const ScalarId where = mask(map.conditions);
  return builder_.load(access(buffer, space_.dot(map.coordinates, storage_strides(node))),
                       node.type.dtype, where);
}

/// Memory of pairs is that of their parts, one after the other.
ScalarId ValueLowering::load_part(Place place) {
  const Node& node = graph_[place.node];
  const Node& input = graph_[node.operands[0]];
  REPRISE_ASSERT(input.op == Op::Input);
  const BufferId buffer = draft_.input(static_cast<uint32_t>(input.attrs.word(0)), node.type.dtype,
                                       2 * storage_extent(input));
  const IndexMap map = space_.map(place.map);
  const ScalarId where = mask(map.conditions);
  IndexExpr element = space_.scale(space_.dot(map.coordinates, storage_strides(input)), 2);
  if (node.op == Op::Imag) element = space_.add(element, IndexSpace::constant(1));
  return builder_.load(access(buffer, element), node.type.dtype, where);
}

ScalarId ValueLowering::pad(const Frame& frame) {
  const std::vector<IndexCondition> outer = space_.map(frame.place.map).conditions;
  const std::vector<IndexCondition> inner = space_.map(frame.operands[0].map).conditions;
  const ScalarId value = values_.at(key(frame.operands[0]));
  if (inner.size() == outer.size()) return value;
  const ScalarId where = mask(inner);
  const Instr& instr = builder_.body()[value];
  // A load under the same mask already gives zero outside.
  if (instr.op == ScalarOp::Load && instr.args[0] == where) return value;
  const DType dtype = graph_[frame.place.node].type.dtype;
  return builder_.select(where, value, builder_.constant_bits(0, dtype));
}

ScalarId ValueLowering::mask(std::span<const IndexCondition> conditions) {
  ScalarId all{};
  const auto require = [&](ScalarId condition) {
    all = all.valid() ? builder_.binary(ScalarOp::And, all, condition) : condition;
  };
  for (const IndexCondition& condition : conditions) {
    const IndexRange bounds = space_.range(condition.value);
    const ScalarId e = scalar(condition.value);
    if (bounds.low < 0) require(builder_.le(builder_.integer(0, DType::I64), e));
    if (bounds.high >= condition.extent) {
      require(builder_.lt(e, builder_.integer(condition.extent, DType::I64)));
    }
  }
  return all;
}

SmallVector<ScalarId, 2> ValueLowering::scalars(NodeId node, const IndexMap& map) {
  if (graph_[node].op != Op::Complex) return {value(node, map)};
  SmallVector<ScalarId, 2> parts;
  for (NodeId part : graph_[node].operands) {
    parts.push_back(value(part, IndexSpace::broadcast(graph_[part].type.shape, map)));
  }
  return parts;
}

void ValueLowering::store(NodeId node, const IndexMap& map, std::span<const ScalarId> scalars) {
  const TensorType& type = graph_[node].type;
  const auto width = static_cast<int64_t>(scalars.size());
  const BufferId buffer = draft_.write(node, part_of(type.dtype), width * type.shape.numel());
  const IndexExpr element = space_.scale(space_.linearize(map.coordinates, type.shape), width);
  for (int64_t k = 0; k < width; ++k) {
    builder_.store(access(buffer, space_.add(element, IndexSpace::constant(k))),
                   scalars[static_cast<size_t>(k)]);
  }
}

Access ValueLowering::access(BufferId buffer, const IndexExpr& element) {
  Access access{.buffer = buffer, .index = {}, .dynamic = {}};
  access.index = affine(element, &access.dynamic);
  return access;
}

ScalarId ValueLowering::scalar(const IndexExpr& e) {
  ScalarId dynamic{};
  Affine form = affine(e, &dynamic);
  const bool constant = std::all_of(form.coefficients.begin(), form.coefficients.end(),
                                    [](int64_t c) { return c == 0; });
  if (dynamic.valid() && constant && form.offset == 0) return dynamic;
  const ScalarId base =
      constant ? builder_.integer(form.offset, DType::I64) : builder_.index(std::move(form));
  return dynamic.valid() ? builder_.add(base, dynamic) : base;
}

Affine ValueLowering::affine(const IndexExpr& e, ScalarId* dynamic) {
  emit_atoms(e);
  Affine form{.offset = e.offset, .coefficients = std::vector<int64_t>(num_variables_)};
  for (const IndexTerm& term : e.terms) {
    const IndexAtom& atom = space_.atom(term.atom);
    if (atom.kind == IndexAtom::Kind::Variable) {
      form.coefficients[atom.number] = term.coefficient;
      continue;
    }
    ScalarId value =
        atom.kind == IndexAtom::Kind::Scalar ? ScalarId{atom.number} : atoms_.at(term.atom);
    if (term.coefficient != 1) {
      value = builder_.mul(value, builder_.integer(term.coefficient, DType::I64));
    }
    *dynamic = dynamic->valid() ? builder_.add(*dynamic, value) : value;
  }
  return form;
}

void ValueLowering::emit_atoms(const IndexExpr& e) {
  // An atom's expression is made of earlier atoms, so ascending order needs no recursion.
  std::vector<uint32_t> needed, pending;
  const auto visit = [&](const IndexExpr& of) {
    for (const IndexTerm& term : of.terms) {
      const IndexAtom::Kind kind = space_.atom(term.atom).kind;
      const bool quotient = kind == IndexAtom::Kind::Div || kind == IndexAtom::Kind::Mod;
      if (quotient && !atoms_.contains(term.atom)) pending.push_back(term.atom);
    }
  };
  visit(e);
  while (!pending.empty()) {
    const uint32_t id = pending.back();
    pending.pop_back();
    if (std::find(needed.begin(), needed.end(), id) != needed.end()) continue;
    needed.push_back(id);
    visit(space_.atom(id).of);
  }
  std::sort(needed.begin(), needed.end());
  for (const uint32_t id : needed) {
    const IndexAtom atom = space_.atom(id);
    request_split(atom);
    const ScalarOp op = atom.kind == IndexAtom::Kind::Div ? ScalarOp::Div : ScalarOp::Mod;
    atoms_[id] = builder_.binary(op, scalar(atom.of), builder_.integer(atom.divisor, DType::I64));
  }
}

void ValueLowering::request_split(const IndexAtom& atom) {
  if (atom.of.terms.size() != 1) return;
  const IndexTerm term = atom.of.terms[0];
  const IndexAtom& variable = space_.atom(term.atom);
  if (variable.kind != IndexAtom::Kind::Variable) return;
  if ((variable.high + 1) % atom.divisor != 0) return;
  const int64_t phase = ((atom.of.offset % atom.divisor) + atom.divisor) % atom.divisor;
  const bool aligned = (term.coefficient == 1 && phase == 0) ||
                       (term.coefficient == -1 && phase == atom.divisor - 1);
  if (aligned) requests_.push_back({variable.number, atom.divisor});
}

}  // namespace reprise
