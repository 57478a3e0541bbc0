// Checks a kernel against the numbered rules of docs/IR.md.
#include <algorithm>
#include <optional>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/kernel_checks.h"
#include "ir/kernel_text.h"

namespace reprise {
namespace {

/// Where in the kernel, for messages, and what is in scope there.
class StageVerifier {
 public:
  StageVerifier(const Kernel& kernel, const Part& part, const Stage& stage, std::string place)
      : kernel_(kernel), part_(part), stage_(stage), place_(std::move(place)) {}

  void verify() {
    for (const std::vector<int64_t>* extents : {&part_.grid, &stage_.parallel, &stage_.reduce}) {
      for (const int64_t extent : *extents) {
        if (extent < 0) fail("K09", str("an extent is ", extent));
      }
    }
    if (!space_fits()) fail("K09", "the number of points does not fit 63 bits");
    verify_body(stage_.body, Section::Body);
    verify_reductions();
    verify_body(stage_.post, Section::Post);
    if (stage_.kind == StageKind::Contraction) verify_contraction();
  }

 private:
  enum class Section { Body, Post };

  [[noreturn]] void fail(std::string_view rule, std::string_view message) const {
    throw InternalError(
        str("internal error: kernel breaks ", rule, ": ", message, " (", place_, ")"));
  }

  [[noreturn]] void fail_at(std::string_view rule, std::string_view message, const Body& body,
                            uint32_t position, Section section) const {
    const int reduce = section == Section::Body ? static_cast<int>(stage_.reduce.size()) : 0;
    const std::string text = print_instr(body, position, static_cast<int>(part_.grid.size()),
                                         static_cast<int>(stage_.parallel.size()), reduce);
    fail(rule, str(message, " in '", text, "'"));
  }

  [[nodiscard]] std::vector<int64_t> extents(Section section) const {
    std::vector<int64_t> all = part_.grid;
    all.insert(all.end(), stage_.parallel.begin(), stage_.parallel.end());
    if (section == Section::Body) all.insert(all.end(), stage_.reduce.begin(), stage_.reduce.end());
    return all;
  }

  [[nodiscard]] bool space_fits() const {
    int64_t points = 1;
    for (const int64_t extent : extents(Section::Body)) {
      if (extent == 0) return true;
      if (__builtin_mul_overflow(points, extent, &points)) return false;
    }
    return true;
  }

  void verify_body(const Body& body, Section section) const {
    const std::vector<int64_t> scope = extents(section);
    for (uint32_t i = 0; i < body.instrs.size(); ++i) {
      const auto bad = [&](std::string_view rule, std::string_view message) {
        fail_at(rule, message, body, i, section);
      };
      const Instr& instr = body.instrs[i];
      const bool optional_mask = instr.op == ScalarOp::Load || instr.op == ScalarOp::Store;
      const int count = arity(instr.op);
      for (int a = 0; a < 3; ++a) {
        const ScalarId arg = instr.args[a];
        const bool wanted = a < count;
        if (!arg.valid() && !wanted) continue;
        if (!wanted && !(optional_mask && a == count))
          fail("K01", str("too many arguments of ", name(instr.op)));
        check_argument(body, arg, i, section);
      }
      switch (instr.op) {
        case ScalarOp::Param:
          if (instr.bits >= kernel_.params.size() || kernel_.params[instr.bits] != instr.dtype) {
            bad("K17", "no such parameter of this dtype");
          }
          break;
        case ScalarOp::Reduced:
          if (section == Section::Body || instr.bits >= stage_.reductions.size() ||
              stage_.reductions[instr.bits].dtype != instr.dtype) {
            bad("K05", "no such result of this dtype in this place");
          }
          break;
        case ScalarOp::Index:
          if (instr.access >= body.affines.size() ||
              body.affines[instr.access].coefficients.size() != scope.size()) {
            fail("K06",
                 str("an index of ", ScalarId{i}, " does not have one coefficient for each of ",
                     scope.size(), " variables"));
          }
          break;
        case ScalarOp::Load:
        case ScalarOp::Store:
          verify_access(body, i, section, scope);
          break;
        default:
          break;
      }
      if (const std::string message = dtype_error(body, instr); !message.empty()) {
        bad("K02", message);
      }
    }
  }

