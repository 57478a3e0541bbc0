// Instructions one by one; masked accesses are branches.
#include "codegen/spirv/body.h"

#include <algorithm>

#include "codegen/analysis.h"
#include "ir/error.h"

namespace reprise::spirv {

Value narrow_value(Function& f, Variable variable) {
  if (variable.value == 0) return f.m.constant(0);
  return variable.wide ? f.narrowed(variable.value) : variable.value;
}

Value wide_value(Function& f, Variable variable) {
  if (variable.value == 0) return f.m.constant64(0);
  return variable.wide ? variable.value : f.widened(variable.value);
}

Value affine_value(Function& f, const Affine& affine, const Scope& scope, bool wide) {
  const int width = wide ? 64 : 32;
  const auto constant = [&](int64_t value) {
    return wide ? f.m.constant64(static_cast<uint64_t>(value))
                : f.m.constant(static_cast<uint32_t>(value));
  };
  Value sum = 0;
  for (size_t v = 0; v < affine.coefficients.size(); ++v) {
    const int64_t coefficient = affine.coefficients[v];
    if (coefficient == 0 || scope[v].value == 0) continue;
    Value term = wide ? wide_value(f, scope[v]) : narrow_value(f, scope[v]);
    if (coefficient != 1) term = f.mul(term, constant(coefficient), width);
    sum = sum == 0 ? term : f.add(sum, term, width);
  }
  if (sum == 0) return constant(affine.offset);
  return affine.offset == 0 ? sum : f.add(sum, constant(affine.offset), width);
}

void append_coordinates(Function& f, Variable linear, std::span<const int64_t> extents,
                        Scope& scope) {
  const size_t first = scope.size();
  scope.resize(first + extents.size());
  size_t left = static_cast<size_t>(
      std::count_if(extents.begin(), extents.end(), [](int64_t e) { return e != 1; }));
  const Value type = f.m.integer_type(linear.wide ? 64 : 32);
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] == 1) continue;
    if (--left == 0) {
      scope[first + axis] = linear;
      continue;
    }
    const Value extent = linear.wide ? f.m.constant64(static_cast<uint64_t>(extents[axis]))
                                     : f.m.constant(static_cast<uint32_t>(extents[axis]));
    scope[first + axis] = {f.op(spv::OpUMod, type, {linear.value, extent}), linear.wide};
    linear.value = f.op(spv::OpUDiv, type, {linear.value, extent});
  }
}

void BodyEmitter::emit_all() {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] == 0) values_[i] = emit_instr(body_.instrs[i]);
  }
}

Value BodyEmitter::emit(ScalarId root) {
  const std::vector<bool> needed = codegen::needed_by(body_, root);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && values_[i] == 0) values_[i] = emit_instr(body_.instrs[i]);
  }
  return values_[root.index];
}

Value BodyEmitter::emit_instr(const Instr& instr) {
  const auto arg = [&](int i) { return values_[instr.args[i].index]; };
  const auto operand = [&] { return body_[instr.args[0]].dtype; };
  switch (instr.op) {
    case ScalarOp::Const:
      return f_.m.constant_bits(instr.dtype, instr.bits);
    case ScalarOp::Param:
      return memory_.param(static_cast<uint32_t>(instr.bits), instr.dtype);
    case ScalarOp::Index:
      return affine_value(f_, body_.affines[instr.access], scope_, true);
    case ScalarOp::Load:
      return emit_load(instr);
    case ScalarOp::Reduced:
      return reduced_[instr.bits];
    case ScalarOp::Store:
      emit_store(instr);
      return 0;
    case ScalarOp::CheckIndex:
      return check_index(instr);
    case ScalarOp::Neg:
    case ScalarOp::Abs:
    case ScalarOp::Sqrt:
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Trunc:
    case ScalarOp::Round:
    case ScalarOp::Not:
    case ScalarOp::Exp:
    case ScalarOp::Log:
    case ScalarOp::Tanh:
    case ScalarOp::Erf:
    case ScalarOp::Sin:
    case ScalarOp::Cos:
      return f_.unary(instr.op, instr.dtype, arg(0));
    case ScalarOp::Cast:
      return f_.cast(operand(), instr.dtype, arg(0));
    case ScalarOp::Bitcast:
      return f_.bitcast(operand(), instr.dtype, arg(0));
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul:
    case ScalarOp::Div:
    case ScalarOp::Mod:
    case ScalarOp::Min:
    case ScalarOp::Max:
    case ScalarOp::CopySign:
    case ScalarOp::And:
    case ScalarOp::Or:
    case ScalarOp::Xor:
    case ScalarOp::Shl:
    case ScalarOp::Shr:
    case ScalarOp::MulHigh:
    case ScalarOp::Eq:
    case ScalarOp::Ne:
    case ScalarOp::Lt:
    case ScalarOp::Le:
      return f_.binary(instr.op, operand(), arg(0), arg(1));
    case ScalarOp::Select:
      return f_.choose(instr.dtype, arg(0), arg(1), arg(2));
    case ScalarOp::Fma:
      return f_.fma(instr.dtype, arg(0), arg(1), arg(2));
  }
  return 0;
}

// A valid element fits the width; sums on the way may wrap.
Value BodyEmitter::index_of(const Access& access) {
  const bool wide = memory_.is_wide(access.buffer);
  const Value index = affine_value(f_, access.index, scope_, wide);
  if (!access.dynamic.valid()) return index;
  const Value dynamic = values_[access.dynamic.index];
  return wide ? f_.add(index, dynamic, 64) : f_.add(index, f_.narrowed(dynamic));
}

Value BodyEmitter::emit_load(const Instr& instr) {
  const Access& access = body_.accesses[instr.access];
  const auto load = [&] { return memory_.load(access.buffer, index_of(access)); };
  if (!instr.args[0].valid()) return load();
  const Value type = f_.m.register_type(instr.dtype);
  return f_.if_value(values_[instr.args[0].index], type, f_.m.zero(type), load);
}

void BodyEmitter::emit_store(const Instr& instr) {
  const Access& access = body_.accesses[instr.access];
  const Value value = values_[instr.args[0].index];
  const auto store = [&] { memory_.store(access.buffer, index_of(access), value); };
  if (instr.args[1].valid()) {
    f_.if_then(values_[instr.args[1].index], store);
  } else {
    store();
  }
}

Value BodyEmitter::check_index(const Instr& instr) {
  const int64_t extent = static_cast<int64_t>(instr.bits);
  const Value index = values_[instr.args[0].index];
  const Value last = f_.m.constant64(static_cast<uint64_t>(std::max<int64_t>(extent, 1) - 1));
  const Value outside =
      f_.op(spv::OpUGreaterThanEqual, f_.m.bool_type(), {index, f_.m.constant64(instr.bits)});
  f_.if_then(outside, [&] { memory_.report(index, extent); });
  const Value zero = f_.m.constant64(0);
  const Value negative = f_.op(spv::OpSLessThan, f_.m.bool_type(), {index, zero});
  const Value clamped = f_.select(f_.m.u64(), negative, zero, last);
  return f_.select(f_.m.u64(), outside, clamped, index);
}

}  // namespace reprise::spirv
