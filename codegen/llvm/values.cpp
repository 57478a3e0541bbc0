// Every scalar operation on LLVM values, with the semantics of docs/SEMANTICS.md and no library
// call.
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>
#include <limits>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

// What vrangeps is told: which operand it gives, its sign as it is; no rounding of its own.
constexpr unsigned kSmaller = 4, kLarger = 5, kPresentRounding = 4;

int width_of(DType dtype) {
  return static_cast<int>(8 * size_of(dtype));
}

uint64_t float_bits(DType dtype, double value) {
  return dtype == DType::F32 ? std::bit_cast<uint32_t>(static_cast<float>(value))
                             : std::bit_cast<uint64_t>(value);
}

}  // namespace

Value* FunctionEmitter::unary(ScalarOp op, DType dtype, Value* a) {
  switch (op) {
    case ScalarOp::Neg:
      return is_float(dtype) ? b.CreateFNeg(a) : b.CreateNeg(a);
    case ScalarOp::Abs:
      if (is_float(dtype)) return intrinsic(llvm::Intrinsic::fabs, {a});
      if (!is_signed_integer(dtype)) return a;
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b.getFalse());
    case ScalarOp::Sqrt:
      return intrinsic(llvm::Intrinsic::sqrt, {a});
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Trunc:
    case ScalarOp::Round:
      return is_float(dtype) ? round(op, dtype, a) : a;
    case ScalarOp::Not:
      return b.CreateNot(a);
    default:
      break;
  }
  throw UnsupportedError(str("the CPU code generator does not know scalar operation ", name(op)));
}

Value* FunctionEmitter::binary(ScalarOp op, DType dtype, Value* a, Value* x) {
  const bool floating = is_float(dtype);
  const bool is_signed = is_signed_integer(dtype);
  switch (op) {
    case ScalarOp::Add:
      return floating ? b.CreateFAdd(a, x) : b.CreateAdd(a, x);
    case ScalarOp::Sub:
      return floating ? b.CreateFSub(a, x) : b.CreateSub(a, x);
    case ScalarOp::Mul:
      return floating ? b.CreateFMul(a, x) : b.CreateMul(a, x);
    case ScalarOp::Div:
      return floating ? b.CreateFDiv(a, x) : divide(op, dtype, a, x);
    case ScalarOp::Mod:
      return floating ? float_mod(dtype, a, x) : divide(op, dtype, a, x);
    case ScalarOp::Min:
    case ScalarOp::Max:
      return extremum(op, dtype, a, x);
    case ScalarOp::CopySign:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, x);
    case ScalarOp::And:
      return b.CreateAnd(a, x);
    case ScalarOp::Or:
      return b.CreateOr(a, x);
    case ScalarOp::Xor:
      return b.CreateXor(a, x);
    case ScalarOp::Shl:
    case ScalarOp::Shr:
      return shift(op, dtype, a, x);
    case ScalarOp::MulHigh: {
      llvm::Type* wide = shaped(b.getIntNTy(2 * width_of(dtype)), a);
      Value* product = b.CreateMul(b.CreateZExt(a, wide), b.CreateZExt(x, wide));
      return b.CreateTrunc(b.CreateLShr(product, width_of(dtype)), a->getType());
    }
    case ScalarOp::Eq:
      return floating ? b.CreateFCmpOEQ(a, x) : b.CreateICmpEQ(a, x);
    case ScalarOp::Ne:
      return floating ? b.CreateFCmpUNE(a, x) : b.CreateICmpNE(a, x);
    case ScalarOp::Lt:
      if (floating) return b.CreateFCmpOLT(a, x);
      return is_signed ? b.CreateICmpSLT(a, x) : b.CreateICmpULT(a, x);
    case ScalarOp::Le:
      if (floating) return b.CreateFCmpOLE(a, x);
      return is_signed ? b.CreateICmpSLE(a, x) : b.CreateICmpULE(a, x);
    default:
      break;
  }
  throw UnsupportedError(str("the CPU code generator does not know scalar operation ", name(op)));
}

Value* FunctionEmitter::fma(DType dtype, Value* a, Value* x, Value* c) {
  if (!is_float(dtype)) return b.CreateAdd(b.CreateMul(a, x), c);
  if (!target.numerics.fma) return b.CreateFAdd(b.CreateFMul(a, x), c);
  if (!features.fma) {
    throw UnsupportedError(
        str("fused multiply-add asked for on a target without it: ", target.features));
  }
  return intrinsic(llvm::Intrinsic::fma, {a, x, c});
}

