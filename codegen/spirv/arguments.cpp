// A block of addresses, or two buffers that are bound.
#include "codegen/spirv/arguments.h"

#include "ir/error.h"

namespace reprise::spirv {

namespace {

constexpr spv::StorageClass kDevice = spv::StorageClassPhysicalStorageBuffer;
constexpr spv::StorageClass kBound = spv::StorageClassStorageBuffer;

uint32_t access_of(const Function& f, const Place& place) {
  const uint32_t shared = place.coherent && f.m.has_vulkan_memory()
                              ? uint32_t{spv::MemoryAccessNonPrivatePointerMask}
                              : 0;
  return spv::MemoryAccessAlignedMask | shared;
}

}  // namespace

Value word_pointer(Function& f, const Place& place, Value index) {
  return f.op(spv::OpAccessChain, f.m.pointer_type(place.storage, f.m.u32()),
              {place.pointer, f.m.constant(0), index});
}

Value aligned_load(Function& f, Value type, Value pointer, uint32_t bytes) {
  return f.op(spv::OpLoad, type, {pointer, spv::MemoryAccessAlignedMask, bytes});
}

Value load_from(Function& f, const Place& place, Value type, Value pointer, uint32_t bytes) {
  return f.op(spv::OpLoad, type, {pointer, access_of(f, place), bytes});
}

void store_to(Function& f, const Place& place, Value pointer, Value value, uint32_t bytes) {
  f.effect(spv::OpStore, {pointer, value, access_of(f, place), bytes});
}

Arguments::Arguments(Module& module, const Kernel& kernel, const std::vector<bool>& coherent,
                     bool uses_scratch)
    : m_(module),
      coherent_(coherent),
      buffers_(kernel.buffers),
      addresses_(module.target().shader.uses_addresses()) {
  for (const Buffer& buffer : kernel.buffers) {
    if (buffer.kind != BufferKind::Local) ++first_param_;
  }
  num_members_ = first_param_ + static_cast<uint32_t>(kernel.params.size()) + 2;
  if (addresses_) {
    declare_addresses(kernel);
  } else {
    declare_bindings(kernel, uses_scratch);
  }
}

bool Arguments::in_words(DType dtype) const {
  if (!addresses_) return true;
  const ShaderInfo& shader = m_.target().shader;
  return (size_of(dtype) == 1 && !shader.storage8) || (size_of(dtype) == 2 && !shader.storage16);
}

void Arguments::declare_addresses(const Kernel& kernel) {
  std::vector<uint32_t> offsets;
  const auto add = [&](Value type) {
    offsets.push_back(static_cast<uint32_t>(8 * members_.size()));
    members_.push_back(type);
  };
  const Value words = m_.pointer_type(kDevice, m_.block_type(DType::U32, false));
  for (uint32_t b = 0; b < first_param_; ++b) {
    const DType dtype = kernel.buffers[b].dtype;
    // A pointer to small elements among the arguments would ask for capabilities of small push
    // constants: those addresses are numbers first.
    add(size_of(dtype) >= 4 ? m_.pointer_type(kDevice, m_.block_type(dtype, coherent_[b]))
                            : m_.u64());
  }
  for (const DType dtype : kernel.params) {
    add(size_of(dtype) < 4 ? m_.u32() : m_.register_type(dtype));
  }
  add(words);
  add(m_.u64());
  const Value block = m_.struct_type(members_, offsets);
  block_pointer_ = m_.pointer_type(kDevice, block);
  const uint32_t offset = 0;
  push_ =
      m_.global(spv::StorageClassPushConstant, m_.struct_type({&block_pointer_, 1}, {&offset, 1}));
}

void Arguments::declare_bindings(const Kernel& kernel, bool uses_scratch) {
  const int64_t most = m_.target().shader.bound_bytes;
  coherent_memory_ = uses_scratch;  // what one invocation leaves there others load
  for (uint32_t b = 0; b < first_param_; ++b) {
    const Buffer& buffer = kernel.buffers[b];
    const int64_t bytes = buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
    if (bytes > most) {
      throw UnsupportedError(str("a buffer of ", bytes, " bytes; without addresses of buffers the ",
                                 "device reaches ", most));
    }
    coherent_memory_ = coherent_memory_ || coherent_[b];
  }
  const uint32_t offset = 0;
  const Value word = m_.u32();
  push_ = m_.global(spv::StorageClassPushConstant, m_.struct_type({&word, 1}, {&offset, 1}));
  const auto bind = [&](bool shared, uint32_t binding, std::string_view name) {
    const Value variable = m_.global(kBound, m_.block_type(DType::U32, shared));
    m_.decorate(variable, spv::DecorationDescriptorSet, {0});
    m_.decorate(variable, spv::DecorationBinding, {binding});
    m_.name(variable, name);
    return variable;
  };
  memory_ = bind(coherent_memory_, 0, "memory");
  arguments_ = bind(false, 1, "arguments");
}

Value Arguments::load_block(Function& f) const {
  const Value type = addresses_ ? block_pointer_ : m_.u32();
  return f.load(type, f.element(spv::StorageClassPushConstant, type, push_, m_.constant(0)));
}

Value Arguments::load_member(Function& f, Value block, uint32_t member) const {
  const Value type = members_[member];
  return aligned_load(f, type, f.element(kDevice, type, block, m_.constant(member)), 8);
}

Value Arguments::load_half(Function& f, Value block, uint32_t member, uint32_t half) const {
  const Value index = f.add(block, m_.constant(2 * member + half));
  return aligned_load(f, m_.u32(), word_pointer(f, {arguments_, kBound}, index), 4);
}

Place Arguments::load_buffer(Function& f, Value block, BufferId buffer) const {
  const DType dtype = buffers_[buffer.index].dtype;
  const uint32_t size = static_cast<uint32_t>(size_of(dtype));
  if (!addresses_) {
    const Value offset = load_half(f, block, buffer.index, 0);
    return {.pointer = memory_,
            .storage = kBound,
            .words = true,
            .first = f.op(spv::OpUDiv, m_.u32(), {offset, m_.constant(size)}),
            .coherent = coherent_memory_};
  }
  const Value member = load_member(f, block, buffer.index);
  const bool coherent = coherent_[buffer.index];
  if (size >= 4) return {.pointer = member, .coherent = coherent};
  const bool words = in_words(dtype);
  const Value type = m_.pointer_type(kDevice, m_.block_type(words ? DType::U32 : dtype, coherent));
  if (!words) {
    return {.pointer = f.op(spv::OpConvertUToPtr, type, {member}), .coherent = coherent};
  }
  // From the word that the first element is in.
  const Value word = f.op(spv::OpBitwiseAnd, m_.u64(), {member, m_.constant64(~uint64_t{3})});
  const Value rest = f.op(spv::OpBitwiseAnd, m_.u32(), {f.narrowed(member), m_.constant(3)});
  return {.pointer = f.op(spv::OpConvertUToPtr, type, {word}),
          .words = true,
          .first = f.op(spv::OpUDiv, m_.u32(), {rest, m_.constant(size)}),
          .coherent = coherent};
}

Value Arguments::load_param(Function& f, Value block, uint32_t param, DType dtype) const {
  const uint32_t member = first_param_ + param;
  Value value = 0;
  if (addresses_) {
    value = load_member(f, block, member);
  } else if (size_of(dtype) == 8) {
    value = f.from_word(
        dtype, f.wide_word(load_half(f, block, member, 0), load_half(f, block, member, 1)));
  } else {
    value = load_half(f, block, member, 0);
    if (size_of(dtype) == 4) value = f.from_word(dtype, value);
  }
  if (size_of(dtype) >= 4) return value;
  // The low bytes count.
  const DType bits = dtype == DType::Bool ? DType::U8 : dtype;
  const Value narrow =
      f.cast(DType::U32,
             size_of(bits) == 1 ? (is_signed_integer(bits) ? DType::I8 : DType::U8)
                                : (is_signed_integer(bits) ? DType::I16 : DType::U16),
             value);
  return dtype == DType::Bool ? f.cast(DType::U8, DType::Bool, narrow) : narrow;
}

Place Arguments::load_status(Function& f, Value block) const {
  const uint32_t member = num_members_ - 2;
  if (addresses_) return {load_member(f, block, member), kDevice, true};
  const Value offset = load_half(f, block, member, 0);
  return {arguments_, kBound, true, f.op(spv::OpUDiv, m_.u32(), {offset, m_.constant(4)})};
}

Place Arguments::load_scratch(Function& f, Value block, DType dtype, Value offset) const {
  const uint32_t member = num_members_ - 1;
  const uint32_t size = static_cast<uint32_t>(size_of(dtype));
  if (!addresses_) {
    const Value at = f.add(load_half(f, block, member, 0), offset);
    return {.pointer = memory_,
            .storage = kBound,
            .words = true,
            .first = f.op(spv::OpUDiv, m_.u32(), {at, m_.constant(size)}),
            .coherent = true};
  }
  const bool words = in_words(dtype);
  const Value type = m_.pointer_type(kDevice, m_.block_type(words ? DType::U32 : dtype, true));
  return {.pointer = f.op(spv::OpConvertUToPtr, type, {load_member(f, block, member)}),
          .words = words,
          .first = f.op(spv::OpUDiv, m_.u64(), {offset, m_.constant64(size)}),
          .wide = true,
          .coherent = true};
}

}  // namespace reprise::spirv
