// Runs scalar programs instruction by instruction over arrays of lanes.
#include "ir/scalar_interpreter.h"

#include <algorithm>
#include <cstring>

#include "ir/error.h"
#include "ir/scalar_arithmetic.h"
#include "ir/scalar_rewrite.h"

namespace reprise {
namespace {

uint64_t read_word(const void* lanes, size_t bytes, int lane) {
  uint64_t word = 0;
  std::memcpy(&word, static_cast<const std::byte*>(lanes) + lane * bytes, bytes);
  return word;
}

template <class Word>
void fill(void* out, uint64_t bits, int lanes) {
  std::fill_n(static_cast<Word*>(out), lanes, static_cast<Word>(bits));
}

void fill(void* out, uint64_t bits, size_t bytes, int lanes) {
  switch (bytes) {
    case 1:
      return fill<uint8_t>(out, bits, lanes);
    case 2:
      return fill<uint16_t>(out, bits, lanes);
    case 4:
      return fill<uint32_t>(out, bits, lanes);
    case 8:
      return fill<uint64_t>(out, bits, lanes);
    default:
      REPRISE_ASSERT(!"a scalar of 1, 2, 4 or 8 bytes");
  }
}

template <class Word>
void gather(const void* from, const int64_t* elements, const uint8_t* mask, void* out, int lanes) {
  const Word* source = static_cast<const Word*>(from);
  Word* target = static_cast<Word*>(out);
  if (mask == nullptr) {
    for (int l = 0; l < lanes; ++l) target[l] = source[elements[l]];
  } else {
    for (int l = 0; l < lanes; ++l) target[l] = mask[l] ? source[elements[l]] : Word{0};
  }
}

template <class Word>
void scatter(void* to, const int64_t* elements, const uint8_t* mask, const void* from, int lanes) {
  Word* target = static_cast<Word*>(to);
  const Word* source = static_cast<const Word*>(from);
  for (int l = 0; l < lanes; ++l) {
    if (mask == nullptr || mask[l]) target[elements[l]] = source[l];
  }
}

void check_index(const int64_t* index, int64_t extent, int64_t* out, int lanes,
                 LaunchStatus* status) {
  for (int l = 0; l < lanes; ++l) {
    const bool inside = index[l] >= 0 && index[l] < extent;
    out[l] = inside ? index[l] : std::clamp<int64_t>(index[l], 0, std::max<int64_t>(extent, 1) - 1);
    if (!inside && status != nullptr && status->failed == 0) *status = {1, index[l], extent};
  }
}

}  // namespace

ScalarProgram::ScalarProgram(const Body& body, const Numerics& numerics,
                             std::span<const ScalarId> keep)
    : numerics_(numerics) {
  ScalarMap widened;
  ScalarMap expanded;
  body_ = expand_math(widen_halves(body, &widened), &expanded);
  for (const ScalarId id : keep) kept_.push_back(expanded[widened[id.index].index]);
  size_t bytes = 0;
  for (const Instr& instr : body_.instrs) {
    at_.push_back(bytes);
    if (instr.op != ScalarOp::Store) bytes += kLanes * size_of(instr.dtype);
  }
  bytes_.resize(bytes);
  elements_.resize(kLanes);
  for (uint32_t i = 0; i < body_.instrs.size(); ++i) {
    const Instr& instr = body_.instrs[i];
    if (instr.op == ScalarOp::Const) {
      fill(lanes_of(ScalarId{i}), instr.bits, size_of(instr.dtype), kLanes);
    }
  }
}

uint64_t ScalarProgram::kept(int which, int lane) const {
  return read_word(kept_lanes(which), size_of(kept_dtype(which)), lane);
}

void ScalarProgram::run_index(const Affine& affine, int64_t* out, int lanes,
                              const ScalarInputs& inputs) const {
  std::fill_n(out, lanes, affine.offset);
  for (size_t v = 0; v < affine.coefficients.size(); ++v) {
    const int64_t coefficient = affine.coefficients[v];
    if (coefficient == 0) continue;
    const int64_t* variable = inputs.variables[v];
    for (int l = 0; l < lanes; ++l) out[l] += coefficient * variable[l];
  }
}

void ScalarProgram::find_elements(const Access& access, const uint8_t* mask, int lanes,
                                  const ScalarInputs& inputs) {
  int64_t* elements = elements_.data();
  run_index(access.index, elements, lanes, inputs);
  if (access.dynamic.valid()) {
    const int64_t* dynamic = static_cast<const int64_t*>(lanes_of(access.dynamic));
    for (int l = 0; l < lanes; ++l) elements[l] += dynamic[l];
  }
  const uint32_t buffer = access.buffer.index;
  if (!inputs.extents.empty()) {
    const int64_t extent = inputs.extents[buffer];
    for (int l = 0; l < lanes; ++l) {
      if ((mask == nullptr || mask[l]) && (elements[l] < 0 || elements[l] >= extent)) {
        throw InternalError(str("internal error: element ", elements[l], " of ", access.buffer,
                                " is outside its extent ", extent));
      }
    }
  }
  if (!inputs.copy_strides.empty() && inputs.copy_strides[buffer] != 0) {
    const int64_t stride = inputs.copy_strides[buffer];
    for (int l = 0; l < lanes; ++l) elements[l] += inputs.copies[l] * stride;
  }
}

void ScalarProgram::run_load(const Instr& instr, void* out, int lanes, const ScalarInputs& inputs) {
  const Access& access = body_.accesses[instr.access];
  const uint8_t* mask =
      instr.args[0].valid() ? static_cast<const uint8_t*>(lanes_of(instr.args[0])) : nullptr;
  find_elements(access, mask, lanes, inputs);
  const void* from = inputs.buffers[access.buffer.index];
  const int64_t* elements = elements_.data();
  switch (size_of(instr.dtype)) {
    case 1:
      gather<uint8_t>(from, elements, mask, out, lanes);
      break;
    case 2:
      gather<uint16_t>(from, elements, mask, out, lanes);
      break;
    case 4:
      gather<uint32_t>(from, elements, mask, out, lanes);
      break;
    case 8:
      gather<uint64_t>(from, elements, mask, out, lanes);
      break;
    default:
      REPRISE_ASSERT(!"a scalar of 1, 2, 4 or 8 bytes");
  }
  if (instr.dtype == DType::Bool) {  // any nonzero byte from outside reads as true
    uint8_t* values = static_cast<uint8_t*>(out);
    for (int l = 0; l < lanes; ++l) values[l] = values[l] != 0;
  }
}

void ScalarProgram::run_store(const Instr& instr, int lanes, const ScalarInputs& inputs) {
  const Access& access = body_.accesses[instr.access];
  const uint8_t* mask =
      instr.args[1].valid() ? static_cast<const uint8_t*>(lanes_of(instr.args[1])) : nullptr;
  find_elements(access, mask, lanes, inputs);
  void* to = inputs.buffers[access.buffer.index];
  const void* from = lanes_of(instr.args[0]);
  const int64_t* elements = elements_.data();
  switch (size_of(instr.dtype)) {
    case 1:
      scatter<uint8_t>(to, elements, mask, from, lanes);
      break;
    case 2:
      scatter<uint16_t>(to, elements, mask, from, lanes);
      break;
    case 4:
      scatter<uint32_t>(to, elements, mask, from, lanes);
      break;
    case 8:
      scatter<uint64_t>(to, elements, mask, from, lanes);
      break;
    default:
      REPRISE_ASSERT(!"a scalar of 1, 2, 4 or 8 bytes");
  }
}

void ScalarProgram::run(int lanes, const ScalarInputs& inputs) {
  REPRISE_ASSERT(lanes >= 0 && lanes <= kLanes);
  for (uint32_t i = 0; i < body_.instrs.size(); ++i) {
    const Instr& instr = body_.instrs[i];
    void* out = lanes_of(ScalarId{i});
    const size_t bytes = size_of(instr.dtype);
    switch (instr.op) {
      case ScalarOp::Const:
        break;
      case ScalarOp::Param:
        fill(out, inputs.params[instr.bits], bytes, lanes);
        break;
      case ScalarOp::Index:
        run_index(body_.affines[instr.access], static_cast<int64_t*>(out), lanes, inputs);
        break;
      case ScalarOp::Load:
        run_load(instr, out, lanes, inputs);
        break;
      case ScalarOp::Store:
        run_store(instr, lanes, inputs);
        break;
      case ScalarOp::Reduced:
        for (int l = 0; l < lanes; ++l) {
          std::memcpy(static_cast<std::byte*>(out) + l * bytes, &inputs.reduced[instr.bits][l],
                      bytes);
        }
        break;
      case ScalarOp::CheckIndex:
        check_index(static_cast<const int64_t*>(lanes_of(instr.args[0])),
                    static_cast<int64_t>(instr.bits), static_cast<int64_t*>(out), lanes,
                    inputs.status);
        break;
      default: {
        const void* args[3] = {};
        const int count = arity(instr.op);
        for (int a = 0; a < count; ++a) args[a] = lanes_of(instr.args[a]);
        evaluate_lanes(instr.op, instr.dtype, body_[instr.args[0]].dtype, args, out, lanes,
                       numerics_);
      }
    }
  }
}

void evaluate_elementwise(const Body& body, const Numerics& numerics, ScalarId result,
                          std::span<const int64_t> extents, std::span<const void* const> operands,
                          void* out, LaunchStatus* status) {
  ScalarProgram program(body, numerics, {&result, 1});
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  const size_t rank = extents.size();
  std::vector<int64_t> values(std::max<size_t>(rank, 1) * kLanes);
  std::vector<const int64_t*> variables;
  for (size_t axis = 0; axis < rank; ++axis) variables.push_back(values.data() + axis * kLanes);
  std::vector<void*> buffers;
  for (const void* operand : operands) buffers.push_back(const_cast<void*>(operand));
  ScalarInputs inputs;
  inputs.buffers = buffers;
  inputs.variables = variables;
  inputs.status = status;
  const size_t bytes = size_of(program.kept_dtype(0));
  std::byte* target = static_cast<std::byte*>(out);
  std::vector<int64_t> position(rank, 0);
  for (int64_t begin = 0; begin < count; begin += kLanes) {
    const int lanes = static_cast<int>(std::min<int64_t>(kLanes, count - begin));
    for (int l = 0; l < lanes; ++l) {
      for (size_t axis = 0; axis < rank; ++axis) values[axis * kLanes + l] = position[axis];
      for (size_t axis = rank; axis-- > 0;) {
        if (++position[axis] < extents[axis]) break;
        position[axis] = 0;
      }
    }
    program.run(lanes, inputs);
    std::memcpy(target + begin * bytes, program.kept_lanes(0), lanes * bytes);
  }
}

}  // namespace reprise
