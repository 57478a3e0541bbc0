// Pairs as their parts; outputs that are views of memory stay views.
#include "passes/fuse_costs.h"
#include "passes/graph_passes.h"

namespace reprise {

Graph split_pairs(const Graph& graph) {
  return split_pairs(graph, [&](NodeId output) {
    OutputView view;
    return output_view(graph, output, &view) ? view.base : output;
  });
}

}  // namespace reprise
