// Dead code elimination: keeps what an output needs, in the old order.
#include "passes/graph_passes.h"
#include "passes/rewriter.h"

namespace reprise {

Graph dce(const Graph& graph) {
  std::vector<bool> needed(graph.size());
  for (NodeId output : graph.outputs()) needed[output.index] = true;
  // Operands precede their users, so one walk backwards sees every user before its operands.
  for (uint32_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (NodeId operand : graph[NodeId{i}].operands) needed[operand.index] = true;
  }
  GraphRewriter rewriter(graph);
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (needed[i]) rewriter.replace(id, rewriter.graph().add(rewriter.remapped(id)));
  }
  return rewriter.finish();
}

}  // namespace reprise
