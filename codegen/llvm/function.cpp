// Functions under construction: entry values, loops, branches, contiguous memory.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;

Features::Features(const TargetInfo& target) : vector_bytes(target.vector_bytes) {
  const auto has = [&](std::string_view feature) {
    std::string_view rest = target.features;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view word = rest.substr(0, comma);
      if (word.size() > 1 && word[0] == '+' && word.substr(1) == feature) return true;
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return false;
  };
  avx512 = has("avx512f");
  avx512dq = has("avx512dq");
  vnni = has("avx512vnni");
  avx2 = avx512 || has("avx2");
  avx = avx2 || has("avx");
  sse41 = avx || has("sse4.1") || has("sse4.2");
  f16c = avx512 || has("f16c");
  fma = avx512 || has("fma");
}

FunctionEmitter::FunctionEmitter(llvm::Module& module, const Kernel& kernel,
                                 const TargetInfo& target, const Features& features,
                                 llvm::StringRef name)
    : b(module.getContext()), kernel(kernel), target(target), features(features) {
  llvm::Type* pointer = b.getPtrTy();
  llvm::FunctionType* type = llvm::FunctionType::get(
      b.getVoidTy(), {pointer, b.getInt64Ty(), b.getInt64Ty(), pointer}, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("no-builtins");
  if (features.vector_bytes >= 64) {
    function_->addFnAttr("prefer-vector-width", "512");
    function_->addFnAttr("min-legal-vector-width", "512");
  }
  for (const unsigned i : {0u, 3u}) {
    function_->addParamAttr(i, llvm::Attribute::NonNull);
    function_->addParamAttr(i, llvm::Attribute::NoUndef);
  }
  entry_ = llvm::BasicBlock::Create(module.getContext(), "entry", function_);
  start_ = llvm::BasicBlock::Create(module.getContext(), "start", function_);
  b.SetInsertPoint(start_);
  buffers_.resize(kernel.buffers.size(), nullptr);
  params_.resize(kernel.params.size(), nullptr);
}

void FunctionEmitter::set_extents(const Body& body, std::span<const int64_t> extents) {
  ranges_[&body] = index_ranges(body, extents);
}

std::span<const IndexRange> FunctionEmitter::ranges(const Body& body) const {
  return ranges_.at(&body);
}

void FunctionEmitter::finish() {
  // What was stored past the caches is ordered by nothing else, whoever waits for this task.
  if (streaming_stores) b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  b.CreateRetVoid();
  b.SetInsertPoint(entry_);
  b.CreateBr(start_);
}

Value* FunctionEmitter::in_entry(const std::function<Value*()>& make) {
  const llvm::IRBuilderBase::InsertPoint saved = b.saveIP();
  b.SetInsertPoint(entry_);
  Value* value = make();
  b.restoreIP(saved);
  return value;
}

namespace {
void mark_invariant(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(load->getContext(), {}));
}
}  // namespace

Value* FunctionEmitter::buffer(BufferId id) {
  Value*& known = buffers_[id.index];
  if (known == nullptr) {
    known = in_entry([&] {
      auto* table = b.CreateLoad(b.getPtrTy(), function_->getArg(0), "buffers");
      mark_invariant(table);
      auto* pointer =
          b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, id.index),
                       "b" + llvm::Twine(id.index));
      mark_invariant(pointer);
      return pointer;
    });
  }
  return known;
}

Value* FunctionEmitter::param(uint32_t slot, DType dtype) {
  Value*& known = params_[slot];
  if (known == nullptr) {
    known = in_entry([&] {
      auto* table = b.CreateLoad(
          b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function_->getArg(0), 8),
          "params");
      mark_invariant(table);
      Value* cell = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), table, slot);
      return load(dtype, cell, 1, 1);
    });
  }
  return known;
}

Value* FunctionEmitter::status() {
  if (status_ == nullptr) {
    status_ = in_entry([&] {
      return b.CreateLoad(b.getPtrTy(),
                          b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function_->getArg(0), 16),
                          "status");
    });
  }
  return status_;
}

Value* FunctionEmitter::zero_cell() {
  if (zero_ == nullptr) {
    llvm::Type* type = llvm::ArrayType::get(b.getInt64Ty(), kCellBytes / 8);
    auto* global = new llvm::GlobalVariable(*function_->getParent(), type, true,
                                            llvm::GlobalValue::PrivateLinkage,
                                            llvm::Constant::getNullValue(type), "zeros");
    global->setAlignment(llvm::Align(64));
    zero_ = global;
  }
  return zero_;
}

