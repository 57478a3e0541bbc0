// Addresses, alignments and the argument block.
#include "codegen/spirv/memory.h"

#include "ir/error.h"

namespace reprise::spirv {

namespace {

constexpr spv::StorageClass kDevice = spv::StorageClassPhysicalStorageBuffer;

Value aligned_load(Function& f, Value type, Value pointer, uint32_t bytes) {
  return f.op(spv::OpLoad, type, {pointer, spv::MemoryAccessAlignedMask, bytes});
}

}  // namespace

// ---- Arguments ----

Arguments::Arguments(Module& module, const Kernel& kernel, const std::vector<bool>& coherent)
    : coherent_(coherent) {
  if (!module.target().shader.buffer_addresses) {
    throw UnsupportedError("the device has no buffer addresses");
  }
  std::vector<uint32_t> offsets;
  const auto add = [&](Value type) {
    offsets.push_back(static_cast<uint32_t>(8 * members_.size()));
    members_.push_back(type);
  };
  const Value words = module.pointer_type(kDevice, module.block_type(DType::U32, false));
  for (uint32_t b = 0; b < kernel.buffers.size(); ++b) {
    const Buffer& buffer = kernel.buffers[b];
    if (buffer.kind == BufferKind::Local) continue;
    const Value type = module.pointer_type(kDevice, module.block_type(buffer.dtype, coherent[b]));
    buffer_types_.push_back(type);
    // A pointer to small elements among the arguments would ask for capabilities of small push
    // constants: those addresses are numbers first.
    add(size_of(buffer.dtype) >= 4 ? type : module.u64());
  }
  first_param_ = static_cast<uint32_t>(members_.size());
  for (const DType dtype : kernel.params) {
    add(size_of(dtype) < 4 ? module.u32() : module.register_type(dtype));
  }
  add(words);
  add(module.target().shader.int64 ? module.u64() : words);
  const Value block = module.struct_type(members_, offsets);
  block_pointer_ = module.pointer_type(kDevice, block);
  const uint32_t offset = 0;
  push_ = module.global(spv::StorageClassPushConstant,
                        module.struct_type({&block_pointer_, 1}, {&offset, 1}));
}

Value Arguments::load_block(Function& f) const {
  return f.load(block_pointer_,
                f.element(spv::StorageClassPushConstant, block_pointer_, push_, f.m.constant(0)));
}

Value Arguments::load_member(Function& f, Value block, uint32_t member) const {
  const Value type = members_[member];
  return aligned_load(f, type, f.element(kDevice, type, block, f.m.constant(member)), 8);
}

Value Arguments::load_buffer(Function& f, Value block, BufferId buffer) const {
  const Value pointer = load_member(f, block, buffer.index);
  const Value type = buffer_types_[buffer.index];
  return type == members_[buffer.index] ? pointer : f.op(spv::OpConvertUToPtr, type, {pointer});
}

Value Arguments::load_param(Function& f, Value block, uint32_t param, DType dtype) const {
  const Value value = load_member(f, block, first_param_ + param);
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

Value Arguments::load_status(Function& f, Value block) const {
  return load_member(f, block, static_cast<uint32_t>(members_.size()) - 2);
}

Value Arguments::load_scratch(Function& f, Value block, DType dtype) const {
  if (!f.m.target().shader.int64) throw UnsupportedError("the device has no 64-bit integers");
  const Value address = load_member(f, block, static_cast<uint32_t>(members_.size()) - 1);
  // What one invocation leaves there others load.
  const Value type = f.m.pointer_type(kDevice, f.m.block_type(dtype, true));
  return f.op(spv::OpConvertUToPtr, type, {address});
}

SharedMemory::SharedMemory(Module& module, const SharedWords& words) {
  const auto array = [&](Value type, int64_t count) {
    return module.global(spv::StorageClassWorkgroup, module.array_type(type, count));
  };
  if (words.narrow > 0) narrow = array(module.u32(), words.narrow);
  if (words.wide > 0) wide = array(module.u64(), words.wide);
}

// ---- A part's memory ----

PartMemory::PartMemory(Function& f, const Kernel& kernel, const Arguments& arguments,
                       const SharedMemory& shared, const PartPlan& plan)
    : f_(f),
      kernel_(kernel),
      arguments_(arguments),
      shared_(shared),
      plan_(plan),
      block_(arguments.load_block(f)),
      pointers_(kernel.buffers.size()) {
  // What is loaded here is there for every block of the part.
  const auto visit = [&](const Body& body) {
    for (const Access& access : body.accesses) {
      const uint32_t b = access.buffer.index;
      const Buffer& buffer = kernel.buffers[b];
      if (pointers_[b] != 0) continue;
      switch (plan.homes[b].kind) {
        case Home::Kind::Global:
          pointers_[b] = arguments.load_buffer(f, block_, access.buffer);
          break;
        case Home::Kind::Private:
          if (buffer.extent == 0) break;
          pointers_[b] = f.variable(f.m.array_type(f.m.register_type(buffer.dtype), buffer.extent));
          break;
        case Home::Kind::Workgroup:
          break;
        case Home::Kind::Scratch:
          pointers_[b] = arguments.load_scratch(f, block_, buffer.dtype);
          break;
      }
    }
  };
  for (const Stage& stage : plan.part.stages) {
    visit(stage.body);
    visit(stage.post);
  }
}

void PartMemory::use_scratch(Value group, int64_t scratch_begin) {
  const Value stride = f_.m.constant64(static_cast<uint64_t>(plan_.scratch_stride));
  scratch_offset_ = f_.add(f_.mul(f_.widened(group), stride, 64),
                           f_.m.constant64(static_cast<uint64_t>(scratch_begin)), 64);
}

bool PartMemory::is_wide(BufferId buffer) const {
  return plan_.homes[buffer.index].kind == Home::Kind::Global &&
         kernel_.buffers[buffer.index].extent > INT32_MAX;
}

Value PartMemory::pointer(BufferId id, Value index) {
  const Buffer& buffer = kernel_.buffers[id.index];
  const Home& home = plan_.homes[id.index];
  Module& m = f_.m;
  if (home.kind == Home::Kind::Private) {
    return f_.element(spv::StorageClassFunction, m.register_type(buffer.dtype), pointers_[id.index],
                      index);
  }
  if (home.kind == Home::Kind::Scratch) {
    const uint64_t bytes = size_of(buffer.dtype);
    const Value first = f_.add(scratch_offset_, m.constant64(static_cast<uint64_t>(home.at)), 64);
    const Value elements = f_.op(spv::OpUDiv, m.u64(), {first, m.constant64(bytes)});
    index = f_.add(elements, f_.widened(index), 64);
  }
  const Value type = m.pointer_type(kDevice, m.memory_type(buffer.dtype));
  return f_.op(spv::OpAccessChain, type, {pointers_[id.index], m.constant(0), index});
}

Value PartMemory::load(BufferId id, Value index) {
  const DType dtype = kernel_.buffers[id.index].dtype;
  const Home& home = plan_.homes[id.index];
  switch (home.kind) {
    case Home::Kind::Private:
      return f_.load(f_.m.register_type(dtype), pointer(id, index));
    case Home::Kind::Workgroup:
      return load_shared(dtype, home.at, index);
    case Home::Kind::Global:
    case Home::Kind::Scratch:
      break;
  }
  const Value value = aligned_load(f_, f_.m.memory_type(dtype), pointer(id, index),
                                   static_cast<uint32_t>(size_of(dtype)));
  return f_.from_memory(dtype, value);
}

void PartMemory::store(BufferId id, Value index, Value value) {
  const DType dtype = kernel_.buffers[id.index].dtype;
  const Home& home = plan_.homes[id.index];
  // A driver may hand it to a later load, which then knows no more than any other.
  if (is_float(dtype)) value = f_.guarded(dtype, value);
  switch (home.kind) {
    case Home::Kind::Private:
      f_.store(pointer(id, index), value);
      return;
    case Home::Kind::Workgroup:
      store_shared(dtype, home.at, index, value);
      return;
    case Home::Kind::Global:
    case Home::Kind::Scratch:
      break;
  }
  const Value bits = f_.to_memory(dtype, value);
  f_.effect(spv::OpStore, {pointer(id, index), bits, spv::MemoryAccessAlignedMask,
                           static_cast<uint32_t>(size_of(dtype))});
}

Value PartMemory::param(uint32_t param, DType dtype) {
  return arguments_.load_param(f_, block_, param, dtype);
}

void PartMemory::report(Value index, int64_t extent) {
  Module& m = f_.m;
  const Value status = arguments_.load_status(f_, block_);
  const auto field = [&](uint32_t word) {
    return f_.op(spv::OpAccessChain, m.pointer_type(kDevice, m.u32()),
                 {status, m.constant(0), m.constant(word)});
  };
  const Value device = m.constant(spv::ScopeDevice), relaxed = m.constant(0);
  const Value before = f_.op(spv::OpAtomicCompareExchange, m.u32(),
                             {field(0), device, relaxed, relaxed, m.constant(1), m.constant(0)});
  const Value first = f_.op(spv::OpIEqual, m.bool_type(), {before, m.constant(0)});
  f_.if_then(first, [&] {
    const auto put = [&](uint32_t word, Value value) {
      f_.effect(spv::OpStore, {field(word), value, spv::MemoryAccessAlignedMask, 4});
    };
    const Value high = f_.op(spv::OpShiftRightLogical, m.u64(), {index, m.constant(32)});
    put(2, f_.narrowed(index));
    put(3, f_.narrowed(high));
    put(4, m.constant(static_cast<uint32_t>(extent)));
    put(5, m.constant(static_cast<uint32_t>(static_cast<uint64_t>(extent) >> 32)));
  });
}

Value PartMemory::shared_pointer(DType dtype, int64_t at, Value index) {
  const bool wide = size_of(dtype) == 8;
  if (at != 0) index = f_.add(index, f_.m.constant(static_cast<uint32_t>(at)));
  return f_.element(spv::StorageClassWorkgroup, f_.m.integer_type(wide ? 64 : 32),
                    wide ? shared_.wide : shared_.narrow, index);
}

Value PartMemory::load_shared(DType dtype, int64_t at, Value index) {
  const Value type = f_.m.integer_type(size_of(dtype) == 8 ? 64 : 32);
  return f_.from_word(dtype, f_.load_shared(type, shared_pointer(dtype, at, index)));
}

void PartMemory::store_shared(DType dtype, int64_t at, Value index, Value value) {
  const Value bits = f_.to_word(dtype, value);
  f_.store(shared_pointer(dtype, at, index), bits);
}

}  // namespace reprise::spirv
