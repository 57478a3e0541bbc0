// Folds over the same loops become one stage, which passes over its data once.
#include "passes/lower_siblings.h"

#include <algorithm>

#include "ir/scalar_rewrite.h"

namespace reprise {

namespace {

/// Values folded side by side: each keeps accumulators in registers.
constexpr size_t kMaxFolds = 4;
constexpr size_t kMaxBodyInstrs = 256;

bool touches(const Body& body, ScalarOp op, BufferId buffer) {
  return std::any_of(body.instrs.begin(), body.instrs.end(), [&](const Instr& instr) {
    return instr.op == op && body.accesses[instr.access].buffer == buffer;
  });
}

bool touches(const Body& body, BufferId buffer) {
  return touches(body, ScalarOp::Load, buffer) || touches(body, ScalarOp::Store, buffer);
}

/// Whether every access of `body` to the element's buffer is to that very element.
bool only_at(const Body& body, const Access& element) {
  return std::all_of(body.accesses.begin(), body.accesses.end(), [&](const Access& access) {
    return access.buffer != element.buffer ||
           (access.index == element.index && !access.dynamic.valid());
  });
}

/// Whether `later` touches anything that `earlier` writes. Where both become one stage, its post
/// may still read what the other's post has written just before, at the same point.
enum class Joined : uint8_t { No, Yes };
bool waits_for(const Stage& later, const Stage& earlier, Joined joined) {
  for (const Body* body : {&earlier.body, &earlier.post}) {
    for (const Instr& instr : body->instrs) {
      if (instr.op != ScalarOp::Store) continue;
      const Access& written = body->accesses[instr.access];
      if (touches(later.body, written.buffer)) return true;
      if (!touches(later.post, written.buffer)) continue;
      const bool same_element = body == &earlier.post && !written.dynamic.valid() &&
                                !instr.args[1].valid() && only_at(later.post, written);
      if (joined == Joined::No || !same_element) return true;
    }
  }
  return false;
}

bool share_a_load(const Body& a, const Body& b) {
  return std::any_of(a.instrs.begin(), a.instrs.end(), [&](const Instr& instr) {
    return instr.op == ScalarOp::Load &&
           touches(b, ScalarOp::Load, a.accesses[instr.access].buffer);
  });
}

bool are_siblings(const Stage& a, const Stage& b) {
  return a.kind == StageKind::Loop && b.kind == StageKind::Loop && !a.reduce.empty() &&
         a.parallel == b.parallel && a.reduce == b.reduce &&
         a.reductions.size() + b.reductions.size() <= kMaxFolds &&
         a.body.instrs.size() + b.body.instrs.size() <= kMaxBodyInstrs &&
         share_a_load(a.body, b.body);
}

/// Appends `from` to `into`, the numbers of reduced values moved by `first_fold`.
ScalarMap append_body(Body& into, const Body& from, size_t first_fold) {
  ScalarBuilder builder(into);
  ScalarMap map;
  map.reserve(from.instrs.size());
  for (Instr instr : from.instrs) {
    if (instr.op == ScalarOp::Reduced) instr.bits += first_fold;
    map.push_back(copy_instr(builder, from, instr, map));
  }
  return map;
}

void absorb(Stage& into, const Stage& from) {
  const size_t first_fold = into.reductions.size();
  const ScalarMap map = append_body(into.body, from.body, 0);
  for (Reduction reduction : from.reductions) {
    reduction.value = map[reduction.value.index];
    into.reductions.push_back(reduction);
  }
  (void)append_body(into.post, from.post, first_fold);
}

}  // namespace

void merge_sibling_folds(Part& part) {
  std::vector<Stage>& stages = part.stages;
  for (size_t later = 1; later < stages.size();) {
    // It may move up past the stages that it does not wait for.
    bool merged = false;
    for (size_t earlier = later; !merged && earlier-- > 0;) {
      if (are_siblings(stages[earlier], stages[later]) &&
          !waits_for(stages[later], stages[earlier], Joined::Yes)) {
        absorb(stages[earlier], stages[later]);
        stages.erase(stages.begin() + later);
        merged = true;
      } else if (waits_for(stages[later], stages[earlier], Joined::No)) {
        break;
      }
    }
    if (!merged) ++later;
  }
}

}  // namespace reprise