Value* FunctionEmitter::sink_cell() {
  if (sink_ == nullptr) {
    sink_ = in_entry([&] { return b.CreateAlloca(b.getInt64Ty(), nullptr, "sink"); });
  }
  return sink_;
}

int64_t FunctionEmitter::reserve_scratch(int64_t bytes) {
  const int64_t offset = scratch_bytes_;
  scratch_bytes_ += (bytes + 63) / 64 * 64;
  return offset;
}

Value* FunctionEmitter::scratch_at(int64_t byte_offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), scratch(), byte_offset);
}

llvm::Type* FunctionEmitter::type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return b.getInt1Ty();
    case DType::I8:
    case DType::U8:
      return b.getInt8Ty();
    case DType::I16:
    case DType::U16:
    case DType::F16:
    case DType::BF16:
      return b.getInt16Ty();
    case DType::I32:
    case DType::U32:
      return b.getInt32Ty();
    case DType::I64:
    case DType::U64:
      return b.getInt64Ty();
    case DType::F32:
      return b.getFloatTy();
    case DType::F64:
      return b.getDoubleTy();
    case DType::C64:
    case DType::C128:
    case DType::CI8:
    case DType::CI16:
    case DType::CI32:
    case DType::CI64:
    case DType::CU8:
    case DType::CU16:
    case DType::CU32:
    case DType::CU64:
      break;
  }
  throw UnsupportedError(str("the CPU code generator does not know dtype ", dtype));
}

llvm::Type* FunctionEmitter::memory_type(DType dtype) {
  return dtype == DType::Bool ? b.getInt8Ty() : type_of(dtype);
}

llvm::Constant* FunctionEmitter::constant(DType dtype, uint64_t bits) {
  llvm::Type* type = type_of(dtype);
  if (dtype == DType::Bool) return b.getInt1((bits & 0xff) != 0);
  const unsigned width = type->getPrimitiveSizeInBits();
  const llvm::APInt word = llvm::APInt(64, bits).trunc(width);
  if (type->isFloatTy()) {
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), word));
  }
  if (type->isDoubleTy()) {
    return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEdouble(), word));
  }
  return llvm::ConstantInt::get(type, word);
}

void FunctionEmitter::loop(Value* begin, Value* end, int64_t step,
                           const std::function<void(Value*)>& body) {
  loop(begin, end, step, {}, [&](Value* i, const Values&) {
    body(i);
    return Values();
  });
}

Value* FunctionEmitter::bound(llvm::Intrinsic::ID id, Value* a, Value* x) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(a);
  auto* second = llvm::dyn_cast<llvm::ConstantInt>(x);
  if (first == nullptr || second == nullptr) return b.CreateBinaryIntrinsic(id, a, x);
  return (first->getSExtValue() < second->getSExtValue()) == (id == llvm::Intrinsic::smin) ? a : x;
}

FunctionEmitter::Values FunctionEmitter::loop(
    Value* begin, Value* end, int64_t step, const Values& init,
    const std::function<Values(Value*, const Values&)>& body) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  const bool known = first != nullptr && last != nullptr;
  if (known) {
    const int64_t count = last->getSExtValue() - first->getSExtValue();
    if (count <= 0) return init;
    if (count <= step) return body(begin, init);
  }
  llvm::LLVMContext& context = b.getContext();
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context, "loop", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "after", function_);
  if (known) {
    b.CreateBr(head);
  } else {
    b.CreateCondBr(b.CreateICmpSLT(begin, end), head, after);
  }
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  Values carried;
  for (Value* value : init) {
    llvm::PHINode* phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  Values next = body(i, carried);
  llvm::BasicBlock* latch = b.GetInsertBlock();
  Value* stepped = b.CreateAdd(i, i64(step), "", true, true);
  b.CreateCondBr(b.CreateICmpSLT(stepped, end), head, after);
  i->addIncoming(stepped, latch);
  for (size_t k = 0; k < next.size(); ++k) {
    llvm::cast<llvm::PHINode>(carried[k])->addIncoming(next[k], latch);
  }
  b.SetInsertPoint(after);
  if (known) return next;
  Values results;
  for (size_t k = 0; k < next.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(next[k]->getType(), 2);
    phi->addIncoming(init[k], before);
    phi->addIncoming(next[k], latch);
    results.push_back(phi);
  }
  return results;
}

