// Conversions between element types: saturating, single roundings, half types by integer
// arithmetic.
#include <bit>
#include <cmath>

#include "codegen/spirv/function.h"
#include "ir/error.h"

namespace reprise::spirv {

namespace {

bool is_half(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

}  // namespace

Value Function::f32_from_f16(Value a) {
  const Value type = m.u32(), real_type = m.float_type(32);
  const Value magnitude = op(spv::OpBitwiseAnd, type, {a, m.constant(0x7fff)});
  const Value moved = op(spv::OpShiftLeftLogical, type, {magnitude, m.constant(13)});
  const Value normal = add(moved, m.constant(112u << 23));
  // A denormal is a whole number of 2^-24.
  const Value small =
      bits_of(DType::F32,
              exact(spv::OpFMul, real_type,
                    {op(spv::OpConvertUToF, real_type, {magnitude}), real(DType::F32, 0x1p-24)}));
  const Value special = op(spv::OpBitwiseOr, type, {moved, m.constant(0x7f800000)});
  Value result = select(type, below(magnitude, m.constant(0x0400)), small, normal);
  result = select(type, below(magnitude, m.constant(0x7c00)), result, special);
  const Value sign = op(spv::OpShiftLeftLogical, type,
                        {op(spv::OpBitwiseAnd, type, {a, m.constant(0x8000)}), m.constant(16)});
  return with_bits(DType::F32, op(spv::OpBitwiseOr, type, {result, sign}));
}

Value Function::f16_from_f32(Value a) {
  const Value type = m.u32(), real_type = m.float_type(32);
  const auto c = [&](uint32_t value) { return m.constant(value); };
  const auto shr = [&](Value v, uint32_t by) {
    return op(spv::OpShiftRightLogical, type, {v, c(by)});
  };
  const Value bits = bits_of(DType::F32, a);
  const Value magnitude = op(spv::OpBitwiseAnd, type, {bits, c(0x7fffffff)});
  const Value sign = op(spv::OpBitwiseAnd, type, {shr(bits, 16), c(0x8000)});
  // Normal results: round the 13 bits that fall away, rebias; the carry may reach infinity.
  const Value odd = op(spv::OpBitwiseAnd, type, {shr(magnitude, 13), c(1)});
  const Value normal = shr(add(add(magnitude, odd), c(0xfff - 0x38000000u)), 13);
  // Denormal results: beside 0.5 one unit in the last place is 2^-24, the smallest f16.
  const Value beside =
      exact(spv::OpFAdd, real_type, {with_bits(DType::F32, magnitude), real(DType::F32, 0.5)});
  const Value small = op(spv::OpISub, type, {bits_of(DType::F32, beside), c(0x3f000000)});
  Value result = select(type, below(magnitude, c(0x38800000)), small, normal);
  result = select(type, below(magnitude, c(0x47800000)), result, c(0x7c00));
  result = select(type, op(spv::OpUGreaterThan, m.bool_type(), {magnitude, c(0x7f800000)}),
                  c(0x7e00), result);
  return op(spv::OpBitwiseOr, type, {result, sign});
}

Value Function::bf16_from_f32(Value a) {
  const Value type = m.u32();
  const auto c = [&](uint32_t value) { return m.constant(value); };
  const auto shr = [&](Value v) { return op(spv::OpShiftRightLogical, type, {v, c(16)}); };
  const Value bits = bits_of(DType::F32, a);
  const Value high = shr(bits);
  const Value odd = op(spv::OpBitwiseAnd, type, {high, c(1)});
  const Value nearest = shr(add(bits, add(odd, c(0x7fff))));
  return select(type, is_nan(DType::F32, bits), op(spv::OpBitwiseOr, type, {high, c(0x40)}),
                nearest);
}

// What is out of range must not reach the device: it may give anything.
Value Function::integer_from_float(DType from, DType to, Value a) {
  const Value type = m.register_type(to), truth = m.bool_type();
  const bool is_signed = is_signed_integer(to);
  const double bound = std::ldexp(1.0, static_cast<int>(8 * size_of(to)) - (is_signed ? 1 : 0));
  const Value lowest = real(from, is_signed ? -bound : 0), highest = real(from, bound);
  const Value low = op(spv::OpFOrdGreaterThanEqual, truth, {a, lowest});
  const Value high = op(spv::OpFOrdLessThan, truth, {a, highest});
  const Value inside = op(spv::OpLogicalAnd, truth, {low, high});
  const Value safe = select(m.register_type(from), inside, a, real(from, 0));
  const Value value = op(is_signed ? spv::OpConvertFToS : spv::OpConvertFToU, type, {safe});
  const Value above = op(spv::OpFOrdGreaterThanEqual, truth, {a, highest});
  const Value capped = select(type, above, m.constant_bits(to, max_integer(to)), value);
  if (!is_signed) return capped;
  const Value under = op(spv::OpFOrdLessThan, truth, {a, lowest});
  return select(type, under, m.constant_bits(to, static_cast<uint64_t>(min_integer(to))), capped);
}

Value Function::cast(DType from, DType to, Value a) {
  if (from == to) return a;
  const Value type = m.register_type(to);
  if (is_half(from)) {
    const Value wide =
        from == DType::F16
            ? f32_from_f16(a)
            : with_bits(DType::F32, op(spv::OpShiftLeftLogical, m.u32(), {a, m.constant(16)}));
    return cast(DType::F32, to, wide);
  }
  if (is_half(to)) {
    if (from != DType::F32) {
      throw InternalError(
          str("internal error: a cast of ", from, " to ", to, " in a kernel that should be legal"));
    }
    return to == DType::F16 ? f16_from_f32(a) : bf16_from_f32(a);
  }
  if (to == DType::Bool) return compare(ScalarOp::Ne, from, a, m.zero(m.register_type(from)));
  if (from == DType::Bool) {
    const uint64_t one = to == DType::F32   ? std::bit_cast<uint32_t>(1.0f)
                         : to == DType::F64 ? std::bit_cast<uint64_t>(1.0)
                                            : 1;
    return select(type, a, m.constant_bits(to, one), m.constant_bits(to, 0));
  }
  if (is_float(from)) {
    if (is_float(to)) return op(spv::OpFConvert, type, {a});
    return integer_from_float(from, to, a);
  }
  const bool is_signed = is_signed_integer(from);
  if (is_float(to)) return op(is_signed ? spv::OpConvertSToF : spv::OpConvertUToF, type, {a});
  if (word_width(from) == word_width(to)) return normalized(to, a);
  if (word_width(to) == 64) {
    if (!is_signed) return widened(a);
    // Not OpSConvert: Mesa 22.3 then compares its result as if it were unsigned.
    const Value by = m.constant(32);
    return op(spv::OpShiftRightArithmetic, type,
              {op(spv::OpShiftLeftLogical, type, {widened(a), by}), by});
  }
  return normalized(to, narrowed(a));
}

Value Function::bitcast(DType from, DType to, Value a) {
  if (from == to) return a;
  if (from == DType::Bool) return cast(DType::Bool, to, a);
  if (to == DType::Bool) return cast(from, DType::Bool, a);
  const bool wide = size_of(from) >= 4;
  if (wide && is_float(from) != is_float(to)) {
    return is_float(from) ? bits_of(from, a) : with_bits(to, a);
  }
  return normalized(to, a);
}

Value Function::to_memory(DType dtype, Value a) {
  const Value type = m.memory_type(dtype);
  if (dtype == DType::Bool) a = select(m.u32(), a, m.constant(1), m.constant(0));
  return size_of(dtype) > 2 ? a : op(spv::OpUConvert, type, {a});
}

Value Function::from_memory(DType dtype, Value a) {
  if (size_of(dtype) > 2) return a;
  const Value wide = op(is_signed_integer(dtype) ? spv::OpSConvert : spv::OpUConvert, m.u32(), {a});
  if (dtype != DType::Bool) return wide;
  return op(spv::OpINotEqual, m.bool_type(), {wide, m.constant(0)});
}

Value Function::to_word(DType dtype, Value a) {
  if (dtype == DType::Bool) return select(m.u32(), a, m.constant(1), m.constant(0));
  return dtype == DType::F32 || dtype == DType::F64 ? bits_of(dtype, a) : a;
}

Value Function::from_word(DType dtype, Value a) {
  if (dtype == DType::Bool) return op(spv::OpINotEqual, m.bool_type(), {a, m.constant(0)});
  return dtype == DType::F32 || dtype == DType::F64 ? with_bits(dtype, a) : a;
}

}  // namespace reprise::spirv
