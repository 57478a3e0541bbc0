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

  [[nodiscard]] bool uniform() const { return stride == 0 && offsets.parts.empty(); }
  [[nodiscard]] bool contiguous() const { return stride == 1 && offsets.parts.empty(); }
};

BodyEmitter::BodyEmitter(FunctionEmitter& f, const Body& body, const LocalLayout& locals,
                         Scope scope, VectorShape shape)
    : f_(f), b_(f.b), body_(body), locals_(locals), scope_(std::move(scope)), shape_(shape) {
  values_.resize(body.instrs.size());
  done_.resize(body.instrs.size());
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
  return values_[root.index];
}

Lanes BodyEmitter::map(std::span<const ScalarId> args, Operation operation) {
  bool uniform = true;
  for (const ScalarId arg : args) uniform = uniform && values_[arg.index].uniform;
  llvm::SmallVector<Value*, 3> operands(args.size());
  Lanes result;
  result.uniform = uniform;
  for (int copy = 0; copy < (uniform ? 1 : shape_.copies); ++copy) {
    for (size_t k = 0; k < args.size(); ++k) {
      Lanes& value = values_[args[k].index];
      operands[k] = uniform ? value.scalar() : vector(value, copy);
    }
    result.parts.push_back(operation(operands));
  }
  return result;
}

void BodyEmitter::emit_instr(uint32_t index) {
  const Instr& instr = body_.instrs[index];
  done_[index] = true;
  Lanes& result = values_[index];
  const auto operand = [&] { return body_[instr.args[0]].dtype; };
  const std::span<const ScalarId> args(instr.args.data(), static_cast<size_t>(arity(instr.op)));
  switch (instr.op) {
    case ScalarOp::Const:
      result = Lanes(f_.constant(instr.dtype, instr.bits));
      return;
    case ScalarOp::Param:
      result = Lanes(f_.param(static_cast<uint32_t>(instr.bits), instr.dtype));
      return;
    case ScalarOp::Index:
      result = affine(body_.affines[instr.access]);
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
      result = map(args,
                   [&](llvm::ArrayRef<Value*> a) { return f_.unary(instr.op, instr.dtype, a[0]); });
      return;
    case ScalarOp::Cast:
      result = map(args,
                   [&](llvm::ArrayRef<Value*> a) { return f_.cast(operand(), instr.dtype, a[0]); });
      return;
    case ScalarOp::Bitcast:
      result = map(
          args, [&](llvm::ArrayRef<Value*> a) { return f_.bitcast(operand(), instr.dtype, a[0]); });
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
      result = map(args, [&](llvm::ArrayRef<Value*> a) {
        return f_.binary(instr.op, operand(), a[0], a[1]);
      });
      return;
    case ScalarOp::Select:
      result =
          map(args, [&](llvm::ArrayRef<Value*> a) { return b_.CreateSelect(a[0], a[1], a[2]); });
      return;
    case ScalarOp::Fma:
      result = map(args,
                   [&](llvm::ArrayRef<Value*> a) { return f_.fma(instr.dtype, a[0], a[1], a[2]); });
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

Lanes BodyEmitter::affine(const Affine& affine) {
  int64_t constant = 0;
  const auto [outer, inner] = terms(affine, constant);
  Value* base = inner == nullptr ? f_.i64(constant) : inner;
  if (outer != nullptr) base = b_.CreateAdd(outer, base);
  if (inner != nullptr && constant != 0) base = b_.CreateAdd(base, f_.i64(constant));
  const int64_t stride = coefficient(affine, scope_.vector);
  Lanes result(base);
  if (stride == 0 || shape_.lanes == 1) return result;
  result.uniform = false;
  result.parts.clear();
  Value* wide = f_.splat(base, shape_.lanes);
  for (int copy = 0; copy < shape_.copies; ++copy) {
    llvm::SmallVector<llvm::Constant*, 16> steps;
    for (int lane = 0; lane < shape_.lanes; ++lane) {
      steps.push_back(
          b_.getInt64(static_cast<uint64_t>(stride * (int64_t{copy} * shape_.lanes + lane))));
    }
    result.parts.push_back(b_.CreateAdd(wide, llvm::ConstantVector::get(steps)));
  }
  return result;
}

BodyEmitter::Address BodyEmitter::address(const Access& access) {
  const Buffer& buffer = f_.kernel.buffers[access.buffer.index];
  const bool local = buffer.kind == BufferKind::Local;
  const int64_t scale = local ? locals_.stride : 1;
  Address result{
      .dtype = buffer.dtype, .pointer = nullptr, .displacement = 0, .stride = 0, .offsets = {}};
  const auto [outer, inner] = terms(access.index, result.displacement);
  result.displacement *= scale;
  if (shape_.lanes > 1) result.stride = coefficient(access.index, scope_.vector) * scale;
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
    Lanes& dynamic = values_[access.dynamic.index];
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
  const int64_t step = address.stride * (int64_t{copy} * shape_.lanes + lane);
  if (address.offsets.parts.empty()) return pointer_at(address, step);
  Value* offset = b_.CreateExtractElement(address.offsets.parts[copy], lane);
  return f_.element(address.dtype, pointer_at(address, step), offset);
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
    if (at.offsets.parts.empty() && (at.stride == 1 || at.stride == -1) && lane_mask == nullptr) {
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
    if (static_cast<int>(v) != scope_.vector) odd |= access.index.coefficients[v];
  }
  return odd % shape_.lanes == 0;
}

void BodyEmitter::store(const Instr& instr) {
  const Address at = address(body_.accesses[instr.access]);
  const DType dtype = instr.dtype;
  Lanes& value = values_[instr.args[0].index];
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
  Lanes& index = values_[instr.args[0].index];
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
