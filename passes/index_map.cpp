// Index maps: affine expressions over a stage's variables, and the movements that transform them.
#include "passes/index_map.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "ir/error.h"
#include "ir/hash.h"

namespace reprise {

namespace {

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

IndexExpr IndexSpace::variable(uint32_t number, int64_t extent) {
  if (extent <= 1) return constant(0);
  const auto [place, inserted] = variables_.emplace(number, static_cast<uint32_t>(atoms_.size()));
  if (inserted) {
    atoms_.push_back({.kind = IndexAtom::Kind::Variable, .number = number, .high = extent - 1});
  }
  return {.offset = 0, .terms = {{place->second, 1}}};
}

IndexExpr IndexSpace::scalar(ScalarId id, int64_t extent) {
  if (extent <= 1) return constant(0);
  const auto [place, inserted] = scalars_.emplace(id.index, static_cast<uint32_t>(atoms_.size()));
  if (inserted) {
    atoms_.push_back({.kind = IndexAtom::Kind::Scalar, .number = id.index, .high = extent - 1});
  }
  return {.offset = 0, .terms = {{place->second, 1}}};
}

IndexExpr IndexSpace::add(const IndexExpr& a, const IndexExpr& b) const {
  if (b.terms.empty()) {
    IndexExpr sum = a;
    sum.offset += b.offset;
    return sum;
  }
  IndexExpr sum{.offset = a.offset + b.offset, .terms = {}};
  sum.terms.reserve(a.terms.size() + b.terms.size());
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].atom < b.terms[j].atom)) {
      sum.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].atom < a.terms[i].atom) {
      sum.terms.push_back(b.terms[j++]);
    } else {
      const int64_t c = a.terms[i].coefficient + b.terms[j].coefficient;
      if (c != 0) sum.terms.push_back({a.terms[i].atom, c});
      ++i, ++j;
    }
  }
  // c*d*(e div d) + c*(e mod d) is c*e: what a reshape took apart, another puts together.
  for (size_t k = 0; k + 1 < sum.terms.size(); ++k) {
    const IndexAtom& low = atoms_[sum.terms[k + 1].atom];
    if (low.kind != IndexAtom::Kind::Mod || sum.terms[k].atom + 1 != sum.terms[k + 1].atom) {
      continue;
    }
    const int64_t c = sum.terms[k + 1].coefficient;
    if (sum.terms[k].coefficient != c * low.divisor) continue;
    sum.terms.erase(sum.terms.begin() + k, sum.terms.begin() + k + 2);
    return add(sum, scale(low.of, c));
  }
  return sum;
}

IndexExpr IndexSpace::scale(const IndexExpr& a, int64_t factor) const {
  if (factor == 0) return constant(0);
  IndexExpr product = a;
  product.offset *= factor;
  for (IndexTerm& term : product.terms) term.coefficient *= factor;
  return product;
}

IndexRange IndexSpace::range(const IndexExpr& a) const {
  IndexRange range{a.offset, a.offset};
  for (const IndexTerm& term : a.terms) {
    const IndexAtom& atom = atoms_[term.atom];
    range.low += term.coefficient * (term.coefficient > 0 ? atom.low : atom.high);
    range.high += term.coefficient * (term.coefficient > 0 ? atom.high : atom.low);
  }
  return range;
}

uint32_t IndexSpace::quotient_atoms(const IndexExpr& a, int64_t divisor) {
  const uint64_t key = hash(a, static_cast<uint64_t>(divisor));
  for (auto [it, end] = atom_table_.equal_range(key); it != end; ++it) {
    const IndexAtom& known = atoms_[it->second];
    if (known.divisor == divisor && known.of == a) return it->second;
  }
  const IndexRange bounds = range(a);
  const auto id = static_cast<uint32_t>(atoms_.size());
  atoms_.push_back({.kind = IndexAtom::Kind::Div,
                    .low = floor_div(bounds.low, divisor),
                    .high = floor_div(bounds.high, divisor),
                    .of = a,
                    .divisor = divisor});
  atoms_.push_back(
      {.kind = IndexAtom::Kind::Mod, .low = 0, .high = divisor - 1, .of = a, .divisor = divisor});
  atom_table_.emplace(key, id);
  return id;
}

