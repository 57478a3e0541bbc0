// Checks and type rules that ops share. Every error names the op and both values.
#pragma once

#include <limits>
#include <string>

#include "ir/builder.h"
#include "ir/error.h"
#include "ir/op.h"

namespace reprise {

/// Which dtypes an operand may have.
enum class Accepts : uint8_t {
  Float,         ///< f16, bf16, f32, f64
  Number,        ///< integers and floats
  Integer,       ///< integers
  Bits,          ///< bool and integers
  Real,          ///< bool, integers and floats
  SignedNumber,  ///< integers, floats and complex numbers
  Summand,       ///< bool, integers, floats and complex numbers
  Pair,          ///< complex numbers and complex integers
  Any,           ///< complex integers too: what only moves or selects values
};

[[nodiscard]] inline std::string_view name_of(const OpContext& ctx) {
  return op_def(ctx.op).name;
}

/// Throws DTypeError where operand `i` is not accepted.
void require_dtype(const OpContext& ctx, size_t i, Accepts accepts);
/// The dtype that operands `first` and later share; throws DTypeError where they differ.
[[nodiscard]] DType common_dtype(const OpContext& ctx, size_t first = 0);
/// The shape that operands `first` and later broadcast to.
[[nodiscard]] Shape common_shape(const OpContext& ctx, size_t first = 0);
/// The target type that the recorder gave; throws ShapeError where it did not.
[[nodiscard]] const TensorType& given_result(const OpContext& ctx);
/// The given target, checked to have the dtype of operand 0.
[[nodiscard]] const TensorType& given_shape(const OpContext& ctx);

[[nodiscard]] TensorType infer_elementwise(const OpContext& ctx, Accepts accepts);
[[nodiscard]] TensorType infer_predicate(const OpContext& ctx, Accepts accepts);
/// `dtype` with the axes of attribute 0 folded, attribute 1 saying whether they stay with extent 1.
[[nodiscard]] TensorType infer_reduction(const OpContext& ctx, DType dtype);
/// The same, where no element has no answer: throws ShapeError unless the result is empty too.
[[nodiscard]] TensorType infer_nonempty_reduction(const OpContext& ctx, DType dtype);
/// The axis in attribute word `word`, checked against operand 0's rank.
[[nodiscard]] int checked_axis(const OpContext& ctx, int word);

template <Accepts accepts>
TensorType elementwise(const OpContext& ctx) {
  return infer_elementwise(ctx, accepts);
}
template <Accepts accepts>
TensorType predicate(const OpContext& ctx) {
  return infer_predicate(ctx, accepts);
}

/// The attributes of every reduction.
inline constexpr AttrDef kReductionAttrs[] = {{"axes", AttrKind::Axes},
                                              {"keepdims", AttrKind::Int}};

/// A lowering that is one scalar operation.
template <ScalarOp op>
ScalarId lower_unary(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.unary(op, x[0]);
}
template <ScalarOp op>
ScalarId lower_binary(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
  return b.binary(op, x[0], x[1]);
}

/// A lowering of several steps: half types are widened to f32 once and rounded once at the end.
using Lowering = ScalarId (*)(ScalarBuilder&, std::span<const ScalarId>, const OpContext&);
template <Lowering steps>
ScalarId lower_wide(ScalarBuilder& b, std::span<const ScalarId> x, const OpContext& ctx) {
  const DType dtype = b.dtype(x[0]);
  if (dtype != DType::F16 && dtype != DType::BF16) return steps(b, x, ctx);
  std::array<ScalarId, 3> wide;
  REPRISE_ASSERT(x.size() <= wide.size());
  for (size_t i = 0; i < x.size(); ++i) wide[i] = b.cast(x[i], DType::F32);
  return b.cast(steps(b, {wide.data(), x.size()}, ctx), dtype);
}

/// An elementwise composite of several steps, in the same way.
using Composition = Value (*)(Builder&, std::span<const Value>, const OpContext&);
template <Composition steps>
Value compose_wide(Builder& b, std::span<const Value> x, const OpContext& ctx) {
  SmallVector<Value, 4> wide;
  for (const Value operand : x) {
    const DType dtype = b.dtype(operand);
    const bool half = dtype == DType::F16 || dtype == DType::BF16;
    wide.push_back(half ? b.cast(operand, DType::F32) : operand);
  }
  return b.cast(steps(b, wide, ctx), ctx.result->dtype);
}
/// The least finite value: what -infinity becomes where it is to give 0 times 0.
[[nodiscard]] inline Value lowest(Builder& b, DType dtype) {
  return b.constant(dtype == DType::F64 ? std::numeric_limits<double>::lowest()
                                        : std::numeric_limits<float>::lowest(),
                    dtype);
}

/// `shape` with the axes in `mask` set to extent 1.
[[nodiscard]] Shape keep_axes(const Shape& shape, uint32_t mask);

// Products in gradients. A cotangent of exactly 0 says that nobody asks (a branch that `where` did
// not take, a masked row): the result is 0 then, whatever the derivative is, NaN or infinity
// included.
[[nodiscard]] inline Value guarded_mul(Builder& b, Value cotangent, Value derivative) {
  return b.record(Op::GuardedMultiply, {cotangent, derivative});
}
[[nodiscard]] inline Value guarded_div(Builder& b, Value cotangent, Value divisor) {
  return b.record(Op::GuardedDivide, {cotangent, divisor});
}
/// Where `x` is what an extremum chose: equal to it, or NaN, which the extremum is then too.
[[nodiscard]] inline Value chosen_as(Builder& b, Value x, Value extremum) {
  return b.binary(Op::BitwiseOr, b.binary(Op::Equal, x, extremum), b.unary(Op::IsNan, x));
}
/// `value` times a finite constant.
[[nodiscard]] inline Value scaled(Builder& b, Value value, double factor) {
  return b.mul(value, b.constant(factor, b.dtype(value)));
}

}  // namespace reprise
