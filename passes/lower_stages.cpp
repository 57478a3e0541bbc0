// Stage fusion: what each grid point touches decides whether two kernels can share a grid.
#include "passes/lower_stages.h"

#include <algorithm>
#include <optional>
#include <span>

#include "ir/error.h"
#include "passes/fuse_costs.h"

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

/// The elements of one buffer that a grid point touches, and how they advance with the grid.
struct Footprint {
  std::vector<int64_t> steps;  ///< per grid axis
  int64_t low = INT64_MAX, high = INT64_MIN;
  bool regular = true;  ///< all accesses advance alike and none is computed

  void add(const Access& access, size_t grid_axes, std::span<const int64_t> inner_extents) {
    const std::vector<int64_t>& c = access.index.coefficients;
    const std::vector<int64_t> grid(c.begin(), c.begin() + grid_axes);
    if (access.dynamic.valid() || (low <= high && grid != steps)) regular = false;
    steps = grid;
    int64_t first = access.index.offset, last = first;
    for (size_t i = 0; i < inner_extents.size(); ++i) {
      const int64_t reach = c[grid_axes + i] * (inner_extents[i] - 1);
      (reach < 0 ? first : last) += reach;
    }
    low = std::min(low, first);
    high = std::max(high, last);
  }

  /// Whether no two points of the grid touch one element.
  [[nodiscard]] bool is_private(std::span<const int64_t> grid) const {
    if (!regular) return false;
    std::vector<std::pair<int64_t, int64_t>> axes;
    for (size_t i = 0; i < grid.size(); ++i) {
      if (grid[i] > 1) axes.emplace_back(std::abs(steps[i]), grid[i]);
    }
    std::sort(axes.begin(), axes.end());
    int64_t span = high - low + 1;
    for (const auto& [step, extent] : axes) {
      if (step < span) return false;
      span += step * (extent - 1);
    }
    return true;
  }
};

/// Calls `visit(access, extents of the loops inside the grid)` for every access of the part, the
/// grid taken to be its first `grid_axes` axes.
template <class Visit>
void visit_accesses(Part& part, size_t grid_axes, const Visit& visit) {
  for (Stage& stage : part.stages) {
    std::vector<int64_t> inner(part.grid.begin() + grid_axes, part.grid.end());
    inner.insert(inner.end(), stage.parallel.begin(), stage.parallel.end());
    for (Access& access : stage.post.accesses) visit(access, inner);
    inner.insert(inner.end(), stage.reduce.begin(), stage.reduce.end());
    for (Access& access : stage.body.accesses) visit(access, inner);
  }
}

Footprint footprint(Part& part, size_t grid_axes, BufferId buffer) {
  Footprint result;
  visit_accesses(part, grid_axes, [&](const Access& access, std::span<const int64_t> inner) {
    if (access.buffer == buffer) result.add(access, grid_axes, inner);
  });
  return result;
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

/// The part of a kernel that is nothing but loop stages over one grid.
Part* only_part(KernelDraft& draft) {
  std::vector<Phase>& phases = draft.kernel.phases;
  if (phases.size() != 1 || phases[0].parts.size() != 1) return nullptr;
  Part& part = phases[0].parts[0];
  const bool loops = std::all_of(part.stages.begin(), part.stages.end(),
                                 [](const Stage& stage) { return stage.kind == StageKind::Loop; });
  return loops ? &part : nullptr;
}

/// Makes the axes of the grid from `grid_axes` on the outermost parallel loops of every stage. A
/// variable's number does not change.
void shorten_grid(Part& part, size_t grid_axes) {
  for (Stage& stage : part.stages) {
    stage.parallel.insert(stage.parallel.begin(), part.grid.begin() + grid_axes, part.grid.end());
  }
  part.grid.resize(grid_axes);
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
  const auto [end, unused] =
      std::mismatch(part->grid.begin(), part->grid.end(), more->grid.begin(), more->grid.end());
  const auto axes = static_cast<size_t>(end - part->grid.begin());
  const std::vector<int64_t> grid(part->grid.begin(), end);
  // Rows that are folded keep their points: those are what lanes and threads run over.
  if (size.folds && axes != part->grid.size()) return false;
  if (product(grid) < kEnoughPoints && std::max(size.elements, added.elements) > kSmallWork) {
    return false;
  }
  for (size_t i = 0; i < rows.sources.size(); ++i) {
    if (rows.kernel.buffers[i].kind != BufferKind::Output) continue;
    const auto read = std::find(next.sources.begin(), next.sources.end(), rows.sources[i]);
    if (read == next.sources.end()) continue;
    Footprint touched = footprint(*part, axes, BufferId{static_cast<uint32_t>(i)});
    const BufferId there{static_cast<uint32_t>(read - next.sources.begin())};
    visit_accesses(*more, axes, [&](const Access& access, std::span<const int64_t> inner) {
      if (access.buffer == there) touched.add(access, axes, inner);
    });
    if (!touched.is_private(grid)) return false;
  }
  shorten_grid(*part, axes);
  shorten_grid(*more, axes);
  adopt_buffers(rows, next);
  std::move(more->stages.begin(), more->stages.end(), std::back_inserter(part->stages));
  return true;
}

}  // namespace

StageFuser::StageFuser(const Graph& graph)
    : writer_(graph.size(), kNobody), reader_(graph.size(), kNobody), is_output_(graph.size()) {
  for (NodeId output : graph.outputs()) {
    OutputView view;
    is_output_[(output_view(graph, output, &view) ? view.base : output).index] = true;
  }
}

void StageFuser::add(KernelDraft draft) {
  std::vector<uint32_t> reads, writes;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    if (draft.sources[i].kind != BufferSource::Kind::Value) continue;
    const bool written = draft.kernel.buffers[i].kind == BufferKind::Output;
    (written ? writes : reads).push_back(draft.sources[i].index);
  }
  // Everything else it reads is written earlier than by the last of its sources.
  uint32_t position = kNobody;
  for (uint32_t value : reads) {
    if (position == kNobody || writer_[value] > position) position = writer_[value];
  }
  if (position == kNobody || !append_stage(drafts_[position], draft)) {
    position = static_cast<uint32_t>(drafts_.size());
    drafts_.push_back(std::move(draft));
  }
  for (uint32_t value : reads) {
    reader_[value] = reader_[value] == kNobody || reader_[value] == position ? position : kMany;
  }
  for (uint32_t value : writes) writer_[value] = position;
}

std::vector<KernelDraft> StageFuser::take() {
  for (uint32_t i = 0; i < drafts_.size(); ++i) {
    make_locals(drafts_[i], i);
    order_buffers(drafts_[i]);
  }
  return std::move(drafts_);
}

void StageFuser::make_locals(KernelDraft& draft, uint32_t position) const {
  Part* part = only_part(draft);
  if (part == nullptr || part->stages.size() < 2) return;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    BufferSource& source = draft.sources[i];
    Buffer& buffer = draft.kernel.buffers[i];
    if (source.kind != BufferSource::Kind::Value || buffer.kind != BufferKind::Output ||
        is_output_[source.index] || reader_[source.index] != position) {
      continue;
    }
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
