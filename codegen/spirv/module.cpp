// Words, types, constants, and the order of a module's sections.
#include "codegen/spirv/module.h"

#include <spirv/unified1/GLSL.std.450.h>

#include "ir/error.h"

namespace reprise::spirv {

void append(Words& words, spv::Op op, std::span<const uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(op));
  words.insert(words.end(), operands.begin(), operands.end());
}

void append_text(Words& words, std::string_view text) {
  for (size_t at = 0; at <= text.size(); at += 4) {
    uint32_t word = 0;
    for (size_t i = 0; i < 4 && at + i < text.size(); ++i) {
      word |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
    }
    words.push_back(word);
  }
}

Module::Module(const TargetInfo& target, bool matrices)
    : target_(target), vulkan_memory_(matrices) {
  capability(spv::CapabilityShader);
  if (vulkan_memory_) {
    capability(spv::CapabilityVulkanMemoryModel);
    capability(spv::CapabilityVulkanMemoryModelDeviceScope);  // of atomic operations
    extension("SPV_KHR_vulkan_memory_model");
  }
  if (!target.shader.uses_addresses()) return;
  capability(spv::CapabilityPhysicalStorageBufferAddresses);
  extension("SPV_KHR_physical_storage_buffer");
}

// ---- Types ----

Value Module::unique(spv::Op op, std::span<const uint32_t> operands, bool typed) {
  Words key{static_cast<uint32_t>(op)};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [place, fresh] = known_.try_emplace(key, 0);
  if (!fresh) return place->second;
  const Value id = place->second = new_id();
  Words all(operands.begin(), operands.end());
  all.insert(all.begin() + (typed ? 1 : 0), id);
  append(declarations_, op, all);
  return id;
}

Value Module::type(spv::Op op, std::initializer_list<uint32_t> operands) {
  return unique(op, std::span(operands.begin(), operands.size()), false);
}

Value Module::integer_type(int width) {
  if (width == 64) {
    if (!target_.shader.int64) throw UnsupportedError("the device has no 64-bit integers");
    capability(spv::CapabilityInt64);
  }
  return type(spv::OpTypeInt, {static_cast<uint32_t>(width), 0});
}

Value Module::float_type(int width) {
  if (width == 64) {
    if (!target_.shader.float64) throw UnsupportedError("the device has no 64-bit floats");
    capability(spv::CapabilityFloat64);
  }
  const Value id = type(spv::OpTypeFloat, {static_cast<uint32_t>(width)});
  float_types_.insert(id);
  return id;
}

Value Module::vector_type(Value element, uint32_t count) {
  return type(spv::OpTypeVector, {element, count});
}

Value Module::array_type(Value element, int64_t count) {
  REPRISE_ASSERT(count > 0 && count <= INT32_MAX);
  return type(spv::OpTypeArray, {element, constant(static_cast<uint32_t>(count))});
}

Value Module::pointer_type(spv::StorageClass storage, Value pointee) {
  return type(spv::OpTypePointer, {static_cast<uint32_t>(storage), pointee});
}

Value Module::function_type(Value result, std::span<const Value> parameters) {
  Words operands{result};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return unique(spv::OpTypeFunction, operands, false);
}

Value Module::register_type(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return bool_type();
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::F16:
    case DType::BF16:
      return u32();
    case DType::I64:
    case DType::U64:
      return u64();
    case DType::F32:
      return float_type(32);
    case DType::F64:
      return float_type(64);
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
  throw UnsupportedError(str("no shader values of ", dtype));
}

Value Module::memory_type(DType dtype) {
  const size_t bytes = size_of(dtype);
  if (bytes > 2) return register_type(dtype);
  if (bytes == 1 ? !target_.shader.storage8 : !target_.shader.storage16) {
    throw UnsupportedError(str("the device does not access elements of ", bytes, " byte",
                               bytes == 1 ? "" : "s", ", which ", dtype, " needs"));
  }
  capability(bytes == 1 ? spv::CapabilityStorageBuffer8BitAccess
                        : spv::CapabilityStorageBuffer16BitAccess);
  if (bytes == 1) extension("SPV_KHR_8bit_storage");
  return type(spv::OpTypeInt, {static_cast<uint32_t>(8 * bytes), 0});
}

