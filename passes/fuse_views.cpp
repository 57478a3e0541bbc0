// Places inside a fusion group: which views of its points can be stored as well as they are.
#include "passes/fuse_views.h"

#include <algorithm>

namespace reprise {

GroupViews::GroupViews(const Shape& anchor) {
  std::vector<IndexExpr> coordinates;
  for (int axis = 0; axis < anchor.rank(); ++axis) {
    if (anchor[axis] == 1) continue;
    coordinates.push_back(space_.variable(static_cast<uint32_t>(axis), anchor[axis]));
    last_ = axis;
  }
  places_.push_back(std::move(coordinates));
  extents_.push_back(squeezed(anchor));
}

std::optional<uint32_t> GroupViews::add(const Graph& graph, NodeId movement, uint32_t from) {
  const Node& node = graph[movement];
  if (node.op != Op::Permute && node.op != Op::Reshape) return std::nullopt;
  const Shape& shape = node.type.shape;
  const Shape& operand = graph[node.operands[0]].type.shape;
  if (shape.numel() == 0) return std::nullopt;
  const IndexMap map = space_.forward(node, operand, place_in(operand, places_[from]));
  const IndexExpr element = space_.linearize(map.coordinates, shape);
  for (const IndexTerm& term : element.terms) {
    const IndexAtom& atom = space_.atom(term.atom);
    if (atom.kind != IndexAtom::Kind::Variable) return std::nullopt;
    if (static_cast<int>(atom.number) == last_ && term.coefficient != 1) return std::nullopt;
  }
  std::vector<IndexExpr> coordinates = squeezed(shape, map);
  std::vector<int64_t> extents = squeezed(shape);
  uint32_t place = 0;
  while (place < places_.size() && (places_[place] != coordinates || extents_[place] != extents)) {
    ++place;
  }
  if (place == places_.size()) {
    places_.push_back(std::move(coordinates));
    extents_.push_back(std::move(extents));
  }
  views_.push_back({.node = movement, .from = from, .place = place});
  return place;
}

}  // namespace reprise
