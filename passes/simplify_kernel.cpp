// Folds exact constants, merges equal instructions and drops dead ones.
#include "ir/scalar_interpreter.h"
#include "ir/scalar_rewrite.h"
#include "passes/kernel_passes.h"

namespace reprise {
namespace {

bool is_exact(DType dtype) {
  return dtype == DType::Bool || is_integer(dtype);
}

/// Whether the result's bits are the same on every target: integers and truth values throughout,
/// and moves of float bits. Casts between floats round as the table says, so they fold too.
bool folds(const Body& body, const Instr& instr) {
  const int count = arity(instr.op);
  if (count == 0 || instr.op == ScalarOp::Store || instr.op == ScalarOp::CheckIndex) return false;
  for (int a = 0; a < count; ++a) {
    if (body[instr.args[a]].op != ScalarOp::Const) return false;
  }
  if (instr.op == ScalarOp::Cast || instr.op == ScalarOp::Bitcast || instr.op == ScalarOp::Select ||
      instr.op == ScalarOp::Neg || instr.op == ScalarOp::Abs) {
    return true;
  }
  return is_exact(instr.dtype) && is_exact(body[instr.args[0]].dtype);
}

ScalarId fold(ScalarBuilder& builder, const Instr& instr) {
  const Body& body = builder.body();
  uint64_t bits[3] = {};
  for (int a = 0; a < arity(instr.op); ++a) bits[a] = body[instr.args[a]].bits;
  const DType operand = body[instr.args[0]].dtype;
  return builder.constant_bits(
      evaluate_bits(instr.op, instr.dtype, operand, bits[0], bits[1], bits[2]), instr.dtype);
}

/// `x + 0`, `x * 1`, shifts by 0, `x & -1`, `x | 0` of integers; selects that cannot choose.
ScalarId simpler(const Body& body, const Instr& instr) {
  const auto constant = [&](int a, uint64_t value) {
    const Instr& arg = body[instr.args[a]];
    return arg.op == ScalarOp::Const && arg.bits == value;
  };
  if (instr.op == ScalarOp::Select) {
    if (constant(0, 1) || instr.args[1] == instr.args[2]) return instr.args[1];
    if (constant(0, 0)) return instr.args[2];
    return {};
  }
  if (!is_exact(instr.dtype) || arity(instr.op) != 2 || is_comparison(instr.op)) return {};
  switch (instr.op) {
    case ScalarOp::Add:
    case ScalarOp::Or:
    case ScalarOp::Xor:
      if (constant(0, 0)) return instr.args[1];
      [[fallthrough]];
    case ScalarOp::Sub:
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      return constant(1, 0) ? instr.args[0] : ScalarId{};
    case ScalarOp::Mul:
      if (constant(0, 1)) return instr.args[1];
      [[fallthrough]];
    case ScalarOp::Div:
      return constant(1, 1) ? instr.args[0] : ScalarId{};
    case ScalarOp::And:
      if (instr.dtype == DType::Bool && constant(0, 1)) return instr.args[1];
      if (instr.dtype == DType::Bool && constant(1, 1)) return instr.args[0];
      return {};
    default:
      return {};
  }
}

/// Folds and merges; the builder merges by itself.
Body fold_body(const Body& body, ScalarMap& map) {
  Body result;
  ScalarBuilder builder(result);
  for (const Instr& instr : body.instrs) {
    Instr renamed = instr;
    for (ScalarId& arg : renamed.args) {
      if (arg.valid()) arg = map[arg.index];
    }
    if (folds(result, renamed)) {
      map.push_back(fold(builder, renamed));
    } else if (const ScalarId same = simpler(result, renamed); same.valid()) {
      map.push_back(same);
    } else {
      map.push_back(copy_instr(builder, body, instr, map));
    }
  }
  return result;
}

/// Keeps what stores, index checks and `roots` need.
Body drop_dead(const Body& body, std::span<const ScalarId> roots, ScalarMap& map) {
  std::vector<bool> live(body.instrs.size());
  for (const ScalarId root : roots) live[root.index] = true;
  for (size_t i = body.instrs.size(); i-- > 0;) {
    const Instr& instr = body.instrs[i];
    if (instr.op == ScalarOp::Store || instr.op == ScalarOp::CheckIndex) live[i] = true;
    if (!live[i]) continue;
    for (const ScalarId arg : instr.args) {
      if (arg.valid()) live[arg.index] = true;
    }
    if (instr.op == ScalarOp::Load || instr.op == ScalarOp::Store) {
      const ScalarId dynamic = body.accesses[instr.access].dynamic;
      if (dynamic.valid()) live[dynamic.index] = true;
    }
  }
  Body result;
  ScalarBuilder builder(result);
  for (size_t i = 0; i < body.instrs.size(); ++i) {
    map.push_back(live[i] ? copy_instr(builder, body, body.instrs[i], map) : ScalarId{});
  }
  return result;
}

}  // namespace

Kernel simplify_kernel(const Kernel& kernel) {
  Kernel result = kernel;
  for (Phase& phase : result.phases) {
    for (Part& part : phase.parts) {
      for (Stage& stage : part.stages) {
        ScalarMap folded;
        Body body = fold_body(stage.body, folded);
        std::vector<ScalarId> roots;
        for (Reduction& reduction : stage.reductions) {
          reduction.value = folded[reduction.value.index];
          roots.push_back(reduction.value);
          if (!reduction.value2.valid()) continue;
          reduction.value2 = folded[reduction.value2.index];
          roots.push_back(reduction.value2);
        }
        ScalarMap kept;
        stage.body = drop_dead(body, roots, kept);
        for (Reduction& reduction : stage.reductions) {
          reduction.value = kept[reduction.value.index];
          if (reduction.value2.valid()) reduction.value2 = kept[reduction.value2.index];
        }
        ScalarMap post_folded;
        ScalarMap post_kept;
        body = fold_body(stage.post, post_folded);
        stage.post = drop_dead(body, {}, post_kept);
      }
    }
  }
  return result;
}

}  // namespace reprise