IndexSpace::Quotient IndexSpace::divide(const IndexExpr& a, int64_t divisor) {
  REPRISE_ASSERT(divisor > 0);
  if (divisor == 1) return {a, constant(0)};
  Quotient result;
  IndexExpr rest{.offset = a.offset, .terms = {}};
  for (const IndexTerm& term : a.terms) {
    const int64_t whole = term.coefficient / divisor, left = term.coefficient % divisor;
    if (whole != 0) result.div.terms.push_back({term.atom, whole});
    if (left != 0) rest.terms.push_back({term.atom, left});
  }
  const IndexRange bounds = range(rest);
  const int64_t whole = floor_div(bounds.low, divisor);
  if (whole == floor_div(bounds.high, divisor)) {
    result.div.offset = whole;
    result.mod = rest;
    result.mod.offset -= whole * divisor;
    return result;
  }
  // rest = g*head + tail with the tail in [0, g): then only the head is divided.
  std::vector<IndexTerm> by_size = rest.terms;
  std::stable_sort(by_size.begin(), by_size.end(), [](const IndexTerm& x, const IndexTerm& y) {
    return std::abs(x.coefficient) > std::abs(y.coefficient);
  });
  int64_t g = divisor;
  IndexExpr head, tail = rest;
  for (const IndexTerm& term : by_size) {
    g = std::gcd(g, term.coefficient);
    if (g == 1) break;
    std::erase_if(tail.terms, [&](const IndexTerm& t) { return t.atom == term.atom; });
    const IndexRange tail_bounds = range(tail);
    const int64_t shift = floor_div(tail_bounds.low, g);
    if (shift != floor_div(tail_bounds.high, g)) continue;
    tail.offset -= shift * g;
    head.offset = shift;
    for (const IndexTerm& t : rest.terms) {
      const bool in_tail = std::any_of(tail.terms.begin(), tail.terms.end(),
                                       [&](const IndexTerm& u) { return u.atom == t.atom; });
      if (!in_tail) head.terms.push_back({t.atom, t.coefficient / g});
    }
    break;
  }
  if (head.terms.empty()) {
    g = 1;
    head = rest;
    tail = constant(0);
  }
  int64_t d = divisor / g;
  if (head.terms.size() == 1 && head.offset == 0 && head.terms[0].coefficient == 1) {
    const IndexAtom inner = atoms_[head.terms[0].atom];
    if (inner.kind == IndexAtom::Kind::Mod && inner.divisor % d == 0) {
      // (e mod nd) mod d is e mod d; the quotient stays an atom of its own.
      const Quotient of = divide(inner.of, d);
      const uint32_t id = quotient_atoms(head, d);
      result.div = add(result.div, IndexExpr{.offset = 0, .terms = {{id, 1}}});
      result.mod = add(scale(of.mod, g), tail);
      return result;
    }
  }
  const uint32_t id = quotient_atoms(head, d);
  result.div = add(result.div, IndexExpr{.offset = 0, .terms = {{id, 1}}});
  result.mod = add(IndexExpr{.offset = 0, .terms = {{id + 1, g}}}, tail);
  return result;
}

IndexExpr IndexSpace::div(const IndexExpr& a, int64_t divisor) {
  return divide(a, divisor).div;
}
IndexExpr IndexSpace::mod(const IndexExpr& a, int64_t divisor) {
  return divide(a, divisor).mod;
}

IndexExpr IndexSpace::dot(std::span<const IndexExpr> coordinates,
                          std::span<const int64_t> strides) const {
  IndexExpr sum = constant(0);
  for (size_t i = 0; i < coordinates.size(); ++i) {
    sum = add(sum, scale(coordinates[i], strides[i]));
  }
  return sum;
}

IndexExpr IndexSpace::linearize(std::span<const IndexExpr> coordinates,
                                std::span<const int64_t> extents) const {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  return dot(coordinates, strides);
}

std::vector<IndexExpr> IndexSpace::delinearize(IndexExpr linear, std::span<const int64_t> extents) {
  std::vector<IndexExpr> coordinates(extents.size());
  // The outermost axis that is longer than 1 takes what is left without a remainder.
  size_t outermost = 0;
  while (outermost < extents.size() && extents[outermost] == 1) ++outermost;
  for (size_t i = extents.size(); i-- > 0;) {
    if (extents[i] == 1) continue;
    if (i == outermost) {
      coordinates[i] = std::move(linear);
      break;
    }
    Quotient q = divide(linear, extents[i]);
    coordinates[i] = std::move(q.mod);
    linear = std::move(q.div);
  }
  return coordinates;
}

