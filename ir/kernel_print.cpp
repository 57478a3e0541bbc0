// The textual form of kernels, written.
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/kernel_text.h"
#include "ir/text.h"

namespace reprise {
namespace {

/// The variables a body sees, as their names begin: grid g, parallel loops i, reduce loops r.
struct Scope {
  size_t grid = 0, parallel = 0, reduce = 0;

  [[nodiscard]] std::string variable(size_t index) const {
    if (index < grid) return str('g', index);
    if (index < grid + parallel) return str('i', index - grid);
    return str('r', index - grid - parallel);
  }
};

void append_term(std::string& out, bool negative, std::string_view text) {
  if (out.empty()) {
    if (negative) out += '-';
  } else {
    out += negative ? " - " : " + ";
  }
  out += text;
}

/// The magnitude as an unsigned number, since the smallest integer has no negative.
uint64_t magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

std::string affine_text(const Affine& affine, const Scope& scope, ScalarId dynamic = {}) {
  std::string out;
  for (size_t v = 0; v < affine.coefficients.size(); ++v) {
    const int64_t c = affine.coefficients[v];
    if (c == 0) continue;
    std::string term = scope.variable(v);
    if (magnitude(c) != 1) term += str('*', magnitude(c));
    append_term(out, c < 0, term);
  }
  if (affine.offset != 0 || (out.empty() && !dynamic.valid())) {
    append_term(out, affine.offset < 0, str(magnitude(affine.offset)));
  }
  if (dynamic.valid()) append_term(out, false, str(dynamic));
  return out;
}

std::string access_text(const Access& access, const Scope& scope) {
  return str(access.buffer, '[', affine_text(access.index, scope, access.dynamic), ']');
}

std::string instr_text(const Body& body, uint32_t position, const Scope& scope) {
  const Instr& instr = body.instrs[position];
  const auto mask = [](ScalarId id) { return id.valid() ? str(" where ", id) : std::string(); };
  if (instr.op == ScalarOp::Store) {
    return str("store ", access_text(body.accesses[instr.access], scope), ", ", instr.args[0],
               mask(instr.args[1]));
  }
  std::string out = str(ScalarId{position}, " = ", name(instr.op), ' ');
  switch (instr.op) {
    case ScalarOp::Const:
      out += print_element(instr.bits, instr.dtype);
      break;
    case ScalarOp::Param:
      out += str('p', instr.bits);
      break;
    case ScalarOp::Reduced:
      out += str(instr.bits);
      break;
    case ScalarOp::Index:
      return out + affine_text(body.affines[instr.access], scope);
    case ScalarOp::Load:
      out += access_text(body.accesses[instr.access], scope) + mask(instr.args[0]);
      break;
    case ScalarOp::CheckIndex:
      out += str(instr.args[0], " below ", instr.bits);
      break;
    default:
      for (int a = 0; a < arity(instr.op); ++a) out += str(a > 0 ? ", " : "", instr.args[a]);
  }
  return out + str(" : ", name(instr.dtype));
}

void print_body(std::string& out, const Body& body, const Scope& scope) {
  for (uint32_t i = 0; i < body.instrs.size(); ++i) {
    out += str("        ", instr_text(body, i, scope), '\n');
  }
}

void print_stage(std::string& out, const Stage& stage, size_t grid) {
  const Scope scope{grid, stage.parallel.size(), stage.reduce.size()};
  out += str("      ", name(stage.kind), " parallel ", print_integers(stage.parallel), " reduce ",
             print_integers(stage.reduce), " {\n");
  print_body(out, stage.body, scope);
  for (const Reduction& reduction : stage.reductions) {
    out += str("        reduce ", name(reduction.kind), ' ', reduction.value);
    if (reduction.value2.valid()) out += str(", ", reduction.value2);
    out += str(" : ", name(reduction.dtype), '\n');
  }
  if (!stage.post.instrs.empty()) {
    out += "      } post {\n";
    print_body(out, stage.post, scope);
  }
  out += "      }\n";
}

}  // namespace

std::string_view name(BufferKind kind) {
  switch (kind) {
    case BufferKind::Input:
      return "input";
    case BufferKind::Output:
      return "output";
    case BufferKind::Scratch:
      return "scratch";
    case BufferKind::Local:
      return "local";
  }
  return "";
}

std::string_view name(StageKind kind) {
  switch (kind) {
    case StageKind::Loop:
      return "loop";
    case StageKind::Contraction:
      return "contraction";
    case StageKind::Sequence:
      return "sequence";
  }
  return "";
}

std::string_view name(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
      return "sum";
    case ReduceKind::Prod:
      return "prod";
    case ReduceKind::Min:
      return "min";
    case ReduceKind::Max:
      return "max";
    case ReduceKind::ArgMin:
      return "argmin";
    case ReduceKind::ArgMax:
      return "argmax";
    case ReduceKind::Dot:
      return "dot";
  }
  return "";
}

std::string print_instr(const Body& body, uint32_t position, int grid, int parallel, int reduce) {
  return instr_text(
      body, position,
      {static_cast<size_t>(grid), static_cast<size_t>(parallel), static_cast<size_t>(reduce)});
}

std::string print(const Kernel& kernel) {
  std::string out = "kernel {\n";
  for (uint32_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    out += str("  ", name(buffer.kind), ' ', BufferId{i}, ": ", name(buffer.dtype), '[',
               buffer.extent, "]\n");
  }
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    out += str("  param p", i, ": ", name(kernel.params[i]), '\n');
  }
  for (const Phase& phase : kernel.phases) {
    out += "  phase {\n";
    for (const Part& part : phase.parts) {
      out += str("    part grid ", print_integers(part.grid), " {\n");
      for (const Stage& stage : part.stages) print_stage(out, stage, part.grid.size());
      out += "    }\n";
    }
    out += "  }\n";
  }
  return out + "}\n";
}

}  // namespace reprise
