// Emits a scalar body at a vector shape: uniform values stay scalars, accesses are classified by
// their stride along the vector variable.
#include <llvm/IR/Constants.h>

#include "codegen/llvm/emit.h"

namespace reprise::codegen {

using llvm::Value;

/// One access at lane 0 of copy 0; lane l lies `stride` elements further per lane, plus offsets[l].
struct BodyEmitter::Address {
  DType dtype;
  Value* pointer;
  int64_t displacement;  ///< in elements
  int64_t stride;
  Lanes offsets;  ///< in elements; no parts when the access is affine along the lanes
  /// In place of the stride where lanes are of two loops: how far each lane of a copy lies from the
  /// first, and each copy from the one before.
  llvm::SmallVector<int64_t, 16> pattern;
  int64_t copy_stride = 0;

  [[nodiscard]] bool plain() const { return pattern.empty() && offsets.parts.empty(); }
  [[nodiscard]] bool uniform() const { return stride == 0 && plain(); }
  [[nodiscard]] bool contiguous() const { return stride == 1 && plain(); }
  [[nodiscard]] int64_t lane(int64_t lanes, int copy, int64_t lane) const {
    return pattern.empty() ? stride * (copy * lanes + lane) : copy * copy_stride + pattern[lane];
  }
};

BodyEmitter::BodyEmitter(FunctionEmitter& f, const Body& body, const LocalLayout& locals,
                         Scope scope, VectorShape shape)
    : f_(f), b_(f.b), body_(body), locals_(locals), scope_(std::move(scope)), shape_(shape) {
  values_.resize(body.instrs.size());
  done_.resize(body.instrs.size());
  narrow_.resize(body.instrs.size());
  if (shape.lanes == 1) return;  // a machine's scalars are 64 bits wide
  ranges_ = f.ranges(body);
  for (size_t i = 0; i < narrow_.size(); ++i) narrow_[i] = ranges_[i].fits_i32();
}

Lanes& BodyEmitter::widen(ScalarId id) {
  Lanes& value = values_[id.index];
  if (!narrow_[id.index]) return value;
  narrow_[id.index] = false;
  value.splatted = nullptr;
  for (Value*& part : value.parts) part = b_.CreateSExt(part, f_.shaped(b_.getInt64Ty(), part));
  return value;
}

Value* BodyEmitter::vector(Lanes& value, int copy) {
  if (!value.uniform) return value.parts[copy];
  if (shape_.lanes == 1) return value.scalar();
  if (value.splatted == nullptr) value.splatted = f_.splat(value.scalar(), shape_.lanes);
  return value.splatted;
}

void BodyEmitter::emit_all() {
  for (uint32_t i = 0; i < body_.instrs.size(); ++i) {
    if (!done_[i]) emit_instr(i);
  }
}

Lanes& BodyEmitter::emit(ScalarId root) {
  std::vector<bool> needed(root.index + 1);
  needed[root.index] = true;
  for (uint32_t i = root.index + 1; i-- > 0;) {
    if (!needed[i]) continue;
    const Instr& instr = body_.instrs[i];
    for (const ScalarId arg : instr.args) {
      if (arg.valid()) needed[arg.index] = true;
    }
    if (instr.op == ScalarOp::Load && body_.accesses[instr.access].dynamic.valid()) {
      needed[body_.accesses[instr.access].dynamic.index] = true;
    }
  }
  for (uint32_t i = 0; i <= root.index; ++i) {
    if (needed[i] && !done_[i]) emit_instr(i);
  }
  return widen(root);
}

Lanes BodyEmitter::map(std::span<const ScalarId> args, Operation operation, bool narrow) {
  bool uniform = true;
  for (const ScalarId arg : args) uniform = uniform && values_[arg.index].uniform;
  llvm::SmallVector<Value*, 3> operands(args.size());
  Lanes result;
  result.uniform = uniform;
  for (int copy = 0; copy < (uniform ? 1 : shape_.copies); ++copy) {
    for (size_t k = 0; k < args.size(); ++k) {
      Lanes& value = values_[args[k].index];
      Value*& operand = operands[k] = uniform ? value.scalar() : vector(value, copy);
      if (body_[args[k]].dtype != DType::I64 || narrow == narrow_[args[k].index]) continue;
      llvm::Type* type = f_.shaped(narrow ? b_.getInt32Ty() : b_.getInt64Ty(), operand);
      operand = narrow ? b_.CreateTrunc(operand, type) : b_.CreateSExt(operand, type);
    }
    result.parts.push_back(operation(operands));
  }
  return result;
}

void BodyEmitter::emit_instr(uint32_t index) {
  const Instr& instr = body_.instrs[index];
  done_[index] = true;
  Lanes& result = values_[index];
  const std::span<const ScalarId> args(instr.args.data(), static_cast<size_t>(arity(instr.op)));
  // Indices are computed in 32 bits where those hold the operands and the result.
  bool narrow = narrow_[index];
  if (instr.dtype != DType::I64 && !args.empty()) {
    narrow = instr.op != ScalarOp::Bitcast;
    for (const ScalarId arg : args) narrow &= body_[arg].dtype != DType::I64 || narrow_[arg.index];
  }
  const auto in = [&](DType dtype) { return narrow && dtype == DType::I64 ? DType::I32 : dtype; };
  const auto operand = [&] {
    // What is never negative divides without being rounded down.
    const bool divides = instr.op == ScalarOp::Div || instr.op == ScalarOp::Mod;
    const DType dtype = body_[instr.args[0]].dtype;
    if (divides && narrow && dtype == DType::I64 && ranges_[instr.args[0].index].low >= 0) {
      return DType::U32;
    }
    return in(dtype);
  };
  switch (instr.op) {
    case ScalarOp::Const:
      result = Lanes(f_.constant(in(instr.dtype), instr.bits));
      return;
    case ScalarOp::Param:
      result = Lanes(f_.param(static_cast<uint32_t>(instr.bits), instr.dtype));
      return;
    case ScalarOp::Index:
      result = affine(body_.affines[instr.access], narrow);
      return;
    case ScalarOp::Load:
      result = load(instr);
      return;
    case ScalarOp::Store:
      store(instr);
      return;
    case ScalarOp::Reduced:
      result = reduced_[instr.bits];
      return;
    case ScalarOp::CheckIndex:
      result = check_index(instr);
      return;
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
      result = map(
          args, [&](llvm::ArrayRef<Value*> a) { return f_.unary(instr.op, in(instr.dtype), a[0]); },
          narrow);
      return;
    case ScalarOp::Cast:
      result = map(
          args, [&](llvm::ArrayRef<Value*> a) { return f_.cast(operand(), in(instr.dtype), a[0]); },
          narrow);
      return;
    case ScalarOp::Bitcast:
      result = map(
          args, [&](llvm::ArrayRef<Value*> a) { return f_.bitcast(operand(), instr.dtype, a[0]); },
          narrow);
      return;
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
      result = map(
          args,
          [&](llvm::ArrayRef<Value*> a) { return f_.binary(instr.op, operand(), a[0], a[1]); },
          narrow);
      return;
    case ScalarOp::Select:
      result = map(
          args, [&](llvm::ArrayRef<Value*> a) { return b_.CreateSelect(a[0], a[1], a[2]); },
          narrow);
      return;
    case ScalarOp::Fma:
      result = map(
          args, [&](llvm::ArrayRef<Value*> a) { return f_.fma(instr.dtype, a[0], a[1], a[2]); },
          narrow);
      return;
  }
}

/// The computed part of an affine form (null: none): the sum over the outer variables, which moves
/// out of the inner loops, and the term of the innermost one. Adds the rest to `constant`.
std::pair<Value*, Value*> BodyEmitter::terms(const Affine& affine, int64_t& constant) {
  Value* outer = nullptr;
  Value* inner = nullptr;
  constant += affine.offset;
  for (size_t v = 0; v < affine.coefficients.size(); ++v) {
    const int64_t coefficient = affine.coefficients[v];
    if (coefficient == 0) continue;
    const Variable& variable = scope_.variables[v];
    constant += coefficient * variable.offset;
    if (variable.value == nullptr) continue;
    if (inner != nullptr) outer = outer == nullptr ? inner : b_.CreateAdd(outer, inner);
    inner = coefficient == 1 ? variable.value : b_.CreateMul(variable.value, f_.i64(coefficient));
  }
  return {outer, inner};
}

int64_t BodyEmitter::lane_offset(const Affine& affine, int64_t lane) const {
  const int64_t stride = coefficient(affine, scope_.vector);
  if (scope_.fold == 0) return stride * lane;
  return stride * (lane % scope_.fold) +
         coefficient(affine, scope_.vector - 1) * (lane / scope_.fold);
}

Lanes BodyEmitter::affine(const Affine& affine, bool narrow) {
  int64_t constant = 0;
  const auto [outer, inner] = terms(affine, constant);
  Value* base = inner == nullptr ? f_.i64(constant) : inner;
  if (outer != nullptr) base = b_.CreateAdd(outer, base);
  if (inner != nullptr && constant != 0) base = b_.CreateAdd(base, f_.i64(constant));
  if (narrow) base = b_.CreateTrunc(base, b_.getInt32Ty());
  Lanes result(base);
  if (shape_.lanes == 1 || (lane_offset(affine, 1) == 0 && lane_offset(affine, scope_.fold) == 0)) {
    return result;
  }
  result.uniform = false;
  result.parts.clear();
  Value* wide = f_.splat(base, shape_.lanes);
  for (int copy = 0; copy < shape_.copies; ++copy) {
    llvm::SmallVector<llvm::Constant*, 16> steps;
    for (int lane = 0; lane < shape_.lanes; ++lane) {
      steps.push_back(llvm::ConstantInt::get(
          base->getType(),
          static_cast<uint64_t>(lane_offset(affine, int64_t{copy} * shape_.lanes + lane))));
    }
    result.parts.push_back(b_.CreateAdd(wide, llvm::ConstantVector::get(steps)));
  }
  return result;
}

BodyEmitter::Address BodyEmitter::address(const Access& access) {
  const Buffer& buffer = f_.kernel.buffers[access.buffer.index];
  const bool local = buffer.kind == BufferKind::Local;
  const int64_t scale = local ? locals_.stride : 1;
  Address result{.dtype = buffer.dtype,
                 .pointer = nullptr,
                 .displacement = 0,
                 .stride = 0,
                 .offsets = {},
                 .pattern = {}};
  const auto [outer, inner] = terms(access.index, result.displacement);
  result.displacement *= scale;
  if (shape_.lanes > 1) {
    result.stride = coefficient(access.index, scope_.vector) * scale;
    // Two loops that are one as far as this access goes have a stride.
    if (scope_.fold != 0 &&
        scope_.fold * result.stride != lane_offset(access.index, scope_.fold) * scale) {
      for (int lane = 0; lane < shape_.lanes; ++lane) {
        result.pattern.push_back(lane_offset(access.index, lane) * scale);
      }
      result.copy_stride = lane_offset(access.index, shape_.lanes) * scale;
    }
  }
  // Lanes that are grid points have their local elements side by side.
  if (local && locals_.stride > 1) result.stride += 1;
  result.pointer =
      local ? f_.scratch_at(locals_.byte_offset[access.buffer.index]) : f_.buffer(access.buffer);
  const auto advance = [&](Value* elements) {
    if (elements == nullptr) return;
    if (scale != 1) elements = b_.CreateMul(elements, f_.i64(scale));
    result.pointer = f_.element(buffer.dtype, result.pointer, elements);
  };
  advance(outer);
  advance(inner);
  if (access.dynamic.valid()) {
    // The machine extends an index of 32 bits by itself, but a multiple may need more.
    Lanes& dynamic = scale == 1 ? values_[access.dynamic.index] : widen(access.dynamic);
    if (dynamic.uniform) {
      advance(dynamic.scalar());
    } else {
      result.offsets.uniform = false;
      for (Value* part : dynamic.parts) {
        result.offsets.parts.push_back(
            scale == 1 ? part : b_.CreateMul(part, f_.splat(f_.i64(scale), shape_.lanes)));
      }
    }
  }
  return result;
}

Value* BodyEmitter::pointer_at(const Address& address, int64_t elements) {
  elements += address.displacement;
  return elements == 0 ? address.pointer
                       : f_.element(address.dtype, address.pointer, f_.i64(elements));
}

Value* BodyEmitter::lane_pointer(const Address& address, int copy, int lane) {
  const int64_t step = address.lane(shape_.lanes, copy, lane);
  if (address.offsets.parts.empty()) return pointer_at(address, step);
  Value* offset = b_.CreateExtractElement(address.offsets.parts[copy], lane);
  return f_.element(address.dtype, pointer_at(address, step), offset);
}

void BodyEmitter::fetch_ahead(const Access& access, const Address& address) {
  if (!address.contiguous()) return;
  Value* distance = nullptr;
  for (const Scope::Ahead& ahead : scope_.ahead) {
    const int64_t step = coefficient(access.index, ahead.variable);
    if (step == 0) continue;
    Value* more = b_.CreateMul(ahead.by, f_.i64(step));
    distance = distance == nullptr ? more : b_.CreateAdd(distance, more);
  }
  if (distance == nullptr) return;
  constexpr int64_t kLine = 64;
  const int64_t step = std::max<int64_t>(1, kLine / static_cast<int64_t>(size_of(address.dtype)));
  for (int64_t element = 0; element < shape_.elements(); element += step) {
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {f_.element(address.dtype, pointer_at(address, element), distance),
                        b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
  }
}

/// All lanes of a copy from the few vectors that they lie in; null where those are many.
Value* BodyEmitter::shuffled_load(const Address& address, int copy) {
  constexpr int64_t kMostVectors = 4;
  const int lanes = shape_.lanes;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int lane = 0; lane < lanes; ++lane) {
    low = std::min(low, address.lane(lanes, copy, lane));
    high = std::max(high, address.lane(lanes, copy, lane));
  }
  const int64_t window = high - low + 1;
  if (window > kMostVectors * lanes) return nullptr;
  // Only what lies between two lanes is read: it belongs to the buffer.
  Value* result = nullptr;
  for (int64_t first = 0; first < window; first += lanes) {
    const int64_t begin = low + std::max<int64_t>(0, std::min(first, window - lanes));
    const int count = static_cast<int>(std::min<int64_t>(lanes, window));
    Value* vector = f_.load(address.dtype, pointer_at(address, begin), lanes, count);
    llvm::SmallVector<int, 16> order;
    for (int lane = 0; lane < lanes; ++lane) {
      const int64_t place = address.lane(lanes, copy, lane) - begin;
      const bool here = place >= 0 && place < lanes;
      order.push_back(here ? static_cast<int>(place) + (result == nullptr ? 0 : lanes) : lane);
    }
    result = result == nullptr ? b_.CreateShuffleVector(vector, order)
                               : b_.CreateShuffleVector(result, vector, order);
  }
  return result;
}

Value* BodyEmitter::active_mask(Value* mask, int copy) {
  const int active = shape_.active(copy);
  if (active == shape_.lanes) return mask;
  llvm::SmallVector<llvm::Constant*, 16> bits;
  for (int lane = 0; lane < shape_.lanes; ++lane) bits.push_back(b_.getInt1(lane < active));
  return b_.CreateAnd(mask, llvm::ConstantVector::get(bits));
}

bool BodyEmitter::has_masked_access(DType dtype) const {
  return f_.features.avx && size_of(dtype) >= 4 && dtype != DType::Bool;
}

Lanes BodyEmitter::load(const Instr& instr) {
  const Address at = address(body_.accesses[instr.access]);
  const DType dtype = instr.dtype;
  Lanes* mask = instr.args[0].valid() ? &values_[instr.args[0].index] : nullptr;
  const bool uniform_mask = mask == nullptr || mask->uniform;
  const int lanes = shape_.lanes;
  // A masked-out access reads zeros elsewhere: no branch, and memory behind the mask is never
  // touched.
  const auto guard = [&](Value* pointer, Value* condition) {
    return b_.CreateSelect(condition, pointer, f_.zero_cell());
  };
  if (lanes == 1 || (at.uniform() && uniform_mask)) {
    Value* pointer = lane_pointer(at, 0, 0);
    if (mask != nullptr) pointer = guard(pointer, mask->scalar());
    return Lanes(f_.load(dtype, pointer, 1, 1));
  }
  fetch_ahead(body_.accesses[instr.access], at);
  Lanes result;
  result.uniform = false;
  for (int copy = 0; copy < shape_.copies; ++copy) {
    const int active = shape_.active(copy);
    Value* lane_mask =
        mask == nullptr || uniform_mask ? nullptr : active_mask(vector(*mask, copy), copy);
    if (at.uniform()) {
      Value* any = b_.CreateOrReduce(lane_mask);
      Value* one = f_.load(dtype, guard(pointer_at(at, 0), any), 1, 1);
      Value* wide = f_.splat(one, lanes);
      result.parts.push_back(
          b_.CreateSelect(lane_mask, wide, llvm::Constant::getNullValue(wide->getType())));
      continue;
    }
    const int64_t first = int64_t{copy} * lanes;
    if (at.plain() && (at.stride == 1 || at.stride == -1) && lane_mask == nullptr) {
      const bool forward = at.stride == 1;
      Value* pointer = pointer_at(at, forward ? first : -(first + active - 1));
      if (mask != nullptr) pointer = guard(pointer, mask->scalar());
      Value* value = f_.load(dtype, pointer, lanes, active);
      if (!forward) {
        llvm::SmallVector<int, 16> order(lanes, 0);
        for (int lane = 0; lane < active; ++lane) order[lane] = active - 1 - lane;
        value = b_.CreateShuffleVector(value, order);
      }
      result.parts.push_back(value);
      continue;
    }
    if (at.offsets.parts.empty() && mask == nullptr && active == lanes) {
      if (Value* value = shuffled_load(at, copy)) {
        result.parts.push_back(value);
        continue;
      }
    }
    if (at.contiguous() && has_masked_access(dtype)) {
      auto* type = llvm::FixedVectorType::get(f_.type_of(dtype), lanes);
      result.parts.push_back(b_.CreateMaskedLoad(type, pointer_at(at, first),
                                                 llvm::Align(size_of(dtype)), lane_mask,
                                                 llvm::Constant::getNullValue(type)));
      continue;
    }
    auto* type = llvm::FixedVectorType::get(f_.type_of(dtype), lanes);
    Value* value = active < lanes ? static_cast<Value*>(llvm::Constant::getNullValue(type))
                                  : llvm::PoisonValue::get(type);
    for (int lane = 0; lane < active; ++lane) {
      Value* pointer = lane_pointer(at, copy, lane);
      if (lane_mask != nullptr) {
        pointer = guard(pointer, b_.CreateExtractElement(lane_mask, lane));
      } else if (mask != nullptr) {
        pointer = guard(pointer, mask->scalar());
      }
      value = b_.CreateInsertElement(value, f_.load(dtype, pointer, 1, 1), lane);
    }
    result.parts.push_back(value);
  }
  return result;
}

/// Whether full vectors of an access lie on multiples of their size. Buffers begin at 64 bytes, and
/// the variable along the lanes takes multiples of their number.
bool BodyEmitter::may_stream(const Access& access) const {
  const Buffer& buffer = f_.kernel.buffers[access.buffer.index];
  if (!f_.streaming_stores || buffer.kind != BufferKind::Output || buffer.dtype == DType::Bool ||
      access.dynamic.valid()) {
    return false;
  }
  const int64_t bytes = shape_.lanes * static_cast<int64_t>(size_of(buffer.dtype));
  if (bytes != 16 && bytes != 32 && bytes != 64) return false;
  int64_t odd = access.index.offset | scope_.variables[scope_.vector].offset;
  for (size_t v = 0; v < access.index.coefficients.size(); ++v) {
    const int variable = static_cast<int>(v);
    const bool along =
        variable == scope_.vector || (scope_.fold != 0 && variable == scope_.vector - 1);
    if (!along) odd |= access.index.coefficients[v];
  }
  return odd % shape_.lanes == 0;
}

void BodyEmitter::store(const Instr& instr) {
  const Address at = address(body_.accesses[instr.access]);
  const DType dtype = instr.dtype;
  Lanes& value = widen(instr.args[0]);
  Lanes* mask = instr.args[1].valid() ? &values_[instr.args[1].index] : nullptr;
  if (mask != nullptr && mask->uniform) {
    // Splats made inside the branch would not be seen after it.
    if (!value.uniform || !at.uniform()) vector(value, 0);
    f_.if_then(mask->scalar(), [&] {
      Instr plain = instr;
      plain.args[1] = {};
      store(plain);
    });
    return;
  }
  if (shape_.lanes == 1) {
    f_.store(dtype, value.scalar(), lane_pointer(at, 0, 0), 1);
    return;
  }
  if (at.uniform() && value.uniform && mask == nullptr) {
    f_.store(dtype, value.scalar(), pointer_at(at, 0), 1);
    return;
  }
  const bool streams = may_stream(body_.accesses[instr.access]);
  for (int copy = 0; copy < shape_.copies; ++copy) {
    const int active = shape_.active(copy);
    Value* lane_mask = mask == nullptr ? nullptr : active_mask(vector(*mask, copy), copy);
    Value* all = vector(value, copy);
    const int64_t first = int64_t{copy} * shape_.lanes;
    if (at.contiguous() && lane_mask == nullptr && streams && active == shape_.lanes) {
      f_.stream(dtype, all, pointer_at(at, first));
      continue;
    }
    if (at.contiguous() && lane_mask == nullptr) {
      f_.store(dtype, all, pointer_at(at, first), active);
      continue;
    }
    if (at.contiguous() && has_masked_access(dtype)) {
      b_.CreateMaskedStore(all, pointer_at(at, first), llvm::Align(size_of(dtype)), lane_mask);
      continue;
    }
    for (int lane = 0; lane < active; ++lane) {
      Value* pointer = lane_pointer(at, copy, lane);
      if (lane_mask != nullptr) {
        pointer =
            b_.CreateSelect(b_.CreateExtractElement(lane_mask, lane), pointer, f_.sink_cell());
      }
      f_.store(dtype, b_.CreateExtractElement(all, lane), pointer, 1);
    }
  }
}

Lanes BodyEmitter::check_index(const Instr& instr) {
  const int64_t extent = static_cast<int64_t>(instr.bits);
  Lanes& index = widen(instr.args[0]);
  const std::array<ScalarId, 1> args = {instr.args[0]};
  for (size_t copy = 0; copy < index.parts.size(); ++copy) {
    Value* value = index.parts[copy];
    Value* outside = b_.CreateICmpUGE(value, f_.like(value, DType::I64, instr.bits));
    if (!index.uniform) outside = active_mask(outside, static_cast<int>(copy));
    Value* any = index.uniform ? outside : b_.CreateOrReduce(outside);
    f_.if_then(any, [&] {
      Value* wrong = value;
      if (!index.uniform) {
        // The last failing lane will do: any may win.
        wrong = b_.CreateExtractElement(value, uint64_t{0});
        for (int lane = 1; lane < shape_.lanes; ++lane) {
          wrong = b_.CreateSelect(b_.CreateExtractElement(outside, lane),
                                  b_.CreateExtractElement(value, lane), wrong);
        }
      }
      Value* status = f_.status();
      const auto field = [&](int i) {
        return b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), status, i);
      };
      b_.CreateStore(wrong, field(1));
      b_.CreateStore(f_.i64(extent), field(2));
      b_.CreateStore(f_.i64(1), field(0));
    });
  }
  return map(args, [&](llvm::ArrayRef<Value*> a) {
    const uint64_t last = static_cast<uint64_t>(std::max<int64_t>(extent, 1) - 1);
    Value* low =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a[0], f_.like(a[0], DType::I64, 0));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, low, f_.like(a[0], DType::I64, last));
  });
}

}  // namespace reprise::codegen
