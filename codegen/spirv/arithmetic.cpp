// Every scalar operation on SPIR-V values, with the semantics of docs/SEMANTICS.md.
//
// Where a device need not keep signs of zero, order denormals or know what to do with a NaN, bits
// are compared and moved as integers.
#include <bit>

#include "codegen/spirv/function.h"
#include "ir/error.h"

namespace reprise::spirv {

namespace {

[[noreturn]] void fail(ScalarOp op) {
  throw UnsupportedError(
      str("the SPIR-V code generator does not know scalar operation ", name(op)));
}

uint64_t sign_bit(DType dtype) {
  return dtype == DType::F32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
}

int bits_in(DType dtype) {
  return static_cast<int>(8 * size_of(dtype));
}

}  // namespace

Value Function::word(DType dtype, uint64_t value) {
  return word_width(dtype) == 64 ? m.constant64(value) : m.constant(static_cast<uint32_t>(value));
}

Value Function::real(DType dtype, double value) {
  return m.constant_bits(dtype, dtype == DType::F32
                                    ? std::bit_cast<uint32_t>(static_cast<float>(value))
                                    : std::bit_cast<uint64_t>(value));
}

Value Function::bits_of(DType dtype, Value a) {
  return op(spv::OpBitcast, word_type(dtype), {a});
}

Value Function::with_bits(DType dtype, Value a) {
  return op(spv::OpBitcast, m.register_type(dtype), {a});
}

// Drivers take x + 0, x * 0, x - x and x / x for what they are of finite numbers, whatever they
// were told (Mesa 22.3 does), also where they find out themselves that something is 0: a select
// whose condition they know, the first round of a loop that they unroll. An operand or-ed with a
// zero that is known at run time only keeps them off, also one that was so before: no dispatch has
// 2^31 workgroups along an axis.
Value Function::hidden(DType dtype, Value a) {
  if (opaque_zero_ == 0) {
    std::swap(words_, prologue_);
    const Value vector = m.vector_type(m.u32(), 3);
    const Value counts = load(vector, m.built_in(spv::BuiltInNumWorkgroups, vector));
    const Value count = op(spv::OpCompositeExtract, m.u32(), {counts, 0});
    opaque_zero_ = op(spv::OpShiftRightLogical, m.u32(), {count, m.constant(31)});
    std::swap(words_, prologue_);
  }
  const Value mask = dtype == DType::F64 ? widened(opaque_zero_) : opaque_zero_;
  const bool half = size_of(dtype) == 2;  // in registers already its bits
  const Value bits = op(spv::OpBitwiseOr, word_type(dtype), {half ? a : bits_of(dtype, a), mask});
  const Value id = half ? bits : with_bits(dtype, bits);
  opaque_.insert(id);
  return id;
}

Value Function::start_of_sum(DType dtype) {
  const Value zero = m.constant_bits(dtype, 0);
  return is_float(dtype) ? hidden(dtype, zero) : zero;
}

/// Between two floats that a driver knows it makes a cast of the condition: -1 and 0 become the
/// negated one, and 0 loses its sign.
Value Function::choose(DType dtype, Value condition, Value yes, Value no) {
  if (is_float(dtype) && !opaque_.contains(yes) && !opaque_.contains(no)) {
    yes = guarded(dtype, yes);
    no = guarded(dtype, no);
  }
  return select(m.register_type(dtype), condition, yes, no);
}

Value Function::guarded(DType dtype, Value a) {
  return opaque_.contains(a) || m.is_nonzero_float(a) ? a : hidden(dtype, a);
}

/// Wraps at the dtype: narrow integers are kept extended to 32 bits.
Value Function::normalized(DType dtype, Value a) {
  const int unused = 32 - bits_in(dtype);
  if (unused <= 0) return a;
  if (!is_signed_integer(dtype)) {
    return op(spv::OpBitwiseAnd, m.u32(), {a, m.constant((1u << (32 - unused)) - 1)});
  }
  const Value by = m.constant(static_cast<uint32_t>(unused));
  return op(spv::OpShiftRightArithmetic, m.u32(),
            {op(spv::OpShiftLeftLogical, m.u32(), {a, by}), by});
}

Value Function::is_nan(DType dtype, Value bits) {
  const uint64_t infinity = dtype == DType::F32 ? 0x7f800000u : 0x7ff0000000000000u;
  const Value magnitude =
      op(spv::OpBitwiseAnd, word_type(dtype), {bits, word(dtype, sign_bit(dtype) - 1)});
  return op(spv::OpUGreaterThan, m.bool_type(), {magnitude, word(dtype, infinity)});
}

Value Function::copy_sign(DType dtype, Value magnitude, Value sign) {
  const Value type = word_type(dtype);
  const Value low =
      op(spv::OpBitwiseAnd, type, {bits_of(dtype, magnitude), word(dtype, sign_bit(dtype) - 1)});
  const Value high =
      op(spv::OpBitwiseAnd, type, {bits_of(dtype, sign), word(dtype, sign_bit(dtype))});
  return with_bits(dtype, op(spv::OpBitwiseOr, type, {low, high}));
}

Value Function::unary(ScalarOp code, DType dtype, Value a) {
  const Value type = m.register_type(dtype);
  switch (code) {
    case ScalarOp::Neg:
      if (!is_float(dtype)) return normalized(dtype, op(spv::OpSNegate, type, {a}));
      return with_bits(dtype, op(spv::OpBitwiseXor, word_type(dtype),
                                 {bits_of(dtype, a), word(dtype, sign_bit(dtype))}));
    case ScalarOp::Abs:
      if (is_float(dtype)) {
        return with_bits(dtype, op(spv::OpBitwiseAnd, word_type(dtype),
                                   {bits_of(dtype, a), word(dtype, sign_bit(dtype) - 1)}));
      }
      if (!is_signed_integer(dtype)) return a;
      return select(type, op(spv::OpSLessThan, m.bool_type(), {a, word(dtype, 0)}),
                    normalized(dtype, op(spv::OpSNegate, type, {a})), a);
    case ScalarOp::Sqrt:
      return extended(GLSLstd450Sqrt, type, {a});
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Trunc:
    case ScalarOp::Round:
      return is_float(dtype) ? rounded(code, dtype, a) : a;
    case ScalarOp::Not:
      if (dtype == DType::Bool) return op(spv::OpLogicalNot, type, {a});
      return normalized(dtype, op(spv::OpNot, type, {a}));
    default:
      fail(code);
  }
}

Value Function::rounded(ScalarOp code, DType dtype, Value a) {
  const Value type = m.register_type(dtype);
  if (dtype == DType::F32) {
    const GLSLstd450 instruction = code == ScalarOp::Floor   ? GLSLstd450Floor
                                   : code == ScalarOp::Ceil  ? GLSLstd450Ceil
                                   : code == ScalarOp::Trunc ? GLSLstd450Trunc
                                                             : GLSLstd450RoundEven;
    // The result has the sign of `a`, which a device may forget where it is 0.
    return copy_sign(dtype, extended(instruction, type, {a}), a);
  }
  // Drivers make up these operations of 64 bits, some of them wrongly (Mesa 22.3 leaves the
  // fraction of large values). Adding and taking away 2^52 rounds to an integer, ties to even;
  // larger values are integers (or not finite) already. Then a step back where that went past the
  // wanted side.
  const Value truth = m.bool_type();
  const Value magic = real(dtype, 0x1p52), one = real(dtype, 1), zero = real(dtype, 0);
  const Value magnitude = unary(ScalarOp::Abs, dtype, a);
  const Value nearest =
      exact(spv::OpFSub, type, {exact(spv::OpFAdd, type, {magnitude, magic}), magic});
  Value result = nearest;
  const auto step = [&](spv::Op past, Value value, Value limit, spv::Op back) {
    const Value amount = select(type, op(past, truth, {value, limit}), one, zero);
    return exact(back, type, {value, amount});
  };
  if (code == ScalarOp::Trunc) {
    result = step(spv::OpFOrdGreaterThan, nearest, magnitude, spv::OpFSub);
  } else if (code == ScalarOp::Floor) {
    result = step(spv::OpFOrdGreaterThan, copy_sign(dtype, nearest, a), a, spv::OpFSub);
  } else if (code == ScalarOp::Ceil) {
    result = step(spv::OpFOrdLessThan, copy_sign(dtype, nearest, a), a, spv::OpFAdd);
  }
  const Value small = op(spv::OpFOrdLessThan, truth, {magnitude, magic});
  return select(type, small, copy_sign(dtype, result, a), a);
}

Value Function::binary(ScalarOp code, DType dtype, Value a, Value b) {
  if (dtype == DType::Bool) return truth_op(code, a, b);
  const bool floating = is_float(dtype);
  const Value type = m.register_type(dtype);
  if (floating && code <= ScalarOp::Div) {
    const bool same = a == b;
    a = guarded(dtype, a);
    b = same ? hidden(dtype, b) : guarded(dtype, b);
  }
  const auto arithmetic = [&](spv::Op real_op, spv::Op integer_op) {
    if (floating) return exact(real_op, type, {a, b});
    return normalized(dtype, op(integer_op, type, {a, b}));
  };
  switch (code) {
    case ScalarOp::Add:
      return arithmetic(spv::OpFAdd, spv::OpIAdd);
    case ScalarOp::Sub:
      return arithmetic(spv::OpFSub, spv::OpISub);
    case ScalarOp::Mul:
      return arithmetic(spv::OpFMul, spv::OpIMul);
    case ScalarOp::Div:
      return floating ? exact(spv::OpFDiv, type, {a, b}) : divide(code, dtype, a, b);
    case ScalarOp::Mod:
      return floating ? float_mod(dtype, a, b) : divide(code, dtype, a, b);
    case ScalarOp::Min:
    case ScalarOp::Max:
      return extremum(code, dtype, a, b);
    case ScalarOp::CopySign:
      return copy_sign(dtype, a, b);
    case ScalarOp::And:
      return op(spv::OpBitwiseAnd, type, {a, b});
    case ScalarOp::Or:
      return op(spv::OpBitwiseOr, type, {a, b});
    case ScalarOp::Xor:
      return op(spv::OpBitwiseXor, type, {a, b});
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      return shift(code, dtype, a, b);
    case ScalarOp::MulHigh:
      return multiply_high(dtype, a, b);
    case ScalarOp::Eq:
    case ScalarOp::Ne:
    case ScalarOp::Lt:
    case ScalarOp::Le:
      return compare(code, dtype, a, b);
    default:
      fail(code);
  }
}

Value Function::truth_op(ScalarOp code, Value a, Value b) {
  const Value type = m.bool_type();
  switch (code) {
    case ScalarOp::Min:
    case ScalarOp::And:
      return op(spv::OpLogicalAnd, type, {a, b});
    case ScalarOp::Max:
    case ScalarOp::Or:
      return op(spv::OpLogicalOr, type, {a, b});
    case ScalarOp::Xor:
    case ScalarOp::Ne:
      return op(spv::OpLogicalNotEqual, type, {a, b});
    case ScalarOp::Eq:
      return op(spv::OpLogicalEqual, type, {a, b});
    case ScalarOp::Lt:
      return op(spv::OpLogicalAnd, type, {op(spv::OpLogicalNot, type, {a}), b});
    case ScalarOp::Le:
      return op(spv::OpLogicalOr, type, {op(spv::OpLogicalNot, type, {a}), b});
    default:
      fail(code);
  }
}

Value Function::compare(ScalarOp code, DType dtype, Value a, Value b) {
  const bool floating = is_float(dtype);
  const bool is_signed = is_signed_integer(dtype);
  const spv::Op instruction = code == ScalarOp::Eq ? (floating ? spv::OpFOrdEqual : spv::OpIEqual)
                              : code == ScalarOp::Ne
                                  ? (floating ? spv::OpFUnordNotEqual : spv::OpINotEqual)
                              : code == ScalarOp::Lt ? (floating    ? spv::OpFOrdLessThan
                                                        : is_signed ? spv::OpSLessThan
                                                                    : spv::OpULessThan)
                                                     : (floating    ? spv::OpFOrdLessThanEqual
                                                        : is_signed ? spv::OpSLessThanEqual
                                                                    : spv::OpULessThanEqual);
  return op(instruction, m.bool_type(), {a, b});
}

Value Function::fma(DType dtype, Value a, Value b, Value c) {
  if (is_float(dtype) && m.target().numerics.fma) {
    const Value id = extended(GLSLstd450Fma, m.register_type(dtype), {a, b, c});
    m.decorate(id, spv::DecorationNoContraction);
    return id;
  }
  return binary(ScalarOp::Add, dtype, binary(ScalarOp::Mul, dtype, a, b), c);
}

// Floor division and modulo. Dividing by 0, or MIN by -1, is undefined: neither reaches the device.
Value Function::divide(ScalarOp code, DType dtype, Value a, Value b) {
  const Value type = m.register_type(dtype);
  const Value zero = word(dtype, 0), one = word(dtype, 1);
  const Value by_zero = op(spv::OpIEqual, m.bool_type(), {b, zero});
  if (!is_signed_integer(dtype)) {
    const Value safe = select(type, by_zero, one, b);
    const Value result = op(code == ScalarOp::Div ? spv::OpUDiv : spv::OpUMod, type, {a, safe});
    return select(type, by_zero, zero, result);
  }
  const Value by_minus_one = op(spv::OpIEqual, m.bool_type(), {b, word(dtype, ~uint64_t{0})});
  const Value unsafe = op(spv::OpLogicalOr, m.bool_type(), {by_zero, by_minus_one});
  const Value safe = select(type, unsafe, one, b);
  const Value quotient = op(spv::OpSDiv, type, {a, safe});
  const Value rest = op(spv::OpISub, type, {a, op(spv::OpIMul, type, {quotient, safe})});
  const Value some = op(spv::OpINotEqual, m.bool_type(), {rest, zero});
  const Value differ =
      op(spv::OpSLessThan, m.bool_type(), {op(spv::OpBitwiseXor, type, {rest, safe}), zero});
  const Value adjust = op(spv::OpLogicalAnd, m.bool_type(), {some, differ});
  if (code == ScalarOp::Mod) {
    // By 0 and -1 the safe divisor is 1, whose rest is 0 already.
    return op(spv::OpIAdd, type, {rest, select(type, adjust, safe, zero)});
  }
  const Value floored = op(spv::OpISub, type, {quotient, select(type, adjust, one, zero)});
  const Value negated = normalized(dtype, op(spv::OpSNegate, type, {a}));
  return select(type, by_zero, zero, select(type, by_minus_one, negated, floored));
}

Value Function::shift(ScalarOp code, DType dtype, Value a, Value b) {
  const Value type = m.register_type(dtype);
  const uint64_t width = static_cast<uint64_t>(bits_in(dtype));
  const Value inside = below(b, word(dtype, width));
  if (code == ScalarOp::Shr && is_signed_integer(dtype)) {
    const Value count = select(type, inside, b, word(dtype, width - 1));
    return op(spv::OpShiftRightArithmetic, type, {a, count});
  }
  const Value count = select(type, inside, b, word(dtype, 0));
  const Value shifted = op(
      code == ScalarOp::Shl ? spv::OpShiftLeftLogical : spv::OpShiftRightLogical, type, {a, count});
  return select(type, inside, normalized(dtype, shifted), word(dtype, 0));
}

Value Function::extremum(ScalarOp code, DType dtype, Value a, Value b) {
  const bool maximum = code == ScalarOp::Max;
  const Value type = m.register_type(dtype);
  if (!is_float(dtype)) {
    const Value less = compare(ScalarOp::Lt, dtype, a, b);
    return maximum ? select(type, less, b, a) : select(type, less, a, b);
  }
  // As integers whose order is that of the floats, -0 below +0; NaNs go first of all.
  const Value bits_type = word_type(dtype);
  const Value bits_a = bits_of(dtype, a), bits_b = bits_of(dtype, b);
  const auto key = [&](Value bits) {
    const Value sign = op(spv::OpShiftRightArithmetic, bits_type,
                          {bits, word(dtype, static_cast<uint64_t>(bits_in(dtype) - 1))});
    const Value flip = op(spv::OpBitwiseAnd, bits_type, {sign, word(dtype, sign_bit(dtype) - 1)});
    return op(spv::OpBitwiseXor, bits_type, {bits, flip});
  };
  const Value less = op(spv::OpSLessThan, m.bool_type(), {key(bits_a), key(bits_b)});
  const Value chosen =
      maximum ? select(bits_type, less, bits_b, bits_a) : select(bits_type, less, bits_a, bits_b);
  const Value second = select(bits_type, is_nan(dtype, bits_b), bits_b, chosen);
  return with_bits(dtype, select(bits_type, is_nan(dtype, bits_a), bits_a, second));
}

Value Function::multiply_high(DType dtype, Value a, Value b) {
  const int width = bits_in(dtype);
  const Value type = m.register_type(dtype);
  if (width < 32) {
    return op(spv::OpShiftRightLogical, type,
              {mul(a, b), m.constant(static_cast<uint32_t>(width))});
  }
  // The product of halves, whose carries fit.
  const Value half = word(dtype, static_cast<uint64_t>(width / 2));
  const Value mask = word(dtype, (uint64_t{1} << (width / 2)) - 1);
  const auto high = [&](Value v) { return op(spv::OpShiftRightLogical, type, {v, half}); };
  const auto low = [&](Value v) { return op(spv::OpBitwiseAnd, type, {v, mask}); };
  const auto times = [&](Value x, Value y) { return op(spv::OpIMul, type, {x, y}); };
  const auto plus = [&](Value x, Value y) { return op(spv::OpIAdd, type, {x, y}); };
  const Value middle = plus(times(high(a), low(b)), high(times(low(a), low(b))));
  const Value cross = plus(times(low(a), high(b)), low(middle));
  return plus(plus(times(high(a), high(b)), high(middle)), high(cross));
}

}  // namespace reprise::spirv