Value Module::block_type(DType dtype, bool coherent) {
  const Value element = memory_type(dtype);
  Value& block = blocks_[{element, coherent}];
  if (block != 0) return block;
  const Value array = new_id();
  append(declarations_, spv::OpTypeRuntimeArray, {array, element});
  decorate(array, spv::DecorationArrayStride, {static_cast<uint32_t>(size_of(dtype))});
  const uint32_t offset = 0;
  block = struct_type({&array, 1}, {&offset, 1});
  if (coherent && !vulkan_memory_) {
    append(decorations_, spv::OpMemberDecorate, {block, 0, spv::DecorationCoherent});
  }
  return block;
}

Value Module::struct_type(std::span<const Value> members, std::span<const uint32_t> offsets) {
  const Value id = new_id();
  Words operands{id};
  operands.insert(operands.end(), members.begin(), members.end());
  append(declarations_, spv::OpTypeStruct, operands);
  decorate(id, spv::DecorationBlock);
  for (uint32_t i = 0; i < offsets.size(); ++i) {
    append(decorations_, spv::OpMemberDecorate, {id, i, spv::DecorationOffset, offsets[i]});
  }
  return id;
}

// ---- Constants ----

Value Module::constant(uint32_t value) {
  const uint32_t operands[] = {u32(), value};
  const Value id = unique(spv::OpConstant, operands, true);
  if (value == 0) zeros_.insert(id);
  return id;
}

Value Module::constant64(uint64_t value) {
  const uint32_t operands[] = {u64(), static_cast<uint32_t>(value),
                               static_cast<uint32_t>(value >> 32)};
  const Value id = unique(spv::OpConstant, operands, true);
  if (value == 0) zeros_.insert(id);
  return id;
}

Value Module::truth(bool value) {
  const uint32_t operands[] = {bool_type()};
  return unique(value ? spv::OpConstantTrue : spv::OpConstantFalse, operands, true);
}

