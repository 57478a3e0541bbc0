// Blocks: one axis found in every buffer and stage of a part, then made an axis of the grid.
#include "passes/lower_blocks.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "passes/lower_axes.h"
#include "passes/lower_footprint.h"

namespace reprise {

namespace {

/// Places of a block: enough to share what a product packs, few enough to stay in a cache.
constexpr int64_t kFewestPlaces = 8, kPlaces = 64, kMostPlaces = 128;
/// Terms of a product for which making a value costs about what keeping it in memory does.
constexpr int64_t kFewTerms = 128;

int64_t product(std::span<const int64_t> extents) {
  int64_t n = 1;
  for (int64_t extent : extents) n *= extent;
  return n;
}

template <class Visit>
void visit_affines(Stage& stage, const Visit& visit) {
  for (Body* body : {&stage.body, &stage.post}) {
    for (Access& access : body->accesses) visit(access.index);
    for (Affine& affine : body->affines) visit(affine);
  }
}

/// Makes a parallel loop two, the inner one of `inner` steps.
void split_loop(Stage& stage, size_t grid_axes, size_t loop, int64_t inner) {
  stage.parallel[loop] /= inner;
  stage.parallel.insert(stage.parallel.begin() + loop + 1, inner);
  visit_affines(stage, [&](Affine& affine) {
    const size_t at = grid_axes + loop;
    const int64_t step = affine.coefficients[at];
    affine.coefficients[at] = step * inner;
    affine.coefficients.insert(affine.coefficients.begin() + at + 1, step);
  });
}

/// Which buffers a part both stores and loads.
std::vector<bool> handed_on(const KernelDraft& draft, const Part& part) {
  std::vector<bool> loaded(draft.sources.size()), stored(draft.sources.size());
  for (const Stage& stage : part.stages) {
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Instr& instr : body->instrs) {
        if (instr.op == ScalarOp::Load) loaded[body->accesses[instr.access].buffer.index] = true;
        if (instr.op == ScalarOp::Store) stored[body->accesses[instr.access].buffer.index] = true;
      }
    }
  }
  for (size_t b = 0; b < loaded.size(); ++b) loaded[b] = loaded[b] && stored[b];
  return loaded;
}

/// Follows an axis of one buffer through the stages that touch it to the other buffers.
class AxisSearch {
 public:
  AxisSearch(Part part, const std::vector<bool>& shared, BufferId first, int64_t step,
             int64_t extent)
      : part_(std::move(part)), shared_(shared), offsets_(shared.size()) {
    axis_.extent = extent;
    axis_.loops.assign(part_.stages.size(), kNone);
    axis_.steps.assign(shared.size(), 0);
    take(first, step);
  }

  /// Whether it is an axis of all stages.
  bool run() {
    while (!pending_.empty()) {
      const BufferId buffer = pending_.back();
      pending_.pop_back();
      for (size_t s = 0; s < part_.stages.size(); ++s) {
        if (axis_.loops[s] == kNone && touches(part_.stages[s], buffer) && !enter(s, buffer)) {
          return false;
        }
      }
    }
    return std::find(axis_.loops.begin(), axis_.loops.end(), kNone) == axis_.loops.end();
  }

