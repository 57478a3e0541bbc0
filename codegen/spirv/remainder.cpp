// The remainder of floats, exact whatever the quotient.
#include "codegen/spirv/function.h"

namespace reprise::spirv {

// The exact remainder of |a| by |b|: the significands divided a few bits at a time.
Value Function::float_mod(DType dtype, Value a, Value b) {
  const Value type = m.register_type(dtype);
  const Value bits = word_type(dtype);
  Value& remainder = m.shared_function(dtype == DType::F32 ? "remainder32" : "remainder64");
  if (remainder == 0) {
    const Value parameters[] = {type, type};
    Function f(m, type, parameters);
    remainder = f.id();
    const bool single = dtype == DType::F32;
    const uint64_t mantissa = single ? 23 : 52;
    const uint64_t chunk = single ? 8 : 11;  // a significand shifted by it fits the word
    const auto c = [&](uint64_t value) { return f.word(dtype, value); };
    const auto magnitude = [&](Value v) {
      return f.op(spv::OpBitwiseAnd, bits,
                  {f.bits_of(dtype, v), c((uint64_t{1} << (single ? 31 : 63)) - 1)});
    };
    const Value x = magnitude(f.parameter(0)), d = magnitude(f.parameter(1));
    const Value truth = m.bool_type();
    const Value infinity = c((single ? uint64_t{255} : uint64_t{2047}) << mantissa);
    const Value odd_divisor = f.op(
        spv::OpLogicalOr, truth,
        {f.op(spv::OpIEqual, truth, {d, c(0)}), f.op(spv::OpUGreaterThan, truth, {d, infinity})});
    const Value invalid = f.op(spv::OpLogicalOr, truth,
                               {f.op(spv::OpUGreaterThanEqual, truth, {x, infinity}), odd_divisor});
    const Value smaller = f.below(x, d);
    const Value nan = m.constant_bits(dtype, single ? 0x7fc00000u : 0x7ff8000000000000u);
    const Value special = f.select(type, invalid, nan, f.parameter(0));
    const Value whole =
        f.op(spv::OpLogicalNot, truth, {f.op(spv::OpLogicalOr, truth, {invalid, smaller})});
    const Value result = f.if_value(whole, type, special, [&] {
      struct Parts {
        Value exponent, significand;
      };
      const auto split = [&](Value v) {
        const Value field = f.op(spv::OpShiftRightLogical, bits, {v, c(mantissa)});
        const Value fraction = f.op(spv::OpBitwiseAnd, bits, {v, c((uint64_t{1} << mantissa) - 1)});
        const Value normal = f.op(spv::OpINotEqual, truth, {field, c(0)});
        const Value leading = f.select(bits, normal, c(uint64_t{1} << mantissa), c(0));
        return Parts{f.select(bits, normal, field, c(1)),
                     f.op(spv::OpBitwiseOr, bits, {fraction, leading})};
      };
      const Parts px = split(x), pd = split(d);
      const Value rest = f.variable(bits), left = f.variable(bits);
      f.store(rest, f.op(spv::OpUMod, bits, {px.significand, pd.significand}));
      f.store(left, f.op(spv::OpISub, bits, {px.exponent, pd.exponent}));
      f.loop_while(
          [&] {
            return f.op(spv::OpINotEqual, truth, {f.load(bits, left), c(0)});
          },
          [&] {
            const Value now = f.load(bits, left);
            const Value by = f.select(bits, f.below(now, c(chunk)), now, c(chunk));
            const Value shifted = f.op(spv::OpShiftLeftLogical, bits, {f.load(bits, rest), by});
            f.store(rest, f.op(spv::OpUMod, bits, {shifted, pd.significand}));
            f.store(left, f.op(spv::OpISub, bits, {now, by}));
          },
          [] {});
      // rest * 2^(exponent of d - bias - mantissa), exact; the power may be a denormal.
      const Value large = f.op(spv::OpUGreaterThan, truth, {pd.exponent, c(mantissa)});
      const Value over = f.op(spv::OpISub, bits, {pd.exponent, c(mantissa)});
      const Value under = f.op(spv::OpISub, bits, {pd.exponent, c(1)});
      const Value bound = f.select(bits, f.below(under, c(mantissa)), under, c(mantissa));
      const Value power =
          f.select(bits, large, f.op(spv::OpShiftLeftLogical, bits, {over, c(mantissa)}),
                   f.op(spv::OpShiftLeftLogical, bits, {c(1), bound}));
      const Value scaled = f.exact(
          spv::OpFMul, type,
          {f.op(spv::OpConvertUToF, type, {f.load(bits, rest)}), f.with_bits(dtype, power)});
      return f.copy_sign(dtype, scaled, f.parameter(0));
    });
    f.finish(result);
  }
  const Value rest = op(spv::OpFunctionCall, type, {remainder, a, b});
  const Value zero = m.zero(type);
  const Value differ =
      op(spv::OpLogicalNotEqual, m.bool_type(),
         {compare(ScalarOp::Lt, dtype, rest, zero), compare(ScalarOp::Lt, dtype, b, zero)});
  const Value nonzero = compare(ScalarOp::Ne, dtype, rest, zero);
  const Value moved = select(type, differ, exact(spv::OpFAdd, type, {rest, b}), rest);
  return select(type, nonzero, moved, copy_sign(dtype, rest, b));
}

}  // namespace reprise::spirv