// Floor division and modulo. The divisor that reaches the machine is never 0 or -1, which trap.
Value* FunctionEmitter::divide(ScalarOp op, DType dtype, Value* a, Value* x) {
  Value* zero = like(a, dtype, 0);
  Value* one = like(a, dtype, 1);
  Value* by_zero = b.CreateICmpEQ(x, zero);
  if (!is_signed_integer(dtype)) {
    Value* safe = b.CreateSelect(by_zero, one, x);
    Value* result = op == ScalarOp::Div ? b.CreateUDiv(a, safe) : b.CreateURem(a, safe);
    return b.CreateSelect(by_zero, zero, result);
  }
  Value* by_minus_one = b.CreateICmpEQ(x, like(a, dtype, ~uint64_t{0}));
  Value* safe = b.CreateSelect(b.CreateOr(by_zero, by_minus_one), one, x);
  Value* quotient = b.CreateSDiv(a, safe);
  Value* rest = b.CreateSub(a, b.CreateMul(quotient, safe));
  Value* adjust =
      b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, safe), zero));
  if (op == ScalarOp::Mod) {
    // By 0 and -1 the safe divisor is 1, whose rest is 0 already.
    return b.CreateAdd(rest, b.CreateSelect(adjust, safe, zero));
  }
  Value* floored = b.CreateAdd(quotient, b.CreateSExt(adjust, a->getType()));
  return b.CreateSelect(by_zero, zero, b.CreateSelect(by_minus_one, b.CreateNeg(a), floored));
}

Value* FunctionEmitter::shift(ScalarOp op, DType dtype, Value* a, Value* x) {
  const uint64_t width = static_cast<uint64_t>(width_of(dtype));
  Value* inside = b.CreateICmpULT(x, like(x, dtype, width));
  if (op == ScalarOp::Shr && is_signed_integer(dtype)) {
    return b.CreateAShr(a, b.CreateSelect(inside, x, like(x, dtype, width - 1)));
  }
  Value* count = b.CreateSelect(inside, x, like(x, dtype, 0));
  Value* shifted = op == ScalarOp::Shl ? b.CreateShl(a, count) : b.CreateLShr(a, count);
  return b.CreateSelect(inside, shifted, like(a, dtype, 0));
}

Value* FunctionEmitter::round(ScalarOp op, DType dtype, Value* a) {
  if (features.sse41) {
    const ID id = op == ScalarOp::Floor   ? llvm::Intrinsic::floor
                  : op == ScalarOp::Ceil  ? llvm::Intrinsic::ceil
                  : op == ScalarOp::Trunc ? llvm::Intrinsic::trunc
                                          : llvm::Intrinsic::roundeven;
    return intrinsic(id, {a});
  }
  // Adding and taking away 2^mantissa rounds to an integer, ties to even; larger values are
  // integers (or not finite) already. Then step back where that went past the wanted side.
  Value* magic = like(a, dtype, float_bits(dtype, dtype == DType::F32 ? 0x1p23 : 0x1p52));
  Value* one = like(a, dtype, float_bits(dtype, 1));
  Value* magnitude = intrinsic(llvm::Intrinsic::fabs, {a});
  Value* rounded = b.CreateFSub(b.CreateFAdd(magnitude, magic), magic);
  if (op == ScalarOp::Trunc) {
    Value* lower = b.CreateFSub(rounded, one);
    rounded = b.CreateSelect(b.CreateFCmpOGT(rounded, magnitude), lower, rounded);
  }
  Value* result = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, a);
  if (op == ScalarOp::Floor) {
    Value* lower = b.CreateFSub(result, one);
    result = b.CreateSelect(b.CreateFCmpOGT(result, a), lower, result);
  } else if (op == ScalarOp::Ceil) {
    Value* upper = b.CreateFAdd(result, one);
    result = b.CreateSelect(b.CreateFCmpOLT(result, a), upper, result);
    // -0.5 rounds up to -0.
    result = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, a);
  }
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, magic), result, a);
}

