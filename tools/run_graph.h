// `reprise run`: a textual graph, compiled, run on given or random inputs, compared and timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace reprise {

struct RunOptions {
  uint64_t seed = 1;  ///< of the inputs that are not given
  std::vector<std::string>
      inputs;           ///< NAME=FILE.npy or NAME=random:SEED; names: input0, parameter0
  std::string device = "cpu";
  std::string compare;  ///< nothing, "interpreter" or "ops"
  int time = 0;         ///< how often to repeat
};

/// Prints what happened; returns the program's exit status. Throws Error for inputs that the graph
/// does not have or that are of another type.
int run_graph(const Graph& graph, const RunOptions& options);

}  // namespace reprise
