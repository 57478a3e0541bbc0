// Shuffles of words: other types would ask for more of the device.
#include "codegen/spirv/subgroup.h"

#include "codegen/backend.h"

namespace reprise::spirv {

Subgroup::Subgroup(Function& f) : f_(f) {
  Module& m = f.m;
  m.capability(spv::CapabilityGroupNonUniform);
  m.capability(spv::CapabilityGroupNonUniformShuffle);
  const auto input = [&](spv::BuiltIn which) {
    return f.load(m.u32(), m.built_in(which, m.u32()));
  };
  const Value size = input(spv::BuiltInSubgroupSize);
  // Drivers may run fewer lanes than the size they state, and more subgroups then.
  const Value full =
      f.op(spv::OpIEqual, m.bool_type(),
           {f.mul(size, input(spv::BuiltInNumSubgroups)), m.constant(kGroupInvocations)});
  width_ = f.select(m.u32(), full, size, m.constant(1));
  lane_ = f.select(m.u32(), full, input(spv::BuiltInSubgroupLocalInvocationId), m.constant(0));
}

Value Subgroup::moved(spv::Op op, DType dtype, Value a, uint32_t operand) {
  Module& m = f_.m;
  const auto move = [&](Value word) {
    return f_.op(op, m.u32(), {m.constant(spv::ScopeSubgroup), word, m.constant(operand)});
  };
  const Value word = f_.to_word(dtype, a);
  if (size_of(dtype) < 8) return f_.from_word(dtype, move(word));
  const Value high = f_.op(spv::OpShiftRightLogical, m.u64(), {word, m.constant(32)});
  return f_.from_word(dtype, f_.wide_word(move(f_.narrowed(word)), move(f_.narrowed(high))));
}

Value Subgroup::exchanged(DType dtype, Value a, uint32_t mask) {
  return moved(spv::OpGroupNonUniformShuffleXor, dtype, a, mask);
}

Value Subgroup::first(DType dtype, Value a) {
  return moved(spv::OpGroupNonUniformShuffle, dtype, a, 0);
}

}  // namespace reprise::spirv
