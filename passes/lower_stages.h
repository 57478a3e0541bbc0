// Stage fusion: kernels that follow each other over the same rows become stages of one grid.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "passes/lower_draft.h"

namespace reprise {

/// Takes drafts in launch order and gives fewer. A draft becomes a further stage of the one that
/// computes the last value it needs, if every grid point then reads only what itself has written:
/// softmax, layer norm and cross-entropy with its gradient are one pass over their rows. Values
/// that nobody else reads become locals.
class StageFuser {
 public:
  explicit StageFuser(const Graph& graph);
  void add(KernelDraft draft);
  [[nodiscard]] std::vector<KernelDraft> take();

 private:
  static constexpr uint32_t kNobody = UINT32_MAX, kMany = UINT32_MAX - 1;

  void make_locals(KernelDraft& draft, uint32_t position) const;

  std::vector<KernelDraft> drafts_;
  std::vector<uint32_t> writer_;  ///< position of the draft that writes each value
  std::vector<uint32_t> reader_;  ///< of the only one that reads it
  std::vector<bool> is_output_;
};

}  // namespace reprise
