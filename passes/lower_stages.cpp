// Stage fusion: what each grid point touches decides whether two kernels can share a grid.
#include "passes/lower_stages.h"

#include <algorithm>
#include <span>

#include "ir/error.h"
#include "passes/fuse_costs.h"
#include "passes/lower_axes.h"
#include "passes/lower_footprint.h"
#include "passes/lower_siblings.h"

namespace reprise {

namespace {

/// Bounds of one part: what one compilation works on.
constexpr size_t kMaxStages = 16;
constexpr size_t kMaxStageInstrs = 2048;
/// Grid points that are enough to share among threads; fewer only for small work.
constexpr int64_t kEnoughPoints = 16;
constexpr int64_t kSmallWork = 1 << 15;
/// Bytes of a local: it lies in the cache of whoever runs the point.
constexpr int64_t kMaxLocalBytes = 1 << 16;

int64_t product(std::span<const int64_t> extents) {
  int64_t n = 1;
  for (int64_t extent : extents) n *= extent;
  return n;
}

struct PartSize {
  size_t instrs = 0;
  int64_t elements = 0;  ///< of the longest stage, over the whole grid
  bool folds = false;
};

PartSize size_of_part(const Part& part) {
  PartSize size;
  for (const Stage& stage : part.stages) {
    size.instrs += stage.body.instrs.size() + stage.post.instrs.size();
    size.folds |= !stage.reduce.empty();
    size.elements = std::max(size.elements,
                             product(part.grid) * product(stage.parallel) * product(stage.reduce));
  }
  return size;
}

/// The part of a kernel that has no other.
Part* only_part(KernelDraft& draft) {
  std::vector<Phase>& phases = draft.kernel.phases;
  return phases.size() == 1 && phases[0].parts.size() == 1 ? &phases[0].parts[0] : nullptr;
}

/// Whether every point of the common grid reads only what itself has written.
bool are_points_independent(KernelDraft& rows, Part& first, const KernelDraft& next, Part& second,
                            std::span<const int64_t> grid, bool blocks) {
  for (size_t i = 0; i < rows.sources.size(); ++i) {
    if (rows.kernel.buffers[i].kind != BufferKind::Output) continue;
    const auto read = std::find(next.sources.begin(), next.sources.end(), rows.sources[i]);
    if (read == next.sources.end()) continue;
    Footprint touched = footprint(first, grid.size(), BufferId{static_cast<uint32_t>(i)});
    const BufferId there{static_cast<uint32_t>(read - next.sources.begin())};
    visit_accesses(second, grid.size(), [&](const Access& access, std::span<const int64_t> inner) {
      if (access.buffer == there) touched.add(access, grid.size(), inner);
    });
    if (!touched.is_private(grid)) return false;
    // Products are worth a launch of their own where what lies between them leaves the cache.
    const auto bytes = static_cast<int64_t>(size_of(rows.kernel.buffers[i].dtype));
    if (blocks && touched.span() * bytes > kMaxLocalBytes) return false;
  }
  return true;
}

/// Appends `next` to `rows`; false, with both unchanged, where points would depend on each other.
bool append_stage(KernelDraft& rows, KernelDraft& next) {
  Part* part = only_part(rows);
  Part* more = only_part(next);
  if (part == nullptr || more == nullptr) return false;
  const PartSize size = size_of_part(*part), added = size_of_part(*more);
  if (!size.folds && !added.folds) return false;  // elementwise work is split for its size
  if (part->stages.size() + more->stages.size() > kMaxStages ||
      size.instrs + added.instrs > kMaxStageInstrs) {
    return false;
  }
  Part first = *part, second = *more;
  const size_t axes = align_grids(first, second);
  const std::vector<int64_t> grid(first.grid.begin(), first.grid.begin() + axes);
  // Rows that are folded keep their points: those are what lanes and threads run over.
  if (size.folds && axes != first.grid.size()) return false;
  // The batch of a product is no loop of its tile.
  if (has_contraction(second) && axes != second.grid.size()) return false;
  const bool blocks = has_contraction(first) || has_contraction(second);
  if (product(grid) < kEnoughPoints &&
      (blocks || std::max(size.elements, added.elements) > kSmallWork)) {
    return false;
  }
  if (!are_points_independent(rows, first, next, second, grid, blocks)) return false;
  *part = std::move(first);
  *more = std::move(second);
  shorten_grid(*part, axes);
  shorten_grid(*more, axes);
  adopt_buffers(rows, next);
  std::move(more->stages.begin(), more->stages.end(), std::back_inserter(part->stages));
  merge_axes(*part);
  return true;
}

/// Whether both fold the same loops at the points of the same grid.
bool is_sibling(KernelDraft& a, KernelDraft& b) {
  const Part* one = only_part(a);
  const Part* other = only_part(b);
  if (one == nullptr || other == nullptr || one->grid != other->grid) return false;
  const Stage& fold = other->stages.front();
  if (other->stages.size() != 1 || fold.reduce.empty() || fold.kind != StageKind::Loop) {
    return false;
  }
  return std::any_of(one->stages.begin(), one->stages.end(), [&](const Stage& stage) {
    return stage.kind == StageKind::Loop && stage.reduce == fold.reduce &&
           stage.parallel == fold.parallel;
  });
}

}  // namespace

StageFuser::StageFuser(const Graph& graph)
    : writer_(graph.size(), kNobody),
      value_readers_(graph.size()),
      input_readers_(num_inputs(graph)),
      is_output_(graph.size()) {
  for (NodeId output : graph.outputs()) {
    OutputView view;
    is_output_[(output_view(graph, output, &view) ? view.base : output).index] = true;
  }
}

void StageFuser::add(KernelDraft draft) {
  const std::vector<uint32_t> sources = sources_of(draft);
  // Everything else it reads is written earlier than by the last of its sources.
  uint32_t position = kNobody;
  if (!sources.empty()) {
    uint32_t last = sources.back();
    bool may_move_up = true;
    for (size_t i = sources.size() - 1; i-- > 0;) {
      const uint32_t united = unite(sources[i], last, may_move_up);
      // The draft still waits for this one: the last may not pass it any more.
      if (united == kNobody) may_move_up = false;
      if (united != kNobody) last = united;
    }
    if (append_stage(drafts_[last], draft)) position = last;
  }
  if (position == kNobody) position = join_sibling(draft);
  if (position == kNobody) {
    position = static_cast<uint32_t>(drafts_.size());
    drafts_.push_back(std::move(draft));
    first_reader_.push_back(kNobody);
  }
  note_accesses(position);
}

std::vector<uint32_t> StageFuser::sources_of(const KernelDraft& draft) const {
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    if (draft.sources[i].kind != BufferSource::Kind::Value) continue;
    if (draft.kernel.buffers[i].kind != BufferKind::Input) continue;
    // Nobody writes a value without elements.
    const uint32_t writer = writer_[draft.sources[i].index];
    if (writer != kNobody) positions.push_back(writer);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

void StageFuser::note_accesses(uint32_t position) {
  const KernelDraft& draft = drafts_[position];
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    const auto [kind, index] = draft.sources[i];
    if (kind == BufferSource::Kind::Input) input_readers_[index].push_back(position);
    if (kind != BufferSource::Kind::Value) continue;
    if (draft.kernel.buffers[i].kind == BufferKind::Output) {
      writer_[index] = position;
      continue;
    }
    value_readers_[index].push_back(position);
    if (writer_[index] == kNobody) continue;
    uint32_t& first = first_reader_[writer_[index]];
    first = std::min(first, position);
  }
}

/// Makes two drafts one, at the later one's place or, where nothing stands in the way, at the
/// earlier one's. Returns the place, or kNobody.
uint32_t StageFuser::unite(uint32_t earlier, uint32_t later, bool may_move_up) {
  const std::vector<uint32_t> sources = sources_of(drafts_[later]);
  const bool up = may_move_up && (sources.empty() || sources.back() <= earlier);
  const bool down = first_reader_[earlier] >= later;
  if (!up && !down) return kNobody;
  if (!append_stage(drafts_[earlier], drafts_[later])) return kNobody;
  first_reader_[earlier] = std::min(
      first_reader_[earlier] == later ? kNobody : first_reader_[earlier], first_reader_[later]);
  if (!up) {
    drafts_[later] = std::move(drafts_[earlier]);
    first_reader_[later] = first_reader_[earlier];
  }
  const uint32_t place = up ? earlier : later, left = up ? later : earlier;
  drafts_[left] = {};
  first_reader_[left] = kNobody;
  note_accesses(place);
  return place;
}

/// A fold joins another one over the same loops that reads the same.
uint32_t StageFuser::join_sibling(KernelDraft& draft) {
  const std::vector<uint32_t> sources = sources_of(draft);
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    if (draft.kernel.buffers[i].kind != BufferKind::Input) continue;
    const auto [kind, index] = draft.sources[i];
    const std::vector<uint32_t>& readers =
        kind == BufferSource::Kind::Input ? input_readers_[index] : value_readers_[index];
    for (size_t r = readers.size(); r-- > 0 && r + kNearReaders > readers.size();) {
      const uint32_t place = readers[r];
      if (!is_sibling(drafts_[place], draft)) continue;
      if (sources.empty() || sources.back() <= place) {
        if (append_stage(drafts_[place], draft)) return place;
      } else if (first_reader_[place] == kNobody && append_stage(drafts_[place], draft)) {
        // Nobody waits for the other one: it can wait for what this one reads.
        drafts_.push_back(std::move(drafts_[place]));
        first_reader_.push_back(kNobody);
        drafts_[place] = {};
        return static_cast<uint32_t>(drafts_.size() - 1);
      }
    }
  }
  return kNobody;
}

