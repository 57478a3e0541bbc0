// Grid points one an invocation or one a workgroup, and their stages in order.
#include "codegen/spirv/part.h"

#include <functional>

#include "codegen/spirv/fold.h"
#include "ir/error.h"

namespace reprise::spirv {

using codegen::product;

namespace {

class PartEmitter {
 public:
  PartEmitter(Function& f, PartMemory& memory, const PartPlan& plan, const Workgroup& workgroup)
      : f_(f), memory_(memory), plan_(plan), workgroup_(workgroup) {}

  /// Each invocation a point of its own.
  void points() {
    // 64 bits only where 32 do not count the points.
    const bool wide = plan_.points > INT32_MAX;
    const int width = wide ? 64 : 32;
    const auto constant = [&](int64_t value) {
      return wide ? f_.m.constant64(static_cast<uint64_t>(value))
                  : f_.m.constant(static_cast<uint32_t>(value));
    };
    const auto as_wide = [&](Value v) { return wide ? f_.widened(v) : v; };
    const Value point =
        f_.add(f_.mul(as_wide(workgroup_.group), constant(kGroupInvocations), width),
               as_wide(workgroup_.invocation), width);
    const auto run = [&] {
      Scope scope;
      append_coordinates(f_, {point, wide}, plan_.part.grid, scope);
      for (const Stage& stage : plan_.part.stages) {
        nest(stage.parallel, 0, scope, [&](const Scope& at) { one(stage, at); });
      }
    };
    if (plan_.points % kGroupInvocations == 0) {
      run();
    } else {
      f_.if_then(f_.below(point, constant(plan_.points)), run);
    }
  }

  /// All invocations together, one point or, where groups share scratch, several.
  void rows() {
    if (plan_.tasks == plan_.points) {
      row(workgroup_.group);
      return;
    }
    f_.loop(workgroup_.group, plan_.points, plan_.tasks, [&](Value point) {
      row(point);
      f_.barrier();
    });
  }

 private:
  void row(Value point) {
    Scope scope;
    append_coordinates(f_, {point, false}, plan_.part.grid, scope);
    for (size_t s = 0; s < plan_.part.stages.size(); ++s) {
      // A stage sees what all invocations left in the one before.
      if (s > 0) f_.barrier();
      const Stage& stage = plan_.part.stages[s];
      if (is_shared_fold(stage)) {
        fold_together(stage, scope);
      } else {
        share_out(stage, scope);
      }
    }
  }

  /// The parallel loops one after another, each result by all invocations.
  void fold_together(const Stage& stage, const Scope& scope) {
    const int64_t results = product(stage.parallel);
    const auto fold = [&](const Scope& at) {
      const std::vector<Value> reduced =
          FoldEmitter(f_, memory_, stage).shared(at, workgroup_.invocation);
      const Value first =
          f_.op(spv::OpIEqual, f_.m.bool_type(), {workgroup_.invocation, f_.m.constant(0)});
      f_.if_then(first, [&] { finish(stage, at, reduced); });
    };
    if (results == 1) {
      Scope at = scope;
      at.resize(scope.size() + stage.parallel.size());
      fold(at);
      return;
    }
    f_.loop(results, [&](Value result) {
      Scope at = scope;
      append_coordinates(f_, {result, false}, stage.parallel, at);
      fold(at);
      f_.barrier();  // before the tree is written again
    });
  }

  /// The parallel loops' points shared out over the invocations.
  void share_out(const Stage& stage, const Scope& scope) {
    const int64_t results = product(stage.parallel);
    const auto run = [&](Value result) {
      Scope at = scope;
      append_coordinates(f_, {result, false}, stage.parallel, at);
      one(stage, at);
    };
    if (results <= kGroupInvocations) {
      const Value count = f_.m.constant(static_cast<uint32_t>(results));
      f_.if_then(f_.below(workgroup_.invocation, count), [&] { run(workgroup_.invocation); });
      return;
    }
    f_.loop(workgroup_.invocation, results, kGroupInvocations, run);
  }

  /// One point of the parallel loops, by one invocation.
  void one(const Stage& stage, const Scope& scope) {
    if (stage.kind == StageKind::Sequence) {
      Scope at = scope;
      nest(stage.reduce, 0, at,
           [&](const Scope& step) { BodyEmitter(f_, memory_, stage.body, step).emit_all(); });
    } else if (stage.reduce.empty()) {
      BodyEmitter(f_, memory_, stage.body, scope).emit_all();
    } else {
      finish(stage, scope, FoldEmitter(f_, memory_, stage).serial(scope));
    }
  }

  void finish(const Stage& stage, const Scope& scope, const std::vector<Value>& reduced) {
    BodyEmitter post(f_, memory_, stage.post, scope);
    post.set_reduced(reduced);
    post.emit_all();
  }

  void nest(std::span<const int64_t> extents, size_t level, Scope& scope,
            const std::function<void(const Scope&)>& body) {
    if (level == extents.size()) return body(scope);
    f_.loop(extents[level], [&](Value i) {
      scope.push_back({i, false});
      nest(extents, level + 1, scope, body);
      scope.pop_back();
    });
  }

  Function& f_;
  PartMemory& memory_;
  const PartPlan& plan_;
  const Workgroup& workgroup_;
};

}  // namespace

void emit_part(Function& f, PartMemory& memory, const PartPlan& plan, const Workgroup& workgroup,
               int64_t scratch_begin) {
  if (plan.scratch_stride > 0) memory.use_scratch(workgroup.group, scratch_begin);
  PartEmitter emitter(f, memory, plan, workgroup);
  switch (plan.mapping) {
    case Mapping::Points:
      emitter.points();
      break;
    case Mapping::Rows:
      emitter.rows();
      break;
    case Mapping::Tiles:
      emit_tile(f, memory, plan, workgroup);
      break;
  }
  const double iterations = f.take_iterations();
  const int64_t most = f.m.target().shader.loop_iterations;
  if (most > 0 && iterations > static_cast<double>(most)) {
    throw UnsupportedError(str("a kernel whose loops go round up to ", iterations,
                               " times in one invocation: this device's driver ends them after ",
                               most));
  }
}

}  // namespace reprise::spirv