  [[nodiscard]] Part& part() { return part_; }
  [[nodiscard]] BlockAxis& axis() { return axis_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  static bool touches(const Stage& stage, BufferId buffer) {
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Access& access : body->accesses) {
        if (access.buffer == buffer) return true;
      }
    }
    return false;
  }

  void take(BufferId buffer, int64_t step) {
    axis_.steps[buffer.index] = step;
    pending_.push_back(buffer);
  }

  /// Finds the stage's loop along the axis and where it lies in what else the stage touches.
  bool enter(size_t s, BufferId buffer) {
    Stage& stage = part_.stages[s];
    const auto loop = find_loop(stage, buffer);
    if (!loop) return false;
    axis_.loops[s] = *loop;
    const size_t grid = part_.grid.size();
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Access& access : body->accesses) {
        if (!shared_[access.buffer.index]) continue;
        const int64_t step = access.index.coefficients[grid + *loop];
        if (step <= 0) return false;
        if (axis_.steps[access.buffer.index] == 0) take(access.buffer, step);
        if (axis_.steps[access.buffer.index] != step) return false;
        if (!keeps_place(stage, access, *loop)) return false;
      }
    }
    return true;
  }

  /// The loop that runs along the buffer's axis and no further.
  std::optional<size_t> find_loop(Stage& stage, BufferId buffer) {
    const int64_t step = axis_.steps[buffer.index], extent = axis_.extent;
    const size_t grid = part_.grid.size();
    for (size_t loop = 0; loop < stage.parallel.size(); ++loop) {
      const Access* access = nullptr;
      for (const Body* body : {&stage.body, &stage.post}) {
        for (const Access& a : body->accesses) {
          if (a.buffer == buffer) access = &a;
        }
      }
      const int64_t own = access->index.coefficients[grid + loop];
      const int64_t whole = stage.parallel[loop];
      if (own <= 0 || own > step || step % own != 0) continue;
      const int64_t inner = step / own;
      // Places of the axis that the loop runs over, once what lies inside of one is split off.
      if (whole % (inner * extent) != 0) continue;
      if (inner > 1) split_loop(stage, grid, loop, inner);
      if (stage.parallel[loop] == extent) return loop;
      split_loop(stage, grid, loop, extent);
      return loop + 1;
    }
    return std::nullopt;
  }

  /// Whether the loops of an access other than `axis` stay inside a place or pass over whole axes.
  bool keeps_place(const Stage& stage, const Access& access, size_t axis) {
    if (access.dynamic.valid()) return false;
    std::optional<int64_t>& offset = offsets_[access.buffer.index];
    if (!offset) offset = access.index.offset;
    if (*offset != access.index.offset) return false;
    const int64_t step = axis_.steps[access.buffer.index];
    const size_t grid = part_.grid.size();
    std::vector<int64_t> extents = stage.parallel;
    extents.insert(extents.end(), stage.reduce.begin(), stage.reduce.end());
    int64_t inside = 0;
    for (size_t i = 0; grid + i < access.index.coefficients.size(); ++i) {
      const int64_t c = access.index.coefficients[grid + i];
      if (i == axis || c == 0 || extents[i] <= 1) continue;
      if (c < 0) return false;
      if (c >= step) {
        if (c % (step * axis_.extent) != 0) return false;
      } else {
        inside += c * (extents[i] - 1);
      }
    }
    return inside < step;
  }

  Part part_;
  const std::vector<bool>& shared_;
  BlockAxis axis_;
  std::vector<BufferId> pending_;
  std::vector<std::optional<int64_t>> offsets_;
};

/// Elements of a buffer that one point of the grid touches.
int64_t span_of(Part& part, BufferId buffer) {
  return footprint(part, part.grid.size(), buffer).span();
}

/// Elements that an access reaches at one point of the grid.
int64_t elements_of(const Part& part, const Stage& stage, const Access& access) {
  std::vector<int64_t> extents = stage.parallel;
  extents.insert(extents.end(), stage.reduce.begin(), stage.reduce.end());
  int64_t n = 1;
  for (size_t i = 0; part.grid.size() + i < access.index.coefficients.size(); ++i) {
    if (access.index.coefficients[part.grid.size() + i] != 0) n *= extents[i];
  }
  return n;
}

/// Whether what is handed on is larger than what the products read, and so dearer to keep in memory
/// than it is to read factors again in every block; more so the more terms make a value.
bool is_worth_it(Part& part, const std::vector<bool>& shared) {
  int64_t terms = 1, handed_on = 0, read = 0;
  for (uint32_t b = 0; b < shared.size(); ++b) {
    if (shared[b]) handed_on = std::max(handed_on, span_of(part, BufferId{b}));
  }
  for (const Stage& stage : part.stages) {
    if (stage.kind != StageKind::Contraction) continue;
    for (const Instr& instr : stage.post.instrs) {
      if (instr.op != ScalarOp::Store) continue;
      const BufferId made = stage.post.accesses[instr.access].buffer;
      const bool is_largest = shared[made.index] && span_of(part, made) == handed_on;
      if (is_largest) terms = std::max(terms, product(stage.reduce));
    }
    for (const Access& access : stage.body.accesses) {
      if (!shared[access.buffer.index]) read += elements_of(part, stage, access);
    }
  }
  if (product(part.grid) == 1) read *= kBatchGain;
  return handed_on / std::max<int64_t>(1, terms / kFewTerms) >= read;
}

