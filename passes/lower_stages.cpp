// Stage fusion: what each grid point touches decides whether two kernels can share a grid.
#include "passes/lower_stages.h"

#include <algorithm>
#include <span>

#include "ir/error.h"
#include "passes/fuse_costs.h"
#include "passes/index_map.h"
#include "passes/lower_axes.h"
#include "passes/lower_blocks.h"
#include "passes/lower_footprint.h"
#include "passes/lower_siblings.h"

namespace reprise {

namespace {

/// Bounds of one part: what one compilation works on.
constexpr size_t kMaxStages = 16;
constexpr size_t kMaxStageInstrs = 2048;
/// What fewer points than are enough may be made for.
constexpr int64_t kSmallWork = 1 << 15;

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
enum class Points : uint8_t {
  Dependent,
  Independent,
  Large,  ///< independent, but what is handed on leaves the cache of whoever runs the point
};
Points relate_points(KernelDraft& rows, Part& first, const KernelDraft& next, Part& second,
                     std::span<const int64_t> grid) {
  Points result = Points::Independent;
  for (size_t i = 0; i < rows.sources.size(); ++i) {
    if (rows.kernel.buffers[i].kind != BufferKind::Output) continue;
    const auto read = std::find(next.sources.begin(), next.sources.end(), rows.sources[i]);
    if (read == next.sources.end()) continue;
    Footprint touched = footprint(first, grid.size(), BufferId{static_cast<uint32_t>(i)});
    const BufferId there{static_cast<uint32_t>(read - next.sources.begin())};
    visit_accesses(second, grid.size(), [&](const Access& access, std::span<const int64_t> inner) {
      if (access.buffer == there) touched.add(access, grid.size(), inner);
    });
    if (!touched.is_private(grid)) return Points::Dependent;
    const auto bytes = static_cast<int64_t>(size_of(rows.kernel.buffers[i].dtype));
    if (touched.span() * bytes > kMaxLocalBytes) result = Points::Large;
  }
  return result;
}

/// Whether a draft makes values that are large for each of so many points.
bool makes_large(const KernelDraft& draft, int64_t points) {
  return std::any_of(
      draft.kernel.buffers.begin(), draft.kernel.buffers.end(), [&](const Buffer& b) {
        const auto bytes = static_cast<int64_t>(size_of(b.dtype));
        return b.kind == BufferKind::Output && b.extent * bytes > kSmallMatrix * points;
      });
}

/// Whether most of what a draft reads was made by another one.
bool reads_mostly(const KernelDraft& draft, const KernelDraft& other) {
  int64_t read = 0, made = 0;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    if (draft.kernel.buffers[i].kind != BufferKind::Input) continue;
    read += draft.kernel.buffers[i].extent;
    const auto found = std::find(other.sources.begin(), other.sources.end(), draft.sources[i]);
    if (found == other.sources.end()) continue;
    const auto there = static_cast<size_t>(found - other.sources.begin());
    const bool is_made = other.kernel.buffers[there].kind == BufferKind::Output;
    if (is_made) made += draft.kernel.buffers[i].extent;
  }
  return 2 * made >= read;
}

/// The last two axes of a value, along which whoever reads it in the end reduces it.
struct ReducedAxes {
  bool last = false, before = false;
  void add(ReducedAxes more) {
    last |= more.last;
    before |= more.before;
  }
};

/// For every value whose readers all reduce it along one of its last two axes, that axis' step in
/// memory.
std::vector<int64_t> find_whole_steps(const Graph& graph) {
  std::vector<ReducedAxes> reduced(graph.size());
  for (uint32_t i = graph.size(); i-- > 0;) {
    const Node& node = graph[NodeId{i}];
    const int rank = node.type.shape.rank();
    for (size_t o = 0; o < node.operands.size(); ++o) {
      ReducedAxes& operand = reduced[node.operands[o].index];
      const Shape& shape = graph[node.operands[o]].type.shape;
      if (shape.rank() < 2) continue;
      const OpKind kind = op_def(node.op).kind;
      if (kind == OpKind::Contraction) {
        operand.add({.last = o == 0, .before = o != 0});
      } else if (kind == OpKind::Reduction) {
        const auto mask = static_cast<uint64_t>(node.attrs.word(0)) >> (shape.rank() - 2);
        operand.add({.last = (mask & 2) != 0, .before = (mask & 1) != 0});
      } else if (node.op == Op::Permute) {
        const std::span<const int64_t> order = node.attrs.ints(0);
        const bool kept = order[rank - 1] == rank - 1 && order[rank - 2] == rank - 2;
        const bool swapped = order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1;
        if (kept) operand.add(reduced[i]);
        if (swapped) operand.add({.last = reduced[i].before, .before = reduced[i].last});
      } else if (shape == node.type.shape ||
                 (node.op == Op::Reshape && squeezed(shape) == squeezed(node.type.shape))) {
        operand.add(reduced[i]);
      }
    }
  }
  std::vector<int64_t> steps(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Shape& shape = graph[NodeId{i}].type.shape;
    if (reduced[i].last != reduced[i].before) {
      steps[i] = reduced[i].last ? 1 : shape[shape.rank() - 1];
    }
  }
  return steps;
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

StageFuser::StageFuser(const Graph& graph, int64_t cache_bytes)
    : cache_bytes_(cache_bytes),
      writer_(graph.size(), kNobody),
      value_readers_(graph.size()),
      input_readers_(num_inputs(graph)),
      is_output_(graph.size()) {
  whole_steps_ = find_whole_steps(graph);
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

/// Appends `next` to `rows`; false, with both unchanged, where points would depend on each other.
bool StageFuser::append_stage(KernelDraft& rows, KernelDraft& next) const {
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
  const Points points = relate_points(rows, first, next, second, grid);
  if (points == Points::Dependent) return false;
  const bool products = has_contraction(first) || has_contraction(second);
  const bool few = product(grid) < kEnoughPoints;
  if (few && !products && std::max(size.elements, added.elements) > kSmallWork) return false;
  // What lies between products may only leave the cache block by block.
  const bool in_blocks =
      rows.in_blocks || next.in_blocks || (products && (few || points == Points::Large));
  // What expands there must need what it expands beside: else it is for somebody else.
  const bool is_apart = makes_large(next, product(grid)) && !reads_mostly(next, rows);
  if ((in_blocks || is_apart) && is_expanding(next)) return false;
  KernelDraft joined = rows, appended = next;
  *only_part(joined) = std::move(first);
  *only_part(appended) = std::move(second);
  part = only_part(joined);
  more = only_part(appended);
  shorten_grid(*part, axes);
  shorten_grid(*more, axes);
  adopt_buffers(joined, appended);
  std::move(more->stages.begin(), more->stages.end(), std::back_inserter(part->stages));
  merge_axes(*part);
  if (in_blocks && !find_blocks(joined, whole_steps(joined))) return false;
  joined.in_blocks = in_blocks;
  rows = std::move(joined);
  next = {};
  return true;
}

/// By buffer, the step of the axis that all readers of its value reduce it along, or 0.
std::vector<int64_t> StageFuser::whole_steps(const KernelDraft& draft) const {
  std::vector<int64_t> steps;
  for (const auto& [kind, index] : draft.sources) {
    steps.push_back(kind == BufferSource::Kind::Value ? whole_steps_[index] : 0);
  }
  return steps;
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
    const std::vector<bool> internal = internal_buffers(drafts_[i], i, only_user);
    Part* part = only_part(drafts_[i]);
    if (part != nullptr) merge_sibling_folds(*part);
    if (drafts_[i].in_blocks) {
      const std::optional<BlockAxis> axis = find_blocks(drafts_[i], whole_steps(drafts_[i]));
      REPRISE_ASSERT(axis.has_value());
      cut_into_blocks(drafts_[i], *axis, internal, cache_bytes_);
    } else {
      make_locals(drafts_[i], internal);
    }
    order_buffers(drafts_[i]);
  }
  return std::move(drafts_);
}

/// By buffer, what the draft alone touches.
std::vector<bool> StageFuser::internal_buffers(const KernelDraft& draft, uint32_t position,
                                               std::span<const uint32_t> only_user) const {
  std::vector<bool> internal;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    const auto [kind, index] = draft.sources[i];
    internal.push_back(kind == BufferSource::Kind::Scratch ||
                       (kind == BufferSource::Kind::Value &&
                        draft.kernel.buffers[i].kind == BufferKind::Output && !is_output_[index] &&
                        only_user[index] == position));
  }
  return internal;
}

void StageFuser::make_locals(KernelDraft& draft, const std::vector<bool>& is_internal) {
  Part* part = only_part(draft);
  if (part == nullptr || part->stages.size() < 2) return;
  for (size_t i = 0; i < draft.sources.size(); ++i) {
    BufferSource& source = draft.sources[i];
    Buffer& buffer = draft.kernel.buffers[i];
    if (!is_internal[i]) continue;
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
