// Stage fusion: kernels that follow each other over the same rows become stages of one grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "passes/lower_draft.h"

namespace reprise {

/// Bytes of a local: it lies in the caches of whoever runs the point, where going over it again is
/// cheaper than making what it holds a second time.
inline constexpr int64_t kMaxLocalBytes = 1 << 20;

/// Takes drafts in launch order and gives fewer. A draft becomes a further stage of the one that
/// computes the last value it needs, if every grid point then reads only what itself has written:
/// softmax, layer norm and cross-entropy with its gradient are one pass over their rows, attention
/// one pass over its heads. Points of products that are few, or too large for a cache, are cut into
/// blocks of rows or columns (passes/lower_blocks.h). Folds of the same data over the same loops
/// share a stage. Values that nobody else reads become locals.
class StageFuser {
 public:
  /// `cache_bytes`: of the cache that one thread has to itself.
  StageFuser(const Graph& graph, int64_t cache_bytes);
  void add(KernelDraft draft);
  [[nodiscard]] std::vector<KernelDraft> take();

 private:
  static constexpr uint32_t kNobody = UINT32_MAX, kMany = UINT32_MAX - 1;
  static constexpr size_t kNearReaders = 8;  ///< readers of a source that a sibling is sought among

  [[nodiscard]] std::vector<uint32_t> sources_of(const KernelDraft& draft) const;
  [[nodiscard]] bool append_stage(KernelDraft& rows, KernelDraft& next) const;
  [[nodiscard]] std::vector<int64_t> whole_steps(const KernelDraft& draft) const;
  void note_accesses(uint32_t position);
  [[nodiscard]] uint32_t unite(uint32_t earlier, uint32_t later, bool may_move_up);
  [[nodiscard]] uint32_t join_sibling(KernelDraft& draft);
  /// `only_user`: per value, the position of the only draft that touches it, or kMany.
  [[nodiscard]] std::vector<bool> internal_buffers(const KernelDraft& draft, uint32_t position,
                                                   std::span<const uint32_t> only_user) const;
  static void make_locals(KernelDraft& draft, const std::vector<bool>& is_internal);

  int64_t cache_bytes_;
  std::vector<KernelDraft> drafts_;     ///< without phases where one has moved into another
  std::vector<uint32_t> first_reader_;  ///< per draft: the first draft that reads what it writes
  std::vector<uint32_t> writer_;        ///< per value: position of the draft that writes it
  std::vector<std::vector<uint32_t>> value_readers_, input_readers_;  ///< positions, ascending
  std::vector<bool> is_output_;
  std::vector<int64_t> whole_steps_;  ///< per value: of the axis that all its readers reduce, or 0
};

}  // namespace reprise