/// Whether a value as large as what is handed on is stored in blocks of the axis that its readers
/// reduce.
bool makes_blocks_in_vain(Part& part, const std::vector<bool>& shared, const BlockAxis& axis,
                          std::span<const int64_t> whole_steps) {
  int64_t handed_on = 0;
  for (uint32_t b = 0; b < shared.size(); ++b) {
    if (shared[b]) handed_on = std::max(handed_on, span_of(part, BufferId{b}));
  }
  for (size_t s = 0; s < part.stages.size(); ++s) {
    const Stage& stage = part.stages[s];
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Instr& instr : body->instrs) {
        if (instr.op != ScalarOp::Store) continue;
        const Access& access = body->accesses[instr.access];
        const int64_t step = access.index.coefficients[part.grid.size() + axis.loops[s]];
        if (step != 0 && step == whole_steps[access.buffer.index] &&
            span_of(part, access.buffer) >= handed_on) {
          return true;
        }
      }
    }
  }
  return false;
}

/// An axis of one buffer, from which a search may start.
struct Candidate {
  int64_t step = 0, extent = 0;
  BufferId buffer;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Places of a block.
int64_t places_of(const BlockAxis& axis, int64_t points, int64_t bytes_of_axis,
                  int64_t cache_bytes) {
  const int64_t each = std::max<int64_t>(1, bytes_of_axis / axis.extent);
  int64_t places = std::clamp(cache_bytes / each, kPlaces, kMostPlaces) / kPlaces * kPlaces;
  const auto blocks = [&](int64_t n) { return (axis.extent + n - 1) / n; };
  while (places > kFewestPlaces && points * blocks(places) < kEnoughPoints) places /= 2;
  places = std::min(places, axis.extent);
  for (int64_t n = places; n > places - places / 4; --n) {
    if (axis.extent % n == 0) return n;
  }
  return places;
}

/// A part's stages at `extent` places of the axis from `first` on; blocks are the last axis of the
/// grid where there is more than one.
void keep_places(Part& part, const BlockAxis& axis, int64_t blocks, int64_t extent, int64_t first) {
  const size_t grid = part.grid.size();
  for (size_t s = 0; s < part.stages.size(); ++s) {
    Stage& stage = part.stages[s];
    const size_t variable = grid + axis.loops[s];
    stage.parallel[axis.loops[s]] = extent;
    visit_affines(stage, [&](Affine& affine) {
      const int64_t step = affine.coefficients[variable];
      affine.offset += step * first;
      affine.coefficients.insert(affine.coefficients.begin() + grid, step * extent);
    });
  }
  part.grid.push_back(blocks);
}

/// Where an element of a buffer lies in a block's local.
Affine in_block(Affine index, size_t grid, int64_t step, const BlockAxis& axis, int64_t places) {
  index.offset = 0;
  for (size_t v = 0; v < index.coefficients.size(); ++v) {
    int64_t& c = index.coefficients[v];
    if (v < grid) c = 0;
    if (c >= step * axis.extent) c = c / axis.extent * places;
  }
  return index;
}

/// Elements that a local needs: up to the last one that an access reaches.
int64_t reach(const Affine& index, const Part& part, const Stage& stage) {
  std::vector<int64_t> extents = part.grid;
  extents.insert(extents.end(), stage.parallel.begin(), stage.parallel.end());
  extents.insert(extents.end(), stage.reduce.begin(), stage.reduce.end());
  int64_t last = index.offset;
  for (size_t v = 0; v < index.coefficients.size(); ++v) {
    last += index.coefficients[v] * (extents[v] - 1);
  }
  return last + 1;
}

/// Repeats every store to the buffer at the same place of a local.
void store_twice(Body& body, BufferId buffer, BufferId local,
                 const std::function<Affine(const Affine&)>& place) {
  const size_t count = body.instrs.size();
  for (size_t i = 0; i < count; ++i) {
    Instr instr = body.instrs[i];
    if (instr.op != ScalarOp::Store || body.accesses[instr.access].buffer != buffer) continue;
    Access copy = body.accesses[instr.access];
    copy.buffer = local;
    copy.index = place(copy.index);
    instr.access = static_cast<uint32_t>(body.accesses.size());
    body.accesses.push_back(std::move(copy));
    body.instrs.push_back(instr);
  }
}

}  // namespace