  void check_argument(const Body& body, ScalarId arg, uint32_t position, Section section) const {
    if (!arg.valid() || arg.index >= position || body[arg].op == ScalarOp::Store) {
      // The text of an undefined id prints as it is; an invalid one only occurs in built kernels.
      fail_at("K01", str(arg.valid() ? str(arg) : "an argument", " is not defined before its use"),
              body, position, section);
    }
  }

  void verify_access(const Body& body, uint32_t position, Section section,
                     const std::vector<int64_t>& scope) const {
    const auto bad = [&](std::string_view rule, std::string_view message) {
      fail_at(rule, message, body, position, section);
    };
    const Instr& instr = body.instrs[position];
    if (instr.access >= body.accesses.size()) fail("K06", "an access is missing");
    const Access& access = body.accesses[instr.access];
    if (access.index.coefficients.size() != scope.size()) {
      fail("K06", str("an access of ", access.buffer, " has ", access.index.coefficients.size(),
                      " coefficients for ", scope.size(), " variables"));
    }
    if (access.buffer.index >= kernel_.buffers.size()) bad("K07", "no such buffer");
    const Buffer& buffer = kernel_.buffers[access.buffer.index];
    if (buffer.dtype != instr.dtype) bad("K07", str("the buffer holds ", name(buffer.dtype)));
    if (access.dynamic.valid()) {
      check_argument(body, access.dynamic, position, section);
      if (body[access.dynamic].dtype != DType::I64) bad("K02", "a computed offset is not i64");
    }
    const bool store = instr.op == ScalarOp::Store;
    if (store && buffer.kind == BufferKind::Input) bad("K04", "an input is written");
    if (stage_.kind == StageKind::Sequence) {
      if (store) verify_sequence_store(body, position, scope);
      if (store || access.dynamic.valid()) return;
    } else if (store && section == Section::Body && !stage_.reduce.empty()) {
      bad("K11", "a store inside the reduce loops");
    }
    const ScalarId mask = store ? instr.args[1] : instr.args[0];
    if (mask.valid() || access.dynamic.valid()) return;
    const std::optional<Interval> range = affine_range(access.index, scope);
    if (range && (range->low < 0 || range->high >= buffer.extent)) {
      bad("K03",
          str("elements ", range->low, " to ", range->high, " of a buffer of ", buffer.extent));
    }
    if (store && !is_injective(access.index, scope,
                               buffer.kind == BufferKind::Local ? part_.grid.size() : size_t{0})) {
      bad("K13", "two points store the same element");
    }
  }

  /// Points have no order among each other, so none may store what another one does.
  void verify_sequence_store(const Body& body, uint32_t position,
                             const std::vector<int64_t>& scope) const {
    const auto bad = [&](std::string_view rule, std::string_view message) {
      fail_at(rule, message, body, position, Section::Body);
    };
    const Instr& instr = body.instrs[position];
    const Access& access = body.accesses[instr.access];
    const Buffer& buffer = kernel_.buffers[access.buffer.index];
    const size_t outer = part_.grid.size() + stage_.parallel.size();
    const auto nest = sequence_access(body, access, scope, outer);
    if (!nest) bad("K19", "a computed offset that is no checked index times a constant");
    const std::optional<Interval> range = affine_range(nest->index, nest->extents);
    if (range && !instr.args[1].valid() && (range->low < 0 || range->high >= buffer.extent)) {
      bad("K03",
          str("elements ", range->low, " to ", range->high, " of a buffer of ", buffer.extent));
    }
    if (!is_injective(nest->index, nest->extents,
                      buffer.kind == BufferKind::Local ? part_.grid.size() : size_t{0})) {
      bad("K19", "two points may store the same element");
    }
  }