Value Module::constant_bits(DType dtype, uint64_t bits) {
  const uint32_t low = static_cast<uint32_t>(bits);
  const uint32_t high = static_cast<uint32_t>(bits >> 32);
  switch (dtype) {
    case DType::Bool:
      return truth(bits != 0);
    case DType::I8:
      return constant(static_cast<uint32_t>(static_cast<int8_t>(low)));
    case DType::I16:
      return constant(static_cast<uint32_t>(static_cast<int16_t>(low)));
    case DType::U8:
      return constant(low & 0xff);
    case DType::U16:
    case DType::F16:
    case DType::BF16:
      return constant(low & 0xffff);
    case DType::I32:
    case DType::U32:
      return constant(low);
    case DType::I64:
    case DType::U64:
      return constant64(bits);
    case DType::F32: {
      const uint32_t operands[] = {float_type(32), low};
      const Value id = unique(spv::OpConstant, operands, true);
      (low << 1 == 0 ? zeros_ : nonzero_floats_).insert(id);
      return id;
    }
    case DType::F64: {
      const uint32_t operands[] = {float_type(64), low, high};
      const Value id = unique(spv::OpConstant, operands, true);
      (bits << 1 == 0 ? zeros_ : nonzero_floats_).insert(id);
      return id;
    }
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
  throw UnsupportedError(str("no shader constants of ", dtype));
}

Value Module::zero(Value type) {
  const uint32_t operands[] = {type};
  return unique(spv::OpConstantNull, operands, true);
}

Value Module::filled(Value type, Value element) {
  const uint32_t operands[] = {type, element};
  return unique(spv::OpConstantComposite, operands, true);
}

// ---- Globals ----

Value Module::global(spv::StorageClass storage, Value pointee) {
  const Value type = pointer_type(storage, pointee);
  const Value id = new_id();
  append(declarations_, spv::OpVariable, {type, id, static_cast<uint32_t>(storage)});
  return id;
}

Value Module::built_in(spv::BuiltIn which, Value type) {
  Value& variable = built_ins_[which];
  if (variable == 0) {
    variable = global(spv::StorageClassInput, type);
    decorate(variable, spv::DecorationBuiltIn, {static_cast<uint32_t>(which)});
  }
  return variable;
}

void Module::decorate(Value target, spv::Decoration decoration,
                      std::initializer_list<uint32_t> operands) {
  Words all{target, static_cast<uint32_t>(decoration)};
  all.insert(all.end(), operands.begin(), operands.end());
  append(decorations_, spv::OpDecorate, all);
}

void Module::name(Value target, std::string_view text) {
  Words all{target};
  append_text(all, text);
  append(names_, spv::OpName, all);
}

Value Module::extended_instructions() {
  if (extended_ == 0) extended_ = new_id();
  return extended_;
}

void Module::add_entry(Value function, std::string_view name, uint32_t invocations) {
  entries_.emplace_back(function, name);
  invocations_ = invocations;
}

void Module::float_controls(Words& modes, Value entry) {
  const ShaderInfo& shader = target_.shader;
  const auto ask = [&](bool has, spv::ExecutionMode mode, spv::Capability needs, uint32_t width) {
    if (!has || (width == 64 && !capabilities_.contains(spv::CapabilityFloat64))) return;
    capability(needs);
    extension("SPV_KHR_float_controls");
    append(modes, spv::OpExecutionMode, {entry, static_cast<uint32_t>(mode), width});
  };
  for (const uint32_t width : {32u, 64u}) {
    const bool single = width == 32;
    ask(single ? shader.keep_specials32 : shader.keep_specials64,
        spv::ExecutionModeSignedZeroInfNanPreserve, spv::CapabilitySignedZeroInfNanPreserve, width);
    ask(single ? shader.keep_denormals32 : shader.keep_denormals64,
        spv::ExecutionModeDenormPreserve, spv::CapabilityDenormPreserve, width);
    ask(single ? shader.round_even32 : shader.round_even64, spv::ExecutionModeRoundingModeRTE,
        spv::CapabilityRoundingModeRTE, width);
  }
}

Words Module::finish() {
  Words entries, modes;
  for (const auto& [function, name] : entries_) {
    Words operands{static_cast<uint32_t>(spv::ExecutionModelGLCompute), function};
    append_text(operands, name);
    for (const auto& [which, variable] : built_ins_) operands.push_back(variable);
    append(entries, spv::OpEntryPoint, operands);
    append(modes, spv::OpExecutionMode,
           {function, static_cast<uint32_t>(spv::ExecutionModeLocalSize), invocations_, 1, 1});
    float_controls(modes, function);
  }
  Words words{spv::MagicNumber, 0x00010300, 0, next_, 0};
  for (const uint32_t capability : capabilities_) append(words, spv::OpCapability, {capability});
  for (const std::string& extension : extensions_) {
    Words operands;
    append_text(operands, extension);
    append(words, spv::OpExtension, operands);
  }
  if (extended_ != 0) {
    Words operands{extended_};
    append_text(operands, "GLSL.std.450");
    append(words, spv::OpExtInstImport, operands);
  }
  append(
      words, spv::OpMemoryModel,
      {static_cast<uint32_t>(target_.shader.uses_addresses()
                                 ? spv::AddressingModelPhysicalStorageBuffer64
                                 : spv::AddressingModelLogical),
       static_cast<uint32_t>(vulkan_memory_ ? spv::MemoryModelVulkan : spv::MemoryModelGLSL450)});
  for (const Words* section :
       {&entries, &modes, &names_, &decorations_, &declarations_, &functions_}) {
    words.insert(words.end(), section->begin(), section->end());
  }
  return words;
}

}  // namespace reprise::spirv
