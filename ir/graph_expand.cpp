// Contractions that are made of other ops, as those.
#include <algorithm>

#include "ir/builder.h"
#include "ir/error.h"

namespace reprise {

namespace {

bool is_made_of_others(const Node& node) {
  const OpDef& def = op_def(node.op);
  return def.kind == OpKind::Contraction && def.compose != nullptr;
}

}  // namespace

Graph expand(const Graph& graph) {
  const std::span<const Node> nodes = graph.nodes();
  if (std::none_of(nodes.begin(), nodes.end(), is_made_of_others)) return graph;
  Graph result;
  result.reserve(graph.size());
  GraphBuilder builder(result);
  std::vector<NodeId> places;
  places.reserve(graph.size());
  for (const Node& old : nodes) {
    Node node = old;
    for (NodeId& operand : node.operands) operand = places[operand.index];
    if (!is_made_of_others(node)) {
      places.push_back(result.add(std::move(node)));
      continue;
    }
    std::vector<TensorType> types;
    std::vector<Value> operands;
    for (const NodeId operand : node.operands) {
      types.push_back(result[operand].type);
      operands.push_back({operand.index});
    }
    const OpContext context{
        .op = node.op, .operands = types, .attrs = node.attrs, .result = &node.type};
    const Value value = op_def(node.op).compose(builder, operands, context);
    REPRISE_ASSERT(builder.type(value) == node.type);
    places.push_back(NodeId{value.index});
  }
  for (const NodeId output : graph.outputs()) result.add_output(places[output.index]);
  return result;
}

}  // namespace reprise
