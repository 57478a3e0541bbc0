// Conversions between element types: saturating, single roundings, half types without library
// calls.
#include <llvm/IR/Constants.h>

#include <bit>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

bool is_half(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

}  // namespace

Value* FunctionEmitter::f32_from_f16(Value* a) {
  if (features.f16c) {
    return b.CreateFPExt(b.CreateBitCast(a, shaped(b.getHalfTy(), a)), shaped(b.getFloatTy(), a));
  }
  // The magnitude's bits moved up are the value scaled by 2^-112, denormals included.
  llvm::Type* word = shaped(b.getInt32Ty(), a);
  llvm::Type* real = shaped(b.getFloatTy(), a);
  Value* bits = b.CreateZExt(a, word);
  Value* magnitude =
      b.CreateShl(b.CreateAnd(bits, like(bits, DType::U32, 0x7fff)), like(bits, DType::U32, 13));
  Value* scaled = b.CreateFMul(b.CreateBitCast(magnitude, real),
                               like(a, DType::F32, std::bit_cast<uint32_t>(0x1p112f)));
  Value* finite = b.CreateICmpULT(magnitude, like(bits, DType::U32, 0x7c00u << 13));
  Value* result = b.CreateSelect(finite, b.CreateBitCast(scaled, word),
                                 b.CreateOr(magnitude, like(bits, DType::U32, 0x7f800000u)));
  Value* sign =
      b.CreateShl(b.CreateAnd(bits, like(bits, DType::U32, 0x8000)), like(bits, DType::U32, 16));
  return b.CreateBitCast(b.CreateOr(result, sign), real);
}

Value* FunctionEmitter::f16_from_f32(Value* a) {
  if (features.f16c) {
    return b.CreateBitCast(b.CreateFPTrunc(a, shaped(b.getHalfTy(), a)), shaped(b.getInt16Ty(), a));
  }
  llvm::Type* word = shaped(b.getInt32Ty(), a);
  const auto c = [&](uint32_t value) { return like(a, DType::U32, value); };
  Value* bits = b.CreateBitCast(a, word);
  Value* magnitude = b.CreateAnd(bits, c(0x7fffffff));
  Value* sign = b.CreateAnd(b.CreateLShr(bits, c(16)), c(0x8000));
  // Normal results: round the 13 bits that fall away, rebias; the carry may reach infinity.
  Value* odd = b.CreateAnd(b.CreateLShr(magnitude, c(13)), c(1));
  Value* normal =
      b.CreateLShr(b.CreateAdd(b.CreateAdd(magnitude, odd), c(0xfff - 0x38000000u)), c(13));
  // Denormal results: beside 0.5 one unit in the last place is 2^-24, the smallest f16.
  Value* beside = b.CreateFAdd(b.CreateBitCast(magnitude, a->getType()),
                               like(a, DType::F32, std::bit_cast<uint32_t>(0.5f)));
  Value* denormal = b.CreateSub(b.CreateBitCast(beside, word), c(0x3f000000));
  Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, c(0x38800000)), denormal, normal);
  result = b.CreateSelect(b.CreateICmpUGE(magnitude, c(0x47800000)), c(0x7c00), result);
  result = b.CreateSelect(b.CreateICmpUGT(magnitude, c(0x7f800000)), c(0x7e00), result);
  return b.CreateTrunc(b.CreateOr(result, sign), shaped(b.getInt16Ty(), a));
}

Value* FunctionEmitter::bf16_from_f32(Value* a) {
  llvm::Type* word = shaped(b.getInt32Ty(), a);
  const auto c = [&](uint32_t value) { return like(a, DType::U32, value); };
  Value* bits = b.CreateBitCast(a, word);
  Value* high = b.CreateLShr(bits, c(16));
  Value* rounded =
      b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(b.CreateAnd(high, c(1)), c(0x7fff))), c(16));
  Value* is_nan = b.CreateICmpUGT(b.CreateAnd(bits, c(0x7fffffff)), c(0x7f800000));
  Value* result = b.CreateSelect(is_nan, b.CreateOr(high, c(0x40)), rounded);
  return b.CreateTrunc(result, shaped(b.getInt16Ty(), a));
}

