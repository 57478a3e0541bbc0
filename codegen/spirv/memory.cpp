// Where elements are, and how those smaller than a word are loaded and stored.
#include "codegen/spirv/memory.h"

#include "ir/error.h"

namespace reprise::spirv {

SharedMemory::SharedMemory(Module& module, const SharedWords& words) {
  const auto array = [&](Value type, int64_t count) {
    return module.global(spv::StorageClassWorkgroup, module.array_type(type, count));
  };
  if (words.narrow > 0) narrow = array(module.u32(), words.narrow);
  if (words.wide > 0) wide = array(module.u64(), words.wide);
  if (words.quads > 0) quads = array(module.vector_type(module.u32(), 4), words.quads);
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
      places_(kernel.buffers.size()),
      variables_(kernel.buffers.size()) {
  // What is loaded here is there for every block of the part.
  const auto visit = [&](const Body& body) {
    for (const Access& access : body.accesses) {
      const uint32_t b = access.buffer.index;
      const Buffer& buffer = kernel.buffers[b];
      switch (plan.homes[b].kind) {
        case Home::Kind::Global:
          if (places_[b].pointer == 0) {
            places_[b] = arguments.load_buffer(f, block_, access.buffer);
          }
          break;
        case Home::Kind::Private:
          if (buffer.extent == 0 || variables_[b] != 0) break;
          variables_[b] =
              f.variable(f.m.array_type(f.m.register_type(buffer.dtype), buffer.extent));
          break;
        case Home::Kind::Workgroup:
        case Home::Kind::Scratch:
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
  Module& m = f_.m;
  const bool wide = m.target().shader.uses_addresses();
  const int width = wide ? 64 : 32;
  const auto constant = [&](int64_t value) {
    return wide ? m.constant64(static_cast<uint64_t>(value))
                : m.constant(static_cast<uint32_t>(value));
  };
  const Value begin =
      f_.add(f_.mul(wide ? f_.widened(group) : group, constant(plan_.scratch_stride), width),
             constant(scratch_begin), width);
  for (size_t b = 0; b < plan_.homes.size(); ++b) {
    const Home& home = plan_.homes[b];
    if (home.kind != Home::Kind::Scratch) continue;
    places_[b] = arguments_.load_scratch(f_, block_, kernel_.buffers[b].dtype,
                                         f_.add(begin, constant(home.at), width));
  }
}

bool PartMemory::is_wide(BufferId buffer) const {
  // A buffer that is bound has no more bytes than 32 bits count.
  return f_.m.target().shader.uses_addresses() &&
         plan_.homes[buffer.index].kind == Home::Kind::Global &&
         kernel_.buffers[buffer.index].extent > INT32_MAX;
}

/// Counted from where the place's pointer points to.
Value PartMemory::element(BufferId id, Value index) {
  const Place& place = places_[id.index];
  if (place.first == 0) return index;
  const bool wide = is_wide(id);
  if (!wide && !place.wide) return f_.add(place.first, index);
  return f_.add(place.wide ? place.first : f_.widened(place.first),
                wide ? index : f_.widened(index), 64);
}

Value PartMemory::typed_pointer(BufferId id, Value index) {
  const Place& place = places_[id.index];
  const Value type =
      f_.m.pointer_type(place.storage, f_.m.memory_type(kernel_.buffers[id.index].dtype));
  return f_.op(spv::OpAccessChain, type, {place.pointer, f_.m.constant(0), element(id, index)});
}

PartMemory::Cut PartMemory::cut(BufferId id, Value index) {
  Module& m = f_.m;
  const Place& place = places_[id.index];
  const Value at = element(id, index);
  const bool wide = is_wide(id) || place.wide;
  const Value type = m.integer_type(wide ? 64 : 32);
  const auto constant = [&](uint32_t value) {
    return wide ? m.constant64(value) : m.constant(value);
  };
  const size_t bytes = size_of(kernel_.buffers[id.index].dtype);
  if (bytes == 4) return {.pointer = word_pointer(f_, place, at)};
  if (bytes == 8) {
    const Value low = f_.op(spv::OpShiftLeftLogical, type, {at, m.constant(1)});
    const Value high = f_.op(spv::OpBitwiseOr, type, {low, constant(1)});
    return {.pointer = word_pointer(f_, place, low), .next = word_pointer(f_, place, high)};
  }
  // 4 or 2 elements a word.
  const uint32_t log = bytes == 1 ? 2 : 1;
  const Value word = f_.op(spv::OpShiftRightLogical, type, {at, m.constant(log)});
  const Value within =
      f_.op(spv::OpBitwiseAnd, m.u32(), {wide ? f_.narrowed(at) : at, m.constant((1u << log) - 1)});
  return {.pointer = word_pointer(f_, place, word),
          .shift = f_.op(spv::OpShiftLeftLogical, m.u32(), {within, m.constant(5 - log)})};
}

Value PartMemory::load_cut(BufferId id, Value index) {
  Module& m = f_.m;
  const DType dtype = kernel_.buffers[id.index].dtype;
  const Cut at = cut(id, index);
  const auto get = [&](Value pointer) {
    return load_from(f_, places_[id.index], m.u32(), pointer, 4);
  };
  Value word = get(at.pointer);
  if (at.next != 0) word = f_.wide_word(word, get(at.next));
  if (at.shift != 0) {
    word = f_.op(is_signed_integer(dtype) ? spv::OpBitFieldSExtract : spv::OpBitFieldUExtract,
                 m.u32(), {word, at.shift, m.constant(static_cast<uint32_t>(8 * size_of(dtype)))});
  }
  return f_.from_word(dtype, word);
}

void PartMemory::store_cut(BufferId id, Value index, Value value) {
  Module& m = f_.m;
  const DType dtype = kernel_.buffers[id.index].dtype;
  const Value bits = f_.to_word(dtype, value);
  const Cut at = cut(id, index);
  const auto put = [&](Value pointer, Value word) {
    store_to(f_, places_[id.index], pointer, word, 4);
  };
  if (at.next != 0) {
    put(at.pointer, f_.narrowed(bits));
    put(at.next, f_.narrowed(f_.op(spv::OpShiftRightLogical, m.u64(), {bits, m.constant(32)})));
    return;
  }
  if (at.shift == 0) return put(at.pointer, bits);
  // Others store the elements beside it at the same time: only its own bits may change.
  const Value ones = m.constant(size_of(dtype) == 1 ? 0xff : 0xffff);
  const auto moved = [&](Value v) {
    return f_.op(spv::OpShiftLeftLogical, m.u32(), {v, at.shift});
  };
  const Value others = f_.op(spv::OpNot, m.u32(), {moved(ones)});
  const Value own = moved(f_.op(spv::OpBitwiseAnd, m.u32(), {bits, ones}));
  const Value device = m.constant(spv::ScopeDevice), relaxed = m.constant(0);
  f_.op(spv::OpAtomicAnd, m.u32(), {at.pointer, device, relaxed, others});
  f_.op(spv::OpAtomicOr, m.u32(), {at.pointer, device, relaxed, own});
}

Value PartMemory::private_pointer(BufferId id, Value index) {
  return f_.element(spv::StorageClassFunction, f_.m.register_type(kernel_.buffers[id.index].dtype),
                    variables_[id.index], index);
}

Value PartMemory::load(BufferId id, Value index) {
  const DType dtype = kernel_.buffers[id.index].dtype;
  const Home& home = plan_.homes[id.index];
  switch (home.kind) {
    case Home::Kind::Private:
      return f_.load(f_.m.register_type(dtype), private_pointer(id, index));
    case Home::Kind::Workgroup:
      return load_shared(dtype, home.at, index);
    case Home::Kind::Global:
    case Home::Kind::Scratch:
      break;
  }
  if (places_[id.index].words) return load_cut(id, index);
  const Value value = load_from(f_, places_[id.index], f_.m.memory_type(dtype),
                                typed_pointer(id, index), static_cast<uint32_t>(size_of(dtype)));
  return f_.from_memory(dtype, value);
}

void PartMemory::store(BufferId id, Value index, Value value) {
  const DType dtype = kernel_.buffers[id.index].dtype;
  const Home& home = plan_.homes[id.index];
  // A driver may hand it to a later load, which then knows no more than any other.
  if (is_float(dtype)) value = f_.guarded(dtype, value);
  switch (home.kind) {
    case Home::Kind::Private:
      f_.store(private_pointer(id, index), value);
      return;
    case Home::Kind::Workgroup:
      store_shared(dtype, home.at, index, value);
      return;
    case Home::Kind::Global:
    case Home::Kind::Scratch:
      break;
  }
  if (places_[id.index].words) return store_cut(id, index, value);
  const Value bits = f_.to_memory(dtype, value);
  store_to(f_, places_[id.index], typed_pointer(id, index), bits,
           static_cast<uint32_t>(size_of(dtype)));
}

Value PartMemory::param(uint32_t param, DType dtype) {
  return arguments_.load_param(f_, block_, param, dtype);
}

void PartMemory::report(Value index, int64_t extent) {
  Module& m = f_.m;
  const Place status = arguments_.load_status(f_, block_);
  const auto field = [&](uint32_t word) {
    const Value index = m.constant(word);
    return word_pointer(f_, status, status.first == 0 ? index : f_.add(status.first, index));
  };
  const Value device = m.constant(spv::ScopeDevice), relaxed = m.constant(0);
  const Value before = f_.op(spv::OpAtomicCompareExchange, m.u32(),
                             {field(0), device, relaxed, relaxed, m.constant(1), m.constant(0)});
  const Value first = f_.op(spv::OpIEqual, m.bool_type(), {before, m.constant(0)});
  f_.if_then(first, [&] {
    const auto put = [&](uint32_t word, Value value) {
      store_to(f_, status, field(word), value, 4);
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
  f_.store_shared(shared_pointer(dtype, at, index), bits);
}

Value PartMemory::quad_pointer(Value quad) {
  return f_.element(spv::StorageClassWorkgroup, f_.m.vector_type(f_.m.u32(), 4), shared_.quads,
                    quad);
}

Value PartMemory::quad_word_pointer(Value word) {
  Module& m = f_.m;
  const Value quad = f_.op(spv::OpShiftRightLogical, m.u32(), {word, m.constant(2)});
  const Value within = f_.op(spv::OpBitwiseAnd, m.u32(), {word, m.constant(3)});
  return f_.op(spv::OpAccessChain, m.pointer_type(spv::StorageClassWorkgroup, m.u32()),
               {shared_.quads, quad, within});
}

Value PartMemory::load_quad_word(Value word) {
  return f_.load_shared(f_.m.u32(), quad_word_pointer(word));
}

void PartMemory::store_quad_word(Value word, Value value) {
  f_.store_shared(quad_word_pointer(word), value);
}

}  // namespace reprise::spirv
