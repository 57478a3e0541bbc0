// Parts of a kernel built for a fusion group, their loops split until indices are affine.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "passes/graph_passes.h"
#include "passes/lower_axes.h"
#include "passes/lower_draft.h"
#include "passes/lower_values.h"

namespace reprise {

class NestLowering {
 public:
  NestLowering(const Graph& graph, const FusionGroup& group, const StoredValues& stored,
               uint32_t index)
      : graph_(graph), group_(group), stored_(stored), index_(index) {}

 protected:
  struct Nest {
    LoopAxes grid, parallel, reduce;
  };

  [[nodiscard]] const Node& anchor() const { return graph_[group_.anchor]; }
  [[nodiscard]] ValueLowering values(Body& body, uint32_t num_variables) {
    return ValueLowering(graph_, stored_, index_, draft_, body, num_variables);
  }

  /// Builds a part again with split loops for as long as that makes indices affine. `build` appends
  /// its stages and returns the split requests of their bodies.
  using BuildStages = std::function<std::vector<SplitRequest>(const Nest&, std::vector<Stage>&)>;
  [[nodiscard]] Part build_stages(Nest nest, const BuildStages& build);
  /// A part of one stage, which has the nest's loops.
  using BuildStage = std::function<std::vector<SplitRequest>(const Nest&, Stage&)>;
  [[nodiscard]] Part build_part(Nest nest, const BuildStage& build);
  [[nodiscard]] static std::vector<SplitRequest> requests_of(
      std::initializer_list<const ValueLowering*> bodies);

  void add_phase(std::vector<Part> parts) { draft_.kernel.phases.push_back({std::move(parts)}); }

  const Graph& graph_;
  const FusionGroup& group_;
  const StoredValues& stored_;
  uint32_t index_;
  KernelDraft draft_;

 private:
  static bool apply(Nest& nest, SplitRequest request);
};

}  // namespace reprise