std::optional<BlockAxis> find_blocks(KernelDraft& draft, std::span<const int64_t> whole_steps) {
  Part& part = draft.kernel.phases[0].parts[0];
  const std::vector<bool> shared = handed_on(draft, part);
  std::vector<Candidate> candidates;
  const size_t grid = part.grid.size();
  for (const Stage& stage : part.stages) {
    for (const Body* body : {&stage.body, &stage.post}) {
      for (const Access& access : body->accesses) {
        if (!shared[access.buffer.index]) continue;
        for (size_t i = 0; i < stage.parallel.size(); ++i) {
          const Candidate candidate{.step = access.index.coefficients[grid + i],
                                    .extent = stage.parallel[i],
                                    .buffer = access.buffer};
          if (candidate.step <= 0 || candidate.extent < kFewestPlaces ||
              std::find(candidates.begin(), candidates.end(), candidate) != candidates.end()) {
            continue;
          }
          candidates.push_back(candidate);
        }
      }
    }
  }
  // Outer axes first: their blocks are contiguous.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.step > b.step; });
  for (const Candidate& candidate : candidates) {
    const int64_t points = product(part.grid);
    const int64_t fewest = points > 1 ? kFewestPlaces : kPlaces;
    if (points * ((candidate.extent + fewest - 1) / fewest) < kEnoughPoints) continue;
    AxisSearch search(part, shared, candidate.buffer, candidate.step, candidate.extent);
    if (!search.run() || !is_worth_it(search.part(), shared) ||
        makes_blocks_in_vain(search.part(), shared, search.axis(), whole_steps)) {
      continue;
    }
    part = std::move(search.part());
    return std::move(search.axis());
  }
  return std::nullopt;
}

void cut_into_blocks(KernelDraft& draft, const BlockAxis& axis,
                     const std::vector<bool>& is_internal, int64_t cache_bytes) {
  Part whole = std::move(draft.kernel.phases[0].parts[0]);
  draft.kernel.phases.clear();
  int64_t bytes = 0;
  for (uint32_t b = 0; b < axis.steps.size(); ++b) {
    if (axis.steps[b] == 0) continue;
    bytes +=
        span_of(whole, BufferId{b}) * static_cast<int64_t>(size_of(draft.kernel.buffers[b].dtype));
  }
  const int64_t places = places_of(axis, product(whole.grid), bytes, cache_bytes);
  const int64_t blocks = axis.extent / places, rest = axis.extent % places;

  const auto add_phase = [&](int64_t count, int64_t each, int64_t first) {
    Part part = whole;
    keep_places(part, axis, count, each, first);
    for (uint32_t b = 0; b < axis.steps.size(); ++b) {
      if (axis.steps[b] == 0) continue;
      const auto number = static_cast<uint32_t>(draft.sources.size());
      const BufferId buffer{b}, local{number};
      const auto place = [&](const Affine& index) {
        return in_block(index, part.grid.size(), axis.steps[b], axis, each);
      };
      int64_t extent = 0;
      for (Stage& stage : part.stages) {
        for (Body* body : {&stage.body, &stage.post}) {
          if (!is_internal[b]) store_twice(*body, buffer, local, place);
          for (const Instr& instr : body->instrs) {
            if (instr.op != ScalarOp::Load && instr.op != ScalarOp::Store) continue;
            Access& access = body->accesses[instr.access];
            if (access.buffer == buffer && (is_internal[b] || instr.op == ScalarOp::Load)) {
              access.buffer = local;
              access.index = place(access.index);
            }
            if (access.buffer == local) extent = std::max(extent, reach(access.index, part, stage));
          }
        }
      }
      draft.sources.push_back({BufferSource::Kind::Local, number});
      draft.kernel.buffers.push_back({BufferKind::Local, draft.kernel.buffers[b].dtype, extent});
    }
    draft.kernel.phases.push_back({.parts = {std::move(part)}});
  };
  add_phase(blocks, places, 0);
  if (rest > 0) add_phase(1, rest, blocks * places);
  remove_unused_buffers(draft);
  for (Phase& phase : draft.kernel.phases) {
    for (Part& part : phase.parts) merge_axes(part);
  }
}

}  // namespace reprise
