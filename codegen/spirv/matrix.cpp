// The instructions of both extensions, and what stands in for them.
#include "codegen/spirv/matrix.h"

#include "codegen/backend.h"

namespace reprise::spirv {

namespace {

// SPV_KHR_cooperative_matrix is younger than the headers of SPIR-V may be.
constexpr auto kCapability = static_cast<spv::Capability>(6022);
constexpr auto kType = static_cast<spv::Op>(4456);
constexpr auto kLoad = static_cast<spv::Op>(4457);
constexpr auto kStore = static_cast<spv::Op>(4458);
constexpr auto kMultiplyAdd = static_cast<spv::Op>(4459);
constexpr uint32_t kRowMajor = 0, kColumnMajor = 1;
constexpr uint32_t kUseRows = 0, kUseColumns = 1, kUseSums = 2;
constexpr uint32_t kSignedFactors = 1 | 2, kSignedSums = 4 | 8;

constexpr uint32_t kShared = spv::MemoryAccessNonPrivatePointerMask;

}  // namespace

Matrices::Matrices(Function& f, PartMemory& memory, const MatrixPlan& plan, Value invocation)
    : f_(f), memory_(memory), shape_(plan.shape), form_(f.m.target().shader.matrices.form) {
  Module& m = f.m;
  const int size = m.target().shader.matrices.subgroup;
  if (emulated()) {
    lanes_ = static_cast<uint32_t>(size);
    subgroup_ = f.op(spv::OpUDiv, m.u32(), {invocation, m.constant(lanes_)});
    lane_ = f.op(spv::OpUMod, m.u32(), {invocation, m.constant(lanes_)});
    const int own = shape_.m * shape_.n / size;
    sums_ = m.array_type(m.register_type(shape_.sums), own);
    return;
  }
  if (form_ == MatrixForm::Khr) {
    m.capability(kCapability);
    m.extension("SPV_KHR_cooperative_matrix");
  } else {
    m.capability(spv::CapabilityCooperativeMatrixNV);
    m.extension("SPV_NV_cooperative_matrix");
  }
  m.capability(spv::CapabilityGroupNonUniform);
  // The same for all of a subgroup, which the driver need not find out.
  subgroup_ = f.load(m.u32(), m.built_in(spv::BuiltInSubgroupId, m.u32()));
  rows_ = matrix_type(shape_.factors, shape_.m, shape_.k, kUseRows);
  columns_ = matrix_type(shape_.factors, shape_.k, shape_.n, kUseColumns);
  sums_ = matrix_type(shape_.sums, shape_.m, shape_.n, kUseSums);
}

Value Matrices::element_type(DType dtype) {
  Module& m = f_.m;
  const uint32_t width = static_cast<uint32_t>(8 * size_of(dtype));
  if (is_float(dtype)) {
    if (width == 16) m.capability(spv::CapabilityFloat16);
    return m.float_type(static_cast<int>(width));
  }
  if (width == 8) m.capability(spv::CapabilityInt8);
  return m.type(spv::OpTypeInt, {width, is_signed_integer(dtype) ? 1u : 0u});
}

Value Matrices::matrix_type(DType dtype, int rows, int columns, uint32_t use) {
  Module& m = f_.m;
  const Value element = element_type(dtype);
  const Value scope = m.constant(spv::ScopeSubgroup);
  const Value height = m.constant(static_cast<uint32_t>(rows));
  const Value width = m.constant(static_cast<uint32_t>(columns));
  if (form_ == MatrixForm::Nv) {
    return m.type(spv::OpTypeCooperativeMatrixNV, {element, scope, height, width});
  }
  return m.type(kType, {element, scope, height, width, m.constant(use)});
}

/// Emulated, the place stands for what is there: nobody writes it before the next barrier.
Value Matrices::load(Value first, bool rows) {
  if (emulated()) return first;
  Module& m = f_.m;
  const Value pointer = memory_.quad_pointer(first);
  const Value stride = m.constant(kMatrixStride);
  const Value type = rows ? rows_ : columns_;
  if (form_ == MatrixForm::Nv) {
    return f_.op(spv::OpCooperativeMatrixLoadNV, type, {pointer, stride, m.truth(!rows), kShared});
  }
  return f_.op(kLoad, type,
               {pointer, m.constant(rows ? kRowMajor : kColumnMajor), stride, kShared});
}

// Lane l holds elements l, l + lanes, .. of the matrix of sums. Loops begin where no driver knows:
// those it unrolls take it long to compile.
template <class F>
void Matrices::for_own_sums(Value sums, const F& body) {
  Module& m = f_.m;
  const auto constant = [&](int value) { return m.constant(static_cast<uint32_t>(value)); };
  f_.loop(lane_, shape_.m * shape_.n, lanes_, [&](Value element) {
    const Value row = f_.op(spv::OpUDiv, m.u32(), {element, constant(shape_.n)});
    const Value column = f_.op(spv::OpUMod, m.u32(), {element, constant(shape_.n)});
    const Value own = f_.op(spv::OpUDiv, m.u32(), {element, m.constant(lanes_)});
    body(f_.element(spv::StorageClassFunction, m.register_type(shape_.sums), sums, own), row,
         column);
  });
}

Value Matrices::make_sums() {
  Module& m = f_.m;
  const Value sums = f_.variable(sums_);
  if (emulated()) {
    const Value zero = f_.start_of_sum(shape_.sums);
    for_own_sums(sums, [&](Value sum, Value, Value) { f_.store(sum, zero); });
  } else {
    const Value element = element_type(shape_.sums);
    f_.store(sums, m.filled(sums_, m.zero(element)));
  }
  return sums;
}

void Matrices::multiply_add(Value sums, Value rows, Value columns) {
  Module& m = f_.m;
  if (!emulated()) {
    const Value before = f_.load(sums_, sums);
    Value after = 0;
    if (form_ == MatrixForm::Nv) {
      after = f_.op(spv::OpCooperativeMatrixMulAddNV, sums_, {rows, columns, before});
    } else {
      const uint32_t factors = shape_.factors == DType::I8 ? kSignedFactors : 0;
      const uint32_t result = shape_.sums == DType::I32 ? kSignedSums : 0;
      after = f_.op(kMultiplyAdd, sums_, {rows, columns, before, factors | result});
    }
    f_.store(sums, after);
    return;
  }
  const uint32_t bytes = static_cast<uint32_t>(size_of(shape_.factors));
  const uint32_t words = static_cast<uint32_t>(shape_.k) * bytes / 4;
  const Value type = m.register_type(shape_.sums);
  const auto first_word = [&](Value quad, Value line) {
    return f_.mul(f_.add(quad, f_.mul(line, m.constant(kMatrixStride))), m.constant(4));
  };
  const auto factor = [&](Value word, uint32_t part) {
    const spv::Op extract =
        is_signed_integer(shape_.factors) ? spv::OpBitFieldSExtract : spv::OpBitFieldUExtract;
    const Value bits =
        f_.op(extract, m.u32(), {word, m.constant(8 * bytes * part), m.constant(8 * bytes)});
    return f_.cast(shape_.factors, shape_.sums, bits);
  };
  for_own_sums(sums, [&](Value sum, Value row, Value column) {
    const Value begin = first_word(rows, row);
    const Value across = f_.op(spv::OpISub, m.u32(), {first_word(columns, column), begin});
    f_.loop(begin, f_.add(begin, m.constant(words)), m.constant(1), words, [&](Value word) {
      const Value a = memory_.load_quad_word(word);
      const Value b = memory_.load_quad_word(f_.add(word, across));
      Value next = f_.load(type, sum);
      for (uint32_t part = 0; part < 4 / bytes; ++part) {
        next = f_.fma(shape_.sums, factor(a, part), factor(b, part), next);
      }
      f_.store(sum, next);
    });
  });
}

void Matrices::store(Value sums, Value first) {
  Module& m = f_.m;
  if (!emulated()) {
    const Value pointer = memory_.quad_pointer(first);
    const Value object = f_.load(sums_, sums);
    const Value stride = m.constant(kTile / 4);
    if (form_ == MatrixForm::Nv) {
      f_.effect(spv::OpCooperativeMatrixStoreNV,
                {pointer, object, stride, m.truth(false), kShared});
    } else {
      f_.effect(kStore, {pointer, object, m.constant(kRowMajor), stride, kShared});
    }
    return;
  }
  for_own_sums(sums, [&](Value sum, Value row, Value column) {
    const Value line = f_.add(f_.mul(first, m.constant(4)), f_.mul(row, m.constant(kTile)));
    const Value value = f_.load(m.register_type(shape_.sums), sum);
    memory_.store_quad_word(f_.add(line, column), f_.to_word(shape_.sums, value));
  });
}

}  // namespace reprise::spirv
