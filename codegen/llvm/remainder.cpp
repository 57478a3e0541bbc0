// The remainder of floats, exact whatever the quotient: at once where it is small, else digit by
// digit.
#include <llvm/IR/Constants.h>

#include <bit>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;

// The exact remainder of |a| by |b|: the significands divided a few bits at a time.
llvm::Function* FunctionEmitter::remainder_function(DType dtype) {
  llvm::Module& module = *function_->getParent();
  const bool single = dtype == DType::F32;
  const char* name = single ? "remainder32" : "remainder64";
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::Type* type = type_of(dtype);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-builtins");
  llvm::LLVMContext& context = module.getContext();
  const auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(context, label, function);
  };
  llvm::BasicBlock* entry = block("entry");
  llvm::BasicBlock* special = block("special");
  llvm::BasicBlock* whole = block("whole");
  llvm::BasicBlock* head = block("head");
  llvm::BasicBlock* step = block("step");
  llvm::BasicBlock* done = block("done");
  llvm::IRBuilder<> e(entry);
  const int mantissa = single ? 23 : 52;
  const uint64_t chunk = single ? 40 : 11;  // so that a significand shifted by it fits 64 bits
  llvm::Type* word = e.getIntNTy(single ? 32 : 64);
  const auto c = [&](uint64_t value) { return e.getInt64(value); };
  const auto bits_of = [&](Value* value) {
    Value* bits = e.CreateZExt(e.CreateBitCast(value, word), e.getInt64Ty());
    return e.CreateAnd(bits, c(single ? 0x7fffffffu : 0x7fffffffffffffffu));
  };
  Value* a = bits_of(function->getArg(0));
  Value* d = bits_of(function->getArg(1));
  Value* infinity = c((single ? uint64_t{255} : uint64_t{2047}) << mantissa);
  Value* invalid = e.CreateOr(e.CreateICmpUGE(a, infinity),
                              e.CreateOr(e.CreateICmpEQ(d, c(0)), e.CreateICmpUGT(d, infinity)));
  Value* smaller = e.CreateICmpULT(a, d);
  e.CreateCondBr(e.CreateOr(invalid, smaller), special, whole);

  e.SetInsertPoint(special);
  Value* nan = llvm::ConstantFP::getNaN(type);
  e.CreateRet(e.CreateSelect(invalid, nan, function->getArg(0)));

  e.SetInsertPoint(whole);
  const auto split = [&](Value* bits, Value*& exponent, Value*& significand) {
    Value* field = e.CreateLShr(bits, c(mantissa));
    Value* fraction = e.CreateAnd(bits, c((uint64_t{1} << mantissa) - 1));
    Value* normal = e.CreateICmpNE(field, c(0));
    exponent = e.CreateSelect(normal, field, c(1));
    significand = e.CreateOr(fraction, e.CreateSelect(normal, c(uint64_t{1} << mantissa), c(0)));
  };
  Value *exponent_a, *significand_a, *exponent_d, *significand_d;
  split(a, exponent_a, significand_a);
  split(d, exponent_d, significand_d);
  Value* distance = e.CreateSub(exponent_a, exponent_d);
  Value* first = e.CreateURem(significand_a, significand_d);
  e.CreateBr(head);

  e.SetInsertPoint(head);
  llvm::PHINode* rest = e.CreatePHI(e.getInt64Ty(), 2);
  llvm::PHINode* left = e.CreatePHI(e.getInt64Ty(), 2);
  rest->addIncoming(first, whole);
  left->addIncoming(distance, whole);
  e.CreateCondBr(e.CreateICmpEQ(left, c(0)), done, step);

  e.SetInsertPoint(step);
  Value* by = e.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, c(chunk));
  rest->addIncoming(e.CreateURem(e.CreateShl(rest, by), significand_d), step);
  left->addIncoming(e.CreateSub(left, by), step);
  e.CreateBr(head);

  // rest * 2^(exponent_d - bias - mantissa), exact; the power may be a denormal.
  e.SetInsertPoint(done);
  Value* power_bits = e.CreateSelect(
      e.CreateICmpUGT(exponent_d, c(mantissa)),
      e.CreateShl(e.CreateSub(exponent_d, c(mantissa)), c(mantissa)),
      e.CreateShl(c(1), e.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                                e.CreateSub(exponent_d, c(1)), c(mantissa))));
  Value* power = e.CreateBitCast(e.CreateTrunc(power_bits, word), type);
  Value* result = e.CreateFMul(e.CreateUIToFP(rest, type), power);
  e.CreateRet(e.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, function->getArg(0)));
  return function;
}

