// Functions, blocks, variables.
#include "codegen/spirv/function.h"

#include <algorithm>

namespace reprise::spirv {

Function::Function(Module& module, Value result, std::span<const Value> parameters)
    : m(module), id_(module.new_id()), type_(module.function_type(result, parameters)) {
  append(words_, spv::OpFunction, {result, id_, 0, type_});
  for (const Value type : parameters) {
    parameters_.push_back(m.new_id());
    append(words_, spv::OpFunctionParameter, {type, parameters_.back()});
  }
  first_block_ = m.new_id();
  label(first_block_);
  // Variables must open the first block, whenever they turn up: they get a block of their own.
  variables_ = std::move(words_);
  words_.clear();
  const Value start = m.new_id();
  branch(start);
  label(start);
}

void Function::finish(Value result) {
  if (result != 0) {
    effect(spv::OpReturnValue, {result});
  } else {
    effect(spv::OpReturn, {});
  }
  effect(spv::OpFunctionEnd, {});
  m.add_function(variables_);
  m.add_function(prologue_);
  m.add_function(words_);
}

Value Function::op(spv::Op code, Value type, std::initializer_list<Value> operands) {
  const Value id = m.new_id();
  Words all{type, id};
  all.insert(all.end(), operands.begin(), operands.end());
  append(words_, code, all);
  if (is_opaque(code, type, operands)) opaque_.insert(id);
  return id;
}

bool Function::is_opaque(spv::Op code, Value type, std::initializer_list<Value> operands) const {
  const auto known = [&](Value v) { return !opaque_.contains(v); };
  const Value* const at = operands.begin();
  switch (code) {
    case spv::OpLoad:  // from a buffer; of variables, drivers know indices and counters
      return operands.size() > 1 || m.is_float_type(type);
    case spv::OpSelect:
      return (!known(at[0]) && at[1] != at[2]) || (!known(at[1]) && !known(at[2]));
    case spv::OpPhi:  // values and where they come from
      return !known(at[0]) && !known(at[2]);
    default:
      break;
  }
  // x - x, x < x and x & 0 are known whatever x is.
  if (operands.size() == 2 && at[0] == at[1]) return false;
  return !std::all_of(operands.begin(), operands.end(), known) &&
         std::none_of(operands.begin(), operands.end(), [&](Value v) { return m.is_zero(v); });
}

Value Function::exact(spv::Op code, Value type, std::initializer_list<Value> operands) {
  const Value id = op(code, type, operands);
  m.decorate(id, spv::DecorationNoContraction);
  return id;
}

Value Function::extended(GLSLstd450 code, Value type, std::initializer_list<Value> operands) {
  const Value id = m.new_id();
  Words all{type, id, m.extended_instructions(), static_cast<uint32_t>(code)};
  all.insert(all.end(), operands.begin(), operands.end());
  append(words_, spv::OpExtInst, all);
  if (is_opaque(spv::OpExtInst, type, operands)) opaque_.insert(id);
  return id;
}

void Function::effect(spv::Op code, std::initializer_list<uint32_t> operands) {
  append(words_, code, operands);
}

Value Function::variable(Value type) {
  const Value id = m.new_id();
  append(variables_, spv::OpVariable,
         {m.pointer_type(spv::StorageClassFunction, type), id,
          static_cast<uint32_t>(spv::StorageClassFunction)});
  return id;
}

Value Function::element(spv::StorageClass storage, Value type, Value array, Value index) {
  return op(spv::OpAccessChain, m.pointer_type(storage, type), {array, index});
}

void Function::label(Value id) {
  append(words_, spv::OpLabel, {id});
  block_ = id;
}

void Function::barrier() {
  uint32_t semantics = spv::MemorySemanticsAcquireReleaseMask |
                       spv::MemorySemanticsUniformMemoryMask |
                       spv::MemorySemanticsWorkgroupMemoryMask;
  if (m.has_vulkan_memory()) {
    semantics |= spv::MemorySemanticsMakeAvailableMask | spv::MemorySemanticsMakeVisibleMask;
  }
  const Value workgroup = m.constant(spv::ScopeWorkgroup);
  effect(spv::OpControlBarrier, {workgroup, workgroup, m.constant(semantics)});
}

}  // namespace reprise::spirv