IndexMap IndexSpace::reshape(const Shape& result, const Shape& operand, const IndexMap& map) {
  IndexMap out{.coordinates = std::vector<IndexExpr>(operand.rank()), .conditions = map.conditions};
  if (result.numel() == 0) return out;  // never read
  // Runs of axes with equal products on both sides map to each other alone.
  int i = 0, j = 0;
  while (i < result.rank() && j < operand.rank()) {
    int i_end = i + 1, j_end = j + 1;
    int64_t p = result[i], q = operand[j];
    while (p != q) {
      if (p < q) {
        p *= result[i_end++];
      } else {
        q *= operand[j_end++];
      }
    }
    const std::span from(map.coordinates.data() + i, i_end - i);
    const std::span from_extents(result.begin() + i, i_end - i);
    const std::span to_extents(operand.begin() + j, j_end - j);
    std::vector<IndexExpr> to = delinearize(linearize(from, from_extents), to_extents);
    std::move(to.begin(), to.end(), out.coordinates.begin() + j);
    i = i_end;
    j = j_end;
  }
  return out;
}

IndexMap IndexSpace::through(const Node& movement, const Shape& operand, const IndexMap& result) {
  IndexMap out{.coordinates = std::vector<IndexExpr>(operand.rank()),
               .conditions = result.conditions};
  switch (op_def(movement.op).movement) {
    case Movement::Reshape:
      return reshape(movement.type.shape, operand, result);
    case Movement::Broadcast:
      return broadcast(operand, result);
    case Movement::Permute: {
      const std::span<const int64_t> order = movement.attrs.ints(0);
      for (size_t i = 0; i < order.size(); ++i) {
        out.coordinates[order[i]] = result.coordinates[i];
      }
      return out;
    }
    case Movement::Slice: {
      const std::span<const int64_t> starts = movement.attrs.ints(0);
      const std::span<const int64_t> steps =
          movement.attrs.ints(static_cast<int>(starts.size()) + 1);
      for (size_t i = 0; i < starts.size(); ++i) {
        if (operand[static_cast<int>(i)] <= 1) continue;
        out.coordinates[i] = add(scale(result.coordinates[i], steps[i]), constant(starts[i]));
      }
      return out;
    }
    case Movement::Pad: {
      const std::span<const int64_t> low = movement.attrs.ints(0);
      for (size_t i = 0; i < low.size(); ++i) {
        const int64_t extent = operand[static_cast<int>(i)];
        IndexExpr e = add(result.coordinates[i], constant(-low[i]));
        const IndexRange bounds = range(e);
        if (bounds.low < 0 || bounds.high >= extent) {
          IndexCondition condition{e, extent};
          if (std::find(out.conditions.begin(), out.conditions.end(), condition) ==
              out.conditions.end()) {
            out.conditions.push_back(std::move(condition));
          }
        }
        if (extent > 1) out.coordinates[i] = std::move(e);
      }
      return out;
    }
    case Movement::Window: {
      const auto own = static_cast<size_t>(operand.rank());
      const size_t windows = result.coordinates.size() - own;
      const std::span<const int64_t> strides = movement.attrs.ints(static_cast<int>(windows) + 1);
      const std::span<const int64_t> dilations =
          movement.attrs.ints(2 * static_cast<int>(windows) + 2);
      for (size_t i = 0; i < own; ++i) {
        if (operand[static_cast<int>(i)] == 1) continue;
        if (i + windows < own) {
          out.coordinates[i] = result.coordinates[i];
          continue;
        }
        const size_t w = i + windows - own;
        out.coordinates[i] = add(scale(result.coordinates[i], strides[w]),
                                 scale(result.coordinates[own + w], dilations[w]));
      }
      return out;
    }
  }
  REPRISE_ASSERT(false);
  return out;
}

IndexMap IndexSpace::forward(const Node& movement, const Shape& operand, const IndexMap& map) {
  if (op_def(movement.op).movement == Movement::Reshape) {
    return reshape(operand, movement.type.shape, map);
  }
  REPRISE_ASSERT(op_def(movement.op).movement == Movement::Permute);
  IndexMap out;
  for (int64_t axis : movement.attrs.ints(0)) {
    out.coordinates.push_back(map.coordinates[static_cast<size_t>(axis)]);
  }
  return out;
}