// The same for vectors, lane by lane.
llvm::Function* FunctionEmitter::remainder_function(DType dtype, llvm::FixedVectorType* vector) {
  llvm::Function* scalar = remainder_function(dtype);
  llvm::Module& module = *function_->getParent();
  const unsigned lanes = vector->getNumElements();
  const std::string name = str(scalar->getName().str(), "x", lanes);
  if (llvm::Function* known = module.getFunction(name)) return known;
  auto* function = llvm::Function::Create(llvm::FunctionType::get(vector, {vector, vector}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> e(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  Value* rest = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value* one = e.CreateCall(scalar, {e.CreateExtractElement(function->getArg(0), lane),
                                       e.CreateExtractElement(function->getArg(1), lane)});
    rest = e.CreateInsertElement(rest, one, lane);
  }
  e.CreateRet(rest);
  return function;
}

// The remainder of magnitudes by their rounded quotient, which is a whole number away from the true
// one only where the remainder comes out negative. Everything is exact: the remainder has no digits
// below the divisor's, and is smaller. `small` says where, NaN and division by 0 not among them.
Value* FunctionEmitter::small_remainder(DType dtype, Value* a, Value* x, Value*& small) {
  const bool widened = !features.fma && dtype == DType::F32;
  const DType wide = widened ? DType::F64 : dtype;
  const auto number = [&](double value) {
    return like(a, wide,
                wide == DType::F32 ? std::bit_cast<uint32_t>(static_cast<float>(value))
                                   : std::bit_cast<uint64_t>(value));
  };
  Value* top = widened ? cast(dtype, wide, a) : a;
  Value* divisor = widened ? cast(dtype, wide, x) : x;
  Value* ratio = b.CreateFDiv(top, divisor);
  Value* quotient = round(ScalarOp::Round, wide, ratio);
  Value* rest;
  if (features.fma) {
    small = b.CreateFCmpOLT(ratio, number(wide == DType::F32 ? 0x1p22 : 0x1p51));
    rest = intrinsic(llvm::Intrinsic::fma, {b.CreateFNeg(quotient), divisor, top});
  } else if (widened) {
    small = b.CreateFCmpOLT(ratio, number(0x1p28));
    rest = b.CreateFSub(top, b.CreateFMul(quotient, divisor));
  } else {
    // The divisor in two halves, whose products with so small a quotient need no rounding.
    small =
        b.CreateAnd(b.CreateFCmpOLT(ratio, number(0x1p22)), b.CreateFCmpOLT(top, number(0x1p1000)));
    llvm::Type* word = shaped(b.getInt64Ty(), a);
    Value* bits =
        b.CreateAnd(b.CreateBitCast(divisor, word), like(a, DType::I64, ~uint64_t{0} << 27));
    Value* upper = b.CreateBitCast(bits, a->getType());
    Value* lower = b.CreateFSub(divisor, upper);
    rest = b.CreateFSub(b.CreateFSub(top, b.CreateFMul(quotient, upper)),
                        b.CreateFMul(quotient, lower));
  }
  Value* negative = b.CreateFCmpOLT(rest, number(0));
  rest = b.CreateSelect(negative, b.CreateFAdd(rest, divisor), rest);
  // Below an infinite divisor too, whose product with 0 is NaN.
  rest = b.CreateSelect(b.CreateFCmpOLT(top, divisor), top, rest);
  return widened ? cast(wide, dtype, rest) : rest;
}

Value* FunctionEmitter::float_mod(DType dtype, Value* a, Value* x) {
  Value* small;
  Value* magnitude = small_remainder(dtype, intrinsic(llvm::Intrinsic::fabs, {a}),
                                     intrinsic(llvm::Intrinsic::fabs, {x}), small);
  Value* rest = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, a);
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  Value* all_small = vector == nullptr ? small : b.CreateAndReduce(small);
  rest = if_then(b.CreateNot(all_small), {rest}, [&]() -> Values {
    return {b.CreateCall(
        vector == nullptr ? remainder_function(dtype) : remainder_function(dtype, vector), {a, x})};
  })[0];
  Value* zero = like(a, dtype, 0);
  Value* differ = b.CreateXor(b.CreateFCmpOLT(rest, zero), b.CreateFCmpOLT(x, zero));
  Value* nonzero = b.CreateFCmpUNE(rest, zero);
  Value* moved = b.CreateSelect(b.CreateAnd(nonzero, differ), b.CreateFAdd(rest, x), rest);
  return b.CreateSelect(nonzero, moved,
                        b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, x));
}

}  // namespace reprise::codegen
