// Lowering: every fusion group becomes a kernel, independent small ones share a launch.
#include "passes/lower.h"

#include "ir/error.h"
#include "passes/lower_kernel.h"
#include "passes/lower_plan.h"

namespace reprise {

namespace {

/// Instructions of kernels that share a launch: bounds what one compilation works on.
constexpr size_t kMaxMergedInstrs = 2048;

size_t num_instrs(const Kernel& kernel) {
  size_t count = 0;
  for (const Phase& phase : kernel.phases) {
    for (const Part& part : phase.parts) {
      for (const Stage& stage : part.stages) {
        count += stage.body.instrs.size() + stage.post.instrs.size();
      }
    }
  }
  return count;
}

bool has_contraction(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    for (const Part& part : phase.parts) {
      for (const Stage& stage : part.stages) {
        if (stage.kind == StageKind::Contraction) return true;
      }
    }
  }
  return false;
}

/// Collects drafts in launch order; neighbours that do not read each other become one launch.
class LaunchMerger {
 public:
  explicit LaunchMerger(const Graph& graph) : written_by_(graph.size(), 0) {}

  void add(KernelDraft draft) {
    const size_t instrs = num_instrs(draft.kernel);
    // A contraction fills the machine and has its own schedule: it keeps its launch.
    const bool alone = has_contraction(draft.kernel);
    if (alone || pending_alone_ || instrs_ + instrs > kMaxMergedInstrs || reads_pending(draft)) {
      flush();
    }
    for (size_t i = 0; i < draft.sources.size(); ++i) {
      if (draft.kernel.buffers[i].kind == BufferKind::Output) {
        written_by_[draft.sources[i].index] = batch_;
      }
    }
    pending_alone_ = alone;
    instrs_ += instrs;
    pending_.push_back(std::move(draft));
  }

  std::vector<KernelDraft> take() {
    flush();
    return std::move(merged_);
  }

 private:
  [[nodiscard]] bool reads_pending(const KernelDraft& draft) const {
    for (size_t i = 0; i < draft.sources.size(); ++i) {
      if (draft.sources[i].kind == BufferSource::Kind::Value &&
          draft.kernel.buffers[i].kind == BufferKind::Input &&
          written_by_[draft.sources[i].index] == batch_) {
        return true;
      }
    }
    return false;
  }

  void flush() {
    if (!pending_.empty()) merged_.push_back(merge_drafts(std::move(pending_)));
    pending_.clear();
    instrs_ = 0;
    ++batch_;
  }

  std::vector<KernelDraft> pending_, merged_;
  std::vector<uint32_t> written_by_;  ///< the batch that writes each value
  uint32_t batch_ = 1;
  size_t instrs_ = 0;
  bool pending_alone_ = false;
};

}  // namespace

Lowered lower(const Graph& graph, const Fusion& fusion) {
  StoredValues stored{.group_of = std::vector<uint32_t>(graph.size(), kNoGroup)};
  for (uint32_t g = 0; g < fusion.groups.size(); ++g) {
    for (NodeId store : fusion.groups[g].stores) stored.group_of[store.index] = g;
  }
  LaunchMerger launches(graph);
  for (uint32_t g = 0; g < fusion.groups.size(); ++g) {
    const FusionGroup& group = fusion.groups[g];
    REPRISE_ASSERT(!group.stores.empty());
    // Values without elements have a slot, but no work.
    if (graph[group.stores[0]].type.shape.numel() == 0) continue;
    launches.add(lower_group(graph, fusion, stored, g));
  }
  return build_plan(graph, stored, launches.take());
}

}  // namespace reprise