// Toward zero, the last bit set when anything was lost: rounding that again to a half type rounds
// as the f64 itself would.
Value* FunctionEmitter::f32_round_to_odd(Value* a) {
  llvm::Type* real = shaped(b.getFloatTy(), a);
  llvm::Type* word = shaped(b.getInt32Ty(), a);
  Value* nearest = b.CreateFPTrunc(a, real);
  Value* back = b.CreateFPExt(nearest, a->getType());
  Value* inexact = b.CreateFCmpONE(back, a);
  Value* above = b.CreateFCmpOGT(intrinsic(llvm::Intrinsic::fabs, {back}),
                                 intrinsic(llvm::Intrinsic::fabs, {a}));
  Value* bits = b.CreateBitCast(nearest, word);
  bits = b.CreateAdd(bits, b.CreateSExt(above, word));
  bits = b.CreateOr(bits, b.CreateZExt(inexact, word));
  return b.CreateBitCast(bits, real);
}

Value* FunctionEmitter::cast(DType from, DType to, Value* a) {
  if (from == to) return a;
  if (is_half(from)) {
    Value* wide = from == DType::F16
                      ? f32_from_f16(a)
                      : b.CreateBitCast(b.CreateShl(b.CreateZExt(a, shaped(b.getInt32Ty(), a)),
                                                    like(a, DType::U32, 16)),
                                        shaped(b.getFloatTy(), a));
    return cast(DType::F32, to, wide);
  }
  if (is_half(to)) {
    Value* single;
    if (from == DType::F32) {
      single = a;
    } else if (from == DType::F64) {
      single = f32_round_to_odd(a);
    } else if (size_of(from) <= 2) {
      single = cast(from, DType::F32, a);
    } else if (size_of(from) == 4) {
      single = f32_round_to_odd(cast(from, DType::F64, a));
    } else {
      // A double that rounds as the 64-bit integer would: what does not fit becomes sticky. A
      // negative value floors to `high`, so the sticky part always adds.
      Value* low = b.CreateAnd(a, like(a, from, 0xfff));
      Value* high = cast(from, DType::F64, b.CreateSub(a, low));
      Value* sticky = b.CreateSelect(b.CreateICmpNE(low, like(a, from, 0)),
                                     like(a, DType::F64, std::bit_cast<uint64_t>(2048.0)),
                                     like(a, DType::F64, 0));
      const uint64_t bound = uint64_t{1} << 53;
      Value* exact = is_signed_integer(from) ? b.CreateICmpULE(b.CreateAdd(a, like(a, from, bound)),
                                                               like(a, from, 2 * bound))
                                             : b.CreateICmpULE(a, like(a, from, bound));
      single = f32_round_to_odd(
          b.CreateSelect(exact, cast(from, DType::F64, a), b.CreateFAdd(high, sticky)));
    }
    return to == DType::F16 ? f16_from_f32(single) : bf16_from_f32(single);
  }
  llvm::Type* type = shaped(type_of(to), a);
  if (to == DType::Bool) {
    Value* zero = llvm::Constant::getNullValue(a->getType());
    return is_float(from) ? b.CreateFCmpUNE(a, zero) : b.CreateICmpNE(a, zero);
  }
  if (is_float(from)) {
    if (is_float(to)) return to == DType::F64 ? b.CreateFPExt(a, type) : b.CreateFPTrunc(a, type);
    const ID id = is_signed_integer(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b.CreateIntrinsic(id, {type, a->getType()}, {a});
  }
  if (is_float(to)) {
    return is_signed_integer(from) ? b.CreateSIToFP(a, type) : b.CreateUIToFP(a, type);
  }
  return is_signed_integer(from) ? b.CreateSExtOrTrunc(a, type) : b.CreateZExtOrTrunc(a, type);
}

Value* FunctionEmitter::bitcast(DType from, DType to, Value* a) {
  if (from == DType::Bool && to != DType::Bool) return b.CreateZExt(a, shaped(type_of(to), a));
  if (to == DType::Bool && from != DType::Bool) {
    return b.CreateICmpNE(a, llvm::Constant::getNullValue(a->getType()));
  }
  return b.CreateBitCast(a, shaped(type_of(to), a));
}

}  // namespace reprise::codegen