  void verify_reductions() const {
    if (stage_.kind == StageKind::Sequence) {
      if (stage_.reduce.empty()) fail("K19", "a sequence without reduce loops");
      if (!stage_.reductions.empty()) fail("K19", "a sequence with a reduction");
      if (!stage_.post.instrs.empty()) fail("K19", "a sequence with a post");
      return;
    }
    if (stage_.reduce.empty()) {
      if (!stage_.reductions.empty()) fail("K11", "a reduction without reduce loops");
      if (!stage_.post.instrs.empty()) fail("K11", "a post without reduce loops");
      return;
    }
    if (stage_.reductions.empty()) fail("K11", "reduce loops without a reduction");
    for (const Reduction& reduction : stage_.reductions) {
      const bool dot = reduction.kind == ReduceKind::Dot;
      if (dot != reduction.value2.valid()) fail("K10", "only a dot has a second factor");
      if (dot && stage_.kind != StageKind::Contraction) {
        fail("K10", "a dot outside a contraction stage");
      }
      for (const ScalarId value : {reduction.value, reduction.value2}) {
        if (!value.valid() && !dot) continue;
        if (!value.valid() || value.index >= stage_.body.instrs.size() ||
            stage_.body[value].op == ScalarOp::Store) {
          fail("K01", str("the ", name(reduction.kind), " of ", value, ", which is not defined"));
        }
        if (const std::string message = reduction_error(reduction, stage_.body[value].dtype);
            !message.empty()) {
          fail("K15", message);
        }
      }
    }
  }

  void verify_contraction() const {
    if (stage_.reductions.size() != 1 || stage_.reductions[0].kind != ReduceKind::Dot) {
      fail("K10", "a contraction needs exactly one dot");
    }
    const DType factor = stage_.body[stage_.reductions[0].value].dtype;
    const DType factor2 = stage_.body[stage_.reductions[0].value2].dtype;
    if (factor != factor2) fail("K15", str("a dot of ", name(factor), " with ", name(factor2)));
    const std::vector<bool> first = variables_of(stage_.body, stage_.reductions[0].value);
    const std::vector<bool> second = variables_of(stage_.body, stage_.reductions[0].value2);
    for (size_t loop = 0; loop < stage_.parallel.size(); ++loop) {
      const size_t variable = part_.grid.size() + loop;
      const bool in_first = variable < first.size() && first[variable];
      const bool in_second = variable < second.size() && second[variable];
      if (in_first && in_second) fail("K10", str("both factors depend on i", loop));
    }
  }

  const Kernel& kernel_;
  const Part& part_;
  const Stage& stage_;
  const std::string place_;
};

[[noreturn]] void fail_kernel(std::string_view rule, std::string_view message) {
  throw InternalError(str("internal error: kernel breaks ", rule, ": ", message));
}

void verify_buffers(const Kernel& kernel) {
  for (uint32_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    if (buffer.extent < 0)
      fail_kernel("K09", str("the extent of ", BufferId{i}, " is ", buffer.extent));
    if (i > 0 && buffer.kind < kernel.buffers[i - 1].kind) {
      fail_kernel("K08", str(name(buffer.kind), ' ', BufferId{i}, " after ",
                             name(kernel.buffers[i - 1].kind), ' ', BufferId{i - 1}));
    }
  }
}

}  // namespace

void verify(const Kernel& kernel) {
  verify_buffers(kernel);
  if (kernel.phases.empty()) fail_kernel("K16", "no phase");
  for (size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    if (phase.parts.empty()) fail_kernel("K16", str("phase ", p, " has no part"));
    for (size_t q = 0; q < phase.parts.size(); ++q) {
      const Part& part = phase.parts[q];
      if (part.stages.empty()) fail_kernel("K16", str("phase ", p, " part ", q, " has no stage"));
      for (size_t s = 0; s < part.stages.size(); ++s) {
        StageVerifier(kernel, part, part.stages[s], str("phase ", p, " part ", q, " stage ", s))
            .verify();
      }
    }
  }
  if (const std::string message = ownership_error(kernel); !message.empty()) {
    throw InternalError(str("internal error: kernel breaks ", message));
  }
}

}  // namespace reprise
