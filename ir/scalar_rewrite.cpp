// Widening of half types and expansion of transcendentals in one scalar body.
#include "ir/scalar_rewrite.h"

#include "ir/error.h"
#include "ir/math.h"

namespace reprise {
namespace {

bool is_half(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

bool is_transcendental(ScalarOp op) {
  return op >= ScalarOp::Exp && op <= ScalarOp::Cos;
}

/// An f32 that rounds to a half type as the f64 `value` would: of its significand 12 bits stay, the
/// lowest of them set when anything below was. Those fit an f32 wherever a half type is not 0.
ScalarId round_to_odd(ScalarBuilder& b, ScalarId value) {
  constexpr uint64_t kDropped = (uint64_t{1} << 40) - 1;
  const ScalarId bits = b.bitcast(value, DType::U64);
  const ScalarId low = b.binary(ScalarOp::And, bits, b.constant_bits(kDropped, DType::U64));
  const ScalarId zero = b.constant_bits(0, DType::U64);
  const ScalarId sticky =
      b.select(b.binary(ScalarOp::Ne, low, zero), b.constant_bits(kDropped + 1, DType::U64), zero);
  const ScalarId high = b.binary(ScalarOp::And, bits, b.constant_bits(~kDropped, DType::U64));
  const ScalarId odd = b.binary(ScalarOp::Or, high, sticky);
  return b.cast(b.bitcast(odd, DType::F64), DType::F32);
}

/// A 64-bit integer that an f64 holds exactly and that rounds to bf16 as `value` would.
ScalarId fit_double(ScalarBuilder& b, ScalarId value) {
  const DType dtype = b.dtype(value);
  const ScalarId bound = b.integer(int64_t{1} << 53, dtype);
  ScalarId fits = b.le(value, bound);
  if (is_signed_integer(dtype)) {
    const ScalarId low_bound = b.integer(-(int64_t{1} << 53), dtype);
    fits = b.binary(ScalarOp::And, fits, b.le(low_bound, value));
  }
  const ScalarId zero = b.integer(0, dtype);
  const ScalarId low = b.binary(ScalarOp::And, value, b.integer(0xfff, dtype));
  const ScalarId sticky =
      b.select(b.binary(ScalarOp::Ne, low, zero), b.integer(0x800, dtype), zero);
  const ScalarId odd = b.binary(ScalarOp::Or, b.sub(value, low), sticky);
  return b.select(fits, value, odd);
}

ScalarId cast_to_half(ScalarBuilder& b, ScalarId value, DType half) {
  const DType from = b.dtype(value);
  if (from == half || from == DType::F32) return b.cast(value, half);
  if (from == DType::F64) return b.cast(round_to_odd(b, value), half);
  if (is_half(from)) return b.cast(b.cast(value, DType::F32), half);
  // An integer that f32 cannot hold exactly is infinite in f16 either way.
  if (half == DType::F16 || size_of(from) <= 2) return b.cast(b.cast(value, DType::F32), half);
  const ScalarId exact = size_of(from) == 8 ? fit_double(b, value) : value;
  return b.cast(round_to_odd(b, b.cast(exact, DType::F64)), half);
}

}  // namespace

ScalarId copy_instr(ScalarBuilder& builder, const Body& from, const Instr& instr,
                    const ScalarMap& map) {
  const auto mapped = [&](ScalarId id) { return id.valid() ? map[id.index] : id; };
  switch (instr.op) {
    case ScalarOp::Load:
    case ScalarOp::Store: {
      Access access = from.accesses[instr.access];
      access.dynamic = mapped(access.dynamic);
      if (instr.op == ScalarOp::Load) {
        return builder.load(std::move(access), instr.dtype, mapped(instr.args[0]));
      }
      builder.store(std::move(access), mapped(instr.args[0]), mapped(instr.args[1]));
      return {};
    }
    case ScalarOp::Index:
      return builder.index(from.affines[instr.access]);
    default: {
      Instr copy = instr;
      for (ScalarId& arg : copy.args) arg = mapped(arg);
      return builder.emit(copy);
    }
  }
}

Body widen_halves(const Body& body, ScalarMap* map) {
  Body result;
  ScalarBuilder builder(result);
  ScalarMap ids;
  ids.reserve(body.instrs.size());
  for (const Instr& instr : body.instrs) {
    const int count = arity(instr.op);
    const ScalarOp op = instr.op;
    const bool leaf = op <= ScalarOp::Reduced || op == ScalarOp::Store;
    const DType operand = leaf ? instr.dtype : body[instr.args[0]].dtype;
    if (op == ScalarOp::Cast && is_half(instr.dtype)) {
      ids.push_back(cast_to_half(builder, ids[instr.args[0].index], instr.dtype));
    } else if (op == ScalarOp::Cast && is_half(operand)) {
      const ScalarId wide = builder.cast(ids[instr.args[0].index], DType::F32);
      ids.push_back(builder.cast(wide, instr.dtype));
    } else if (leaf || op == ScalarOp::Select || op == ScalarOp::Bitcast || !is_half(operand)) {
      ids.push_back(copy_instr(builder, body, instr, ids));
    } else {
      Instr wide = instr;
      for (int a = 0; a < count; ++a) {
        wide.args[a] = builder.cast(ids[instr.args[a].index], DType::F32);
      }
      if (is_comparison(op)) {
        ids.push_back(builder.emit(wide));
      } else {
        wide.dtype = DType::F32;
        ids.push_back(builder.cast(builder.emit(wide), instr.dtype));
      }
    }
  }
  if (map != nullptr) *map = std::move(ids);
  return result;
}

Body expand_math(const Body& body, ScalarMap* map) {
  Body result;
  ScalarBuilder builder(result);
  ScalarMap ids;
  ids.reserve(body.instrs.size());
  for (const Instr& instr : body.instrs) {
    if (is_transcendental(instr.op)) {
      ids.push_back(expand_math(builder, instr.op, ids[instr.args[0].index]));
    } else {
      ids.push_back(copy_instr(builder, body, instr, ids));
    }
  }
  if (map != nullptr) *map = std::move(ids);
  return result;
}

}  // namespace reprise