Value* FunctionEmitter::extremum(ScalarOp op, DType dtype, Value* a, Value* x) {
  const bool maximum = op == ScalarOp::Max;
  if (dtype == DType::Bool) return maximum ? b.CreateOr(a, x) : b.CreateAnd(a, x);
  if (!is_float(dtype)) {
    const bool is_signed = is_signed_integer(dtype);
    const ID id = maximum ? (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                          : (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    return b.CreateBinaryIntrinsic(id, a, x);
  }
  // Against a constant that is neither NaN nor the zero that loses a tie, one compare decides:
  // a NaN fails it and stays, and a zero of either sign gives way to the constant.
  const auto constant_value = [](Value* value) -> const llvm::ConstantFP* {
    if (auto* scalar = llvm::dyn_cast<llvm::ConstantFP>(value)) return scalar;
    if (auto* vector = llvm::dyn_cast<llvm::Constant>(value)) {
      return llvm::dyn_cast_or_null<llvm::ConstantFP>(vector->getSplatValue());
    }
    return nullptr;
  };
  if (constant_value(a) != nullptr) std::swap(a, x);
  if (const llvm::ConstantFP* known = constant_value(x); known != nullptr && !known->isNaN()) {
    const bool loses_tie = known->isZero() && known->isNegative() == maximum;
    if (!loses_tie) {
      if (known->isZero()) {
        Value* gives_way = maximum ? b.CreateFCmpOLE(a, x) : b.CreateFCmpOGE(a, x);
        return b.CreateSelect(gives_way, x, a);
      }
      return b.CreateSelect(maximum ? b.CreateFCmpOGT(x, a) : b.CreateFCmpOLT(x, a), x, a);
    }
  }
  const unsigned bits = static_cast<unsigned>(width_of(dtype));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (features.avx512dq && bits >= 32 && vector != nullptr &&
      vector->getNumElements() * bits == 512) {
    // One instruction that knows the order of zeros; of a number and a NaN it gives the number.
    const bool wide = bits == 64;
    Value* ordered =
        b.CreateIntrinsic(wide ? llvm::Intrinsic::x86_avx512_mask_range_pd_512
                               : llvm::Intrinsic::x86_avx512_mask_range_ps_512,
                          {},
                          {a, x, b.getInt32(maximum ? kLarger : kSmaller), a,
                           wide ? b.getInt8(-1) : b.getInt16(-1), b.getInt32(kPresentRounding)});
    return b.CreateSelect(b.CreateFCmpUNO(a, x), b.CreateFAdd(a, x), ordered);
  }
  if (maximum) return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, x);
  // The machine's minimum gives its second operand for a NaN or two zeros: both orders, or-ed
  // together, are a NaN with any NaN and -0 with any -0, and the same value otherwise.
  llvm::Type* word = shaped(b.getIntNTy(bits), a);
  Value* first = b.CreateSelect(b.CreateFCmpOLT(a, x), a, x);
  Value* second = b.CreateSelect(b.CreateFCmpOLT(x, a), x, a);
  return b.CreateBitCast(b.CreateOr(b.CreateBitCast(first, word), b.CreateBitCast(second, word)),
                         a->getType());
}

// What changes no value it is combined with, bit for bit: -0 for a float sum.
FunctionEmitter::Values FunctionEmitter::neutral(const Reduction& reduction, DType dtype,
                                                 int lanes) {
  const auto extreme = [&](bool largest) -> uint64_t {
    if (is_float(dtype)) {
      const double infinity = std::numeric_limits<double>::infinity();
      return float_bits(dtype, largest ? infinity : -infinity);
    }
    return largest ? max_integer(dtype) : static_cast<uint64_t>(min_integer(dtype));
  };
  const auto all = [&](DType d, uint64_t bits) { return splat(constant(d, bits), lanes); };
  switch (reduction.kind) {
    case ReduceKind::Sum:
      return {all(dtype, is_float(dtype) ? float_bits(dtype, -0.0) : 0)};
    case ReduceKind::Dot:
      return {all(dtype, 0)};
    case ReduceKind::Prod:
      return {all(dtype, is_float(dtype) ? float_bits(dtype, 1) : 1)};
    case ReduceKind::Min:
      return {all(dtype, extreme(true))};
    case ReduceKind::Max:
      return {all(dtype, extreme(false))};
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return {all(dtype, extreme(reduction.kind == ReduceKind::ArgMin)),
              all(DType::I64, static_cast<uint64_t>(INT64_MAX))};
  }
  return {};
}

FunctionEmitter::Values FunctionEmitter::combine(const Reduction& reduction, DType dtype,
                                                 const Values& a, const Values& x) {
  switch (reduction.kind) {
    case ReduceKind::Sum:
      return {binary(ScalarOp::Add, dtype, a[0], x[0])};
    case ReduceKind::Prod:
      return {binary(ScalarOp::Mul, dtype, a[0], x[0])};
    case ReduceKind::Min:
      return {binary(ScalarOp::Min, dtype, a[0], x[0])};
    case ReduceKind::Max:
      return {binary(ScalarOp::Max, dtype, a[0], x[0])};
    case ReduceKind::Dot:
      break;
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax: {
      // The total order behind "first NaN, else first extreme": NaN beats all, ties go to the
      // smaller index.
      const bool maximum = reduction.kind == ReduceKind::ArgMax;
      Value* better = maximum ? binary(ScalarOp::Lt, dtype, a[0], x[0])
                              : binary(ScalarOp::Lt, dtype, x[0], a[0]);
      Value* tie = binary(ScalarOp::Eq, dtype, a[0], x[0]);
      if (is_float(dtype)) {
        Value* nan_a = b.CreateFCmpUNO(a[0], a[0]);
        Value* nan_x = b.CreateFCmpUNO(x[0], x[0]);
        better = b.CreateOr(better, b.CreateAnd(nan_x, b.CreateNot(nan_a)));
        tie = b.CreateOr(tie, b.CreateAnd(nan_x, nan_a));
      }
      Value* take = b.CreateOr(better, b.CreateAnd(tie, b.CreateICmpSLT(x[1], a[1])));
      return {b.CreateSelect(take, x[0], a[0]), b.CreateSelect(take, x[1], a[1])};
    }
  }
  throw InternalError("internal error: a dot reduction outside a contraction");
}

}  // namespace reprise::codegen
