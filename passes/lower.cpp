// Lowering: every fusion group becomes a kernel, independent small ones share a launch.
#include "passes/lower.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "ir/error.h"
#include "passes/fuse_costs.h"
#include "passes/lower_kernel.h"
#include "passes/lower_plan.h"
#include "passes/lower_stages.h"

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

template <class Holds>
bool all_stages(const KernelDraft& draft, const Holds& holds) {
  for (const Phase& phase : draft.kernel.phases) {
    for (const Part& part : phase.parts) {
      if (!std::all_of(part.stages.begin(), part.stages.end(), holds)) return false;
    }
  }
  return true;
}

bool is_loops_only(const KernelDraft& draft) {
  return all_stages(draft, [](const Stage& stage) { return stage.kind == StageKind::Loop; });
}

bool is_folds_only(const KernelDraft& draft) {
  return all_stages(draft, [](const Stage& stage) {
    return stage.kind == StageKind::Loop && !stage.reduce.empty();
  });
}

/// Collects drafts in launch order; neighbours that do not read each other become one launch.
class LaunchMerger {
 public:
  explicit LaunchMerger(const Graph& graph)
      : is_output_(graph.size()),
        written_in_(graph.size()),
        read_in_(num_inputs(graph)),
        updated_in_(num_inputs(graph)) {
    for (NodeId output : graph.outputs()) {
      OutputView view;
      is_output_[(output_view(graph, output, &view) ? view.base : output).index] = true;
    }
  }

  void add(KernelDraft draft) {
    const size_t instrs = num_instrs(draft.kernel);
    const std::vector<uint32_t> updates = find_updates(draft);
    if (instrs_ + instrs > kMaxMergedInstrs || is_tied(draft, updates)) flush();
    for (size_t i = 0; i < draft.sources.size(); ++i) {
      const auto [kind, index] = draft.sources[i];
      if (kind == BufferSource::Kind::Input) read_in_[index] = batch_;
      if (draft.kernel.buffers[i].kind == BufferKind::Output) written_in_[index] = batch_;
    }
    for (uint32_t input : updates) updated_in_[input] = batch_;
    instrs_ += instrs;
    pending_.push_back(std::move(draft));
  }

  std::vector<KernelDraft> take() {
    flush();
    std::vector<KernelDraft> launches;
    for (KernelDraft& draft : merged_) {
      if (launches.empty() || !append_tail(launches.back(), draft)) {
        launches.push_back(std::move(draft));
      }
    }
    return launches;
  }

 private:
  /// Inputs that an output of the draft may be written over.
  [[nodiscard]] std::vector<uint32_t> find_updates(const KernelDraft& draft) const {
    std::vector<uint32_t> inputs;
    const std::vector<Buffer>& buffers = draft.kernel.buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (draft.sources[i].kind != BufferSource::Kind::Input) continue;
      for (size_t o = 0; o < buffers.size(); ++o) {
        if (buffers[o].kind == BufferKind::Output && is_output_[draft.sources[o].index] &&
            buffers[o].dtype == buffers[i].dtype && buffers[o].extent == buffers[i].extent &&
            may_donate(draft.kernel, BufferId{static_cast<uint32_t>(i)},
                       BufferId{static_cast<uint32_t>(o)})) {
          inputs.push_back(draft.sources[i].index);
          break;
        }
      }
    }
    return inputs;
  }

  /// Whether the draft needs what a pending one writes; or shares an input that one of them could
  /// take over, for which the other must have run before.
  [[nodiscard]] bool is_tied(const KernelDraft& draft, std::span<const uint32_t> updates) const {
    for (size_t i = 0; i < draft.sources.size(); ++i) {
      if (draft.kernel.buffers[i].kind != BufferKind::Input) continue;
      const auto [kind, index] = draft.sources[i];
      if (kind == BufferSource::Kind::Value && written_in_[index] == batch_) return true;
      if (kind == BufferSource::Kind::Input && updated_in_[index] == batch_) return true;
    }
    return std::any_of(updates.begin(), updates.end(),
                       [&](uint32_t input) { return read_in_[input] == batch_; });
  }

  /// Makes folds of what the launch before them computes further phases of it: the column sums and
  /// totals that follow a pass over rows.
  [[nodiscard]] bool append_tail(KernelDraft& rows, KernelDraft& tail) const {
    if (!is_loops_only(rows) || !is_folds_only(tail) ||
        num_instrs(rows.kernel) + num_instrs(tail.kernel) > kMaxMergedInstrs) {
      return false;
    }
    bool follows = false;
    const std::vector<uint32_t> updates = find_updates(tail);
    for (size_t i = 0; i < rows.sources.size(); ++i) {
      const auto [kind, index] = rows.sources[i];
      // An input that both read is updated in place only if no other body reads it.
      if (kind == BufferSource::Kind::Input &&
          std::find(updates.begin(), updates.end(), index) != updates.end()) {
        return false;
      }
      follows |= rows.kernel.buffers[i].kind == BufferKind::Output &&
                 std::find(tail.sources.begin(), tail.sources.end(), rows.sources[i]) !=
                     tail.sources.end();
    }
    for (uint32_t input : find_updates(rows)) {
      for (const auto& [kind, index] : tail.sources) {
        if (kind == BufferSource::Kind::Input && index == input) return false;
      }
    }
    if (!follows) return false;
    adopt_buffers(rows, tail);
    std::move(tail.kernel.phases.begin(), tail.kernel.phases.end(),
              std::back_inserter(rows.kernel.phases));
    order_buffers(rows);
    return true;
  }

  void flush() {
    if (!pending_.empty()) merged_.push_back(merge_drafts(std::move(pending_)));
    pending_.clear();
    instrs_ = 0;
    ++batch_;
  }

  std::vector<KernelDraft> pending_, merged_;
  std::vector<bool> is_output_;
  // The last batch that wrote each value; that read, that may write over each input. From 1 on.
  std::vector<uint32_t> written_in_, read_in_, updated_in_;
  uint32_t batch_ = 1;
  size_t instrs_ = 0;
};