void FunctionEmitter::if_then(Value* condition, const std::function<void()>& body) {
  if_then(condition, {}, [&] {
    body();
    return Values();
  });
}

FunctionEmitter::Values FunctionEmitter::if_then(Value* condition, const Values& otherwise,
                                                 const std::function<Values()>& body) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return known->isZero() ? otherwise : body();
  }
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* then = llvm::BasicBlock::Create(b.getContext(), "then", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b.getContext(), "join", function_);
  b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  const Values values = body();
  llvm::BasicBlock* from = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  Values results;
  for (size_t k = 0; k < values.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(values[k]->getType(), 2);
    phi->addIncoming(otherwise[k], before);
    phi->addIncoming(values[k], from);
    results.push_back(phi);
  }
  return results;
}

FunctionEmitter::Values FunctionEmitter::delinearize(Value* linear,
                                                     std::span<const int64_t> extents) {
  Values result(extents.size(), nullptr);
  for (size_t axis = extents.size(); axis-- > 0;) {
    const int64_t extent = extents[axis];
    if (axis == 0) {
      result[axis] = linear;
    } else if (extent == 1) {
      result[axis] = i64(0);
    } else {
      // Unsigned: linear indices are never negative, and this divides faster.
      result[axis] = b.CreateURem(linear, i64(extent));
      linear = b.CreateUDiv(linear, i64(extent));
    }
  }
  return result;
}

Value* FunctionEmitter::element(DType dtype, Value* pointer, Value* index) {
  return b.CreateGEP(memory_type(dtype), pointer, index);
}

Value* FunctionEmitter::load(DType dtype, Value* pointer, int lanes, int active) {
  llvm::Type* scalar = memory_type(dtype);
  const llvm::Align align(size_of(dtype));
  Value* value;
  if (lanes == 1) {
    value = b.CreateAlignedLoad(scalar, pointer, align);
  } else {
    value = b.CreateAlignedLoad(llvm::FixedVectorType::get(scalar, active), pointer, align);
    if (active < lanes) {
      llvm::SmallVector<int, 64> mask(lanes, active);
      for (int i = 0; i < active; ++i) mask[i] = i;
      value = b.CreateShuffleVector(value, llvm::Constant::getNullValue(value->getType()), mask);
    }
  }
  if (dtype == DType::Bool) {
    value = b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  return value;
}

void FunctionEmitter::store(DType dtype, Value* value, Value* pointer, int active) {
  const llvm::Align align(size_of(dtype));
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
      vector != nullptr && active < static_cast<int>(vector->getNumElements())) {
    llvm::SmallVector<int, 64> mask;
    for (int i = 0; i < active; ++i) mask.push_back(i);
    value = b.CreateShuffleVector(value, mask);
  }
  if (dtype == DType::Bool) value = b.CreateZExt(value, shaped(b.getInt8Ty(), value));
  b.CreateAlignedStore(value, pointer, align);
}

void FunctionEmitter::stream(DType dtype, Value* value, Value* pointer) {
  const uint64_t bytes =
      size_of(dtype) * llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  llvm::StoreInst* store = b.CreateAlignedStore(value, pointer, llvm::Align(bytes));
  store->setMetadata(
      llvm::LLVMContext::MD_nontemporal,
      llvm::MDNode::get(b.getContext(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
}

llvm::Type* FunctionEmitter::shaped(llvm::Type* scalar, Value* like) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType())) {
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
  }
  return scalar;
}

llvm::Constant* FunctionEmitter::like(Value* value, DType dtype, uint64_t bits) {
  llvm::Constant* scalar = constant(dtype, bits);
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType())) {
    return llvm::ConstantVector::getSplat(vector->getElementCount(), scalar);
  }
  return scalar;
}

Value* FunctionEmitter::splat(Value* scalar, int lanes) {
  return lanes == 1 ? scalar : b.CreateVectorSplat(lanes, scalar);
}

Value* FunctionEmitter::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> args) {
  return b.CreateIntrinsic(args[0]->getType(), id, args);
}

}  // namespace reprise::codegen