IndexMap IndexSpace::broadcast(const Shape& operand, const IndexMap& result) {
  IndexMap out{.coordinates = std::vector<IndexExpr>(operand.rank()),
               .conditions = result.conditions};
  const size_t skipped = result.coordinates.size() - operand.rank();
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand[i] != 1) out.coordinates[i] = result.coordinates[skipped + i];
  }
  return out;
}

uint64_t IndexSpace::hash(const IndexExpr& a, uint64_t seed) {
  uint64_t h = mix_hash(seed, static_cast<uint64_t>(a.offset));
  for (const IndexTerm& term : a.terms) {
    h = mix_hash(mix_hash(h, term.atom), static_cast<uint64_t>(term.coefficient));
  }
  return mix_hash(h, a.terms.size());
}

uint32_t IndexSpace::intern(IndexMap map) {
  uint64_t key = map.coordinates.size();
  for (const IndexExpr& e : map.coordinates) key = hash(e, key);
  for (const IndexCondition& c : map.conditions) {
    key = hash(c.value, mix_hash(key, static_cast<uint64_t>(c.extent)));
  }
  for (auto [it, end] = map_table_.equal_range(key); it != end; ++it) {
    if (maps_[it->second] == map) return it->second;
  }
  const auto id = static_cast<uint32_t>(maps_.size());
  maps_.push_back(std::move(map));
  map_table_.emplace(key, id);
  return id;
}

std::vector<int64_t> squeezed(const Shape& shape) {
  std::vector<int64_t> extents;
  for (int64_t extent : shape) {
    if (extent != 1) extents.push_back(extent);
  }
  return extents;
}

IndexMap place_in(const Shape& shape, std::span<const IndexExpr> coordinates) {
  IndexMap map;
  size_t next = 0;
  for (int64_t extent : shape) {
    map.coordinates.push_back(extent == 1 ? IndexExpr{} : coordinates[next++]);
  }
  REPRISE_ASSERT(next == coordinates.size());
  return map;
}

std::vector<IndexExpr> squeezed(const Shape& shape, const IndexMap& map) {
  std::vector<IndexExpr> coordinates;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != 1) coordinates.push_back(map.coordinates[static_cast<size_t>(axis)]);
  }
  return coordinates;
}

bool is_identity_movement(const Node& movement, const Shape& operand) {
  if (movement.type.shape.numel() != operand.numel()) return false;
  switch (op_def(movement.op).movement) {
    case Movement::Reshape:
    case Movement::Broadcast:
      return squeezed(movement.type.shape) == squeezed(operand);
    case Movement::Permute: {
      int64_t last = -1;
      for (int64_t axis : movement.attrs.ints(0)) {
        if (operand[static_cast<int>(axis)] == 1) continue;
        if (axis < last) return false;
        last = axis;
      }
      return true;
    }
    case Movement::Slice:
    case Movement::Pad:
    case Movement::Window:
      return false;
  }
  return false;
}

std::vector<int64_t> storage_strides(const Node& node) {
  if (node.op == Op::Input && !node.attrs.ints(1).empty()) {
    const std::span<const int64_t> strides = node.attrs.ints(1);
    return {strides.begin(), strides.end()};
  }
  const auto strides = node.type.shape.contiguous_strides();
  return {strides.begin(), strides.begin() + node.type.shape.rank()};
}

bool strided_view(const Graph& graph, NodeId node, StridedView* view,
                  const std::function<bool(NodeId)>& is_stored) {
  IndexSpace space;
  const Shape& shape = graph[node].type.shape;
  IndexMap map;
  for (int i = 0; i < shape.rank(); ++i) {
    map.coordinates.push_back(space.variable(static_cast<uint32_t>(i), shape[i]));
  }
  while (op_def(graph[node].op).kind == OpKind::Movement && !(is_stored && is_stored(node))) {
    const NodeId operand = graph[node].operands[0];
    map = space.through(graph[node], graph[operand].type.shape, map);
    if (!map.conditions.empty()) return false;
    node = operand;
  }
  const IndexExpr e = space.dot(map.coordinates, storage_strides(graph[node]));
  view->base = node;
  view->offset = e.offset;
  view->strides.assign(shape.rank(), 0);
  for (const IndexTerm& term : e.terms) {
    const IndexAtom& atom = space.atom(term.atom);
    if (atom.kind != IndexAtom::Kind::Variable) return false;
    view->strides[atom.number] = term.coefficient;
  }
  return true;
}

}  // namespace reprise