std::vector<KernelDraft> StageFuser::take() {
  std::erase_if(drafts_, [](const KernelDraft& draft) { return draft.kernel.phases.empty(); });
  std::vector<uint32_t> only_user(writer_.size(), kNobody);
  for (uint32_t i = 0; i < drafts_.size(); ++i) {
    for (size_t b = 0; b < drafts_[i].sources.size(); ++b) {
      const auto [kind, index] = drafts_[i].sources[b];
      if (kind != BufferSource::Kind::Value) continue;
      uint32_t& only = only_user[index];
      only = only == kNobody ? i : only == i ? i : kMany;
    }
  }
  for (uint32_t i = 0; i < drafts_.size(); ++i) {
    make_locals(drafts_[i], i, only_user);
    if (Part* part = only_part(drafts_[i])) merge_sibling_folds(*part);
    order_buffers(drafts_[i]);
  }
  return std::move(drafts_);
}

void StageFuser::make_locals(KernelDraft& draft, uint32_t position,
                             std::span<const uint32_t> only_user) const {
  Part* part = only_part(draft);
  if (part == nullptr || part->stages.size() < 2) return;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    BufferSource& source = draft.sources[i];
    Buffer& buffer = draft.kernel.buffers[i];
    const bool internal =
        source.kind == BufferSource::Kind::Scratch ||
        (source.kind == BufferSource::Kind::Value && buffer.kind == BufferKind::Output &&
         !is_output_[source.index] && only_user[source.index] == position);
    if (!internal) continue;
    const BufferId id{static_cast<uint32_t>(i)};
    const Footprint touched = footprint(*part, part->grid.size(), id);
    const int64_t extent = touched.high - touched.low + 1;
    if (!touched.is_private(part->grid) ||
        extent * static_cast<int64_t>(size_of(buffer.dtype)) > kMaxLocalBytes) {
      continue;
    }
    visit_accesses(*part, part->grid.size(), [&](Access& access, std::span<const int64_t>) {
      if (access.buffer != id) return;
      access.index.offset -= touched.low;
      std::fill_n(access.index.coefficients.begin(), part->grid.size(), 0);
    });
    source = {BufferSource::Kind::Local, source.index};
    buffer.kind = BufferKind::Local;
    buffer.extent = extent;
  }
}

}  // namespace reprise