/// An order in which drafts that expand come right before the first that reads them, the others as
/// they are: what they make lives no longer than it must, and their readers may run beside them.
std::vector<uint32_t> expand_late(std::span<const KernelDraft> drafts) {
  std::vector<uint32_t> places(drafts.size()), order(drafts.size());
  std::unordered_map<uint32_t, uint32_t> first_reader;  // of a value, its place
  for (uint32_t i = static_cast<uint32_t>(drafts.size()); i-- > 0;) {
    const KernelDraft& draft = drafts[i];
    uint32_t first = UINT32_MAX;
    for (size_t b = 0; b < draft.sources.size(); ++b) {
      if (draft.sources[b].kind != BufferSource::Kind::Value ||
          draft.kernel.buffers[b].kind != BufferKind::Output) {
        continue;
      }
      const auto found = first_reader.find(draft.sources[b].index);
      if (found != first_reader.end()) first = std::min(first, found->second);
    }
    order[i] = i;
    places[i] = first != UINT32_MAX && is_expanding(draft) ? first : i;
    for (size_t b = 0; b < draft.sources.size(); ++b) {
      if (draft.sources[b].kind != BufferSource::Kind::Value ||
          draft.kernel.buffers[b].kind != BufferKind::Input) {
        continue;
      }
      uint32_t& reader = first_reader.try_emplace(draft.sources[b].index, places[i]).first->second;
      reader = std::min(reader, places[i]);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return places[a] < places[b]; });
  return order;
}

}  // namespace

Lowered lower(const Graph& graph, const Fusion& fusion, int64_t cache_bytes) {
  StoredValues stored{.group_of = std::vector<uint32_t>(graph.size(), kNoGroup)};
  for (uint32_t g = 0; g < fusion.groups.size(); ++g) {
    for (NodeId store : fusion.groups[g].stores) stored.group_of[store.index] = g;
  }
  std::vector<KernelDraft> drafts;
  for (uint32_t g = 0; g < fusion.groups.size(); ++g) {
    const FusionGroup& group = fusion.groups[g];
    REPRISE_ASSERT(!group.stores.empty());
    // Values without elements have a slot, but no work.
    if (graph[group.stores[0]].type.shape.numel() == 0) continue;
    drafts.push_back(lower_group(graph, fusion, stored, g));
  }
  StageFuser stages(graph, cache_bytes);
  for (uint32_t place : expand_late(drafts)) stages.add(std::move(drafts[place]));
  LaunchMerger launches(graph);
  for (KernelDraft& draft : stages.take()) launches.add(std::move(draft));
  return build_plan(graph, stored, launches.take());
}

}  // namespace reprise
