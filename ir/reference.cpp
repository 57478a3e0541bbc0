// The orders of reductions and contractions, written out plainly.
#include "ir/reference.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "ir/error.h"
#include "ir/reduce.h"
#include "ir/scalar_interpreter.h"

namespace reprise {

namespace {

uint64_t element_bits(const void* elements, size_t width, int64_t index) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(elements) + static_cast<size_t>(index) * width,
              width);
  return bits;
}

/// At most kReduceBlock elements: strided partials, then a halving tree.
uint64_t reduce_block(ReduceKind kind, DType dtype, const void* elements, int64_t count) {
  if (count == 0) return reduce_identity(kind, dtype);
  const size_t width = size_of(dtype);
  uint64_t partials[kReducePartials] = {};
  const int64_t used = std::min<int64_t>(count, kReducePartials);
  for (int64_t i = 0; i < used; ++i) partials[i] = element_bits(elements, width, i);
  for (int64_t i = used; i < count; ++i) {
    uint64_t& partial = partials[i % kReducePartials];
    partial = combine_bits(kind, dtype, partial, element_bits(elements, width, i));
  }
  for (int64_t half = kReducePartials / 2; half >= 1; half /= 2) {
    for (int64_t p = 0; p < half && p + half < used; ++p) {
      partials[p] = combine_bits(kind, dtype, partials[p], partials[p + half]);
    }
  }
  return partials[0];
}

/// The same for bf16 on a target that adds pairs of products.
void multiply_bf16_pairs(int64_t m, int64_t n, int64_t k, const float* a, const float* b,
                         float* out) {
  std::fill(out, out + m * n, 0.0F);
  const std::vector<float> zeros(static_cast<size_t>(n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; l += 2) {
      const bool pair = l + 1 < k;
      const float* row = b + l * n;
      const float* next_row = pair ? row + n : zeros.data();
      const float factor = a[i * k + l], next_factor = pair ? a[i * k + l + 1] : 0;
      for (int64_t j = 0; j < n; ++j) {
        float& sum = out[i * n + j];
        sum = add_bf16_pair(sum, factor, row[j], next_factor, next_row[j]);
      }
    }
  }
}

template <class T, class MultiplyAdd>
void multiply_matrices(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* out,
                       MultiplyAdd multiply_add) {
  // Row by row of b, so that memory is walked in order; each element still sees k ascending.
  std::fill(out, out + m * n, T{});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      const T factor = a[i * k + l];
      for (int64_t j = 0; j < n; ++j) {
        out[i * n + j] = multiply_add(factor, b[l * n + j], out[i * n + j]);
      }
    }
  }
}

/// Elements of `dtype` as T and back; integers keep their low bits, so that wrapping in 64 bits and
/// narrowing at the end equals wrapping at the dtype.
template <class T>
struct Working {
  static constexpr DType kDType = dtype_of<T>;

  static std::vector<T> widen(const void* elements, DType dtype, int64_t count) {
    std::vector<T> wide(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t bits = convert_bits(element_bits(elements, size_of(dtype), i), dtype, kDType);
      std::memcpy(&wide[static_cast<size_t>(i)], &bits, sizeof(T));
    }
    return wide;
  }
  static void narrow(const T* wide, DType dtype, int64_t count, std::byte* out) {
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, &wide[i], sizeof(T));
      bits = convert_bits(bits, kDType, dtype);
      std::memcpy(out + static_cast<size_t>(i) * size_of(dtype), &bits, size_of(dtype));
    }
  }
};

/// For each batch of the result: which batch of `operand` it reads.
std::vector<int64_t> batch_offsets(const Shape& operand, const Shape& result) {
  const int batch_rank = result.rank() - 2;
  const int shift = result.rank() - operand.rank();
  int64_t batches = 1;
  for (int axis = 0; axis < batch_rank; ++axis) batches *= result[axis];
  std::vector<int64_t> offsets(static_cast<size_t>(batches));
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t rest = batch;
    int64_t stride = 1;
    int64_t offset = 0;
    for (int axis = batch_rank - 1; axis >= 0; --axis) {
      const int64_t index = rest % result[axis];
      rest /= result[axis];
      if (axis < shift) continue;
      const int64_t extent = operand[axis - shift];
      if (extent != 1) offset += index * stride;
      stride *= extent;
    }
    offsets[static_cast<size_t>(batch)] = offset;
  }
  return offsets;
}

template <class T, class Multiply>
void multiply_batches(const TensorType& a_type, const TensorType& b_type, const TensorType& result,
                      const void* a, const void* b, void* out, const Multiply& multiply) {
  const int64_t m = result.shape[result.shape.rank() - 2];
  const int64_t n = result.shape[result.shape.rank() - 1];
  const int64_t k = a_type.shape[a_type.shape.rank() - 1];
  const std::vector<T> wide_a = Working<T>::widen(a, a_type.dtype, a_type.shape.numel());
  const std::vector<T> wide_b = Working<T>::widen(b, b_type.dtype, b_type.shape.numel());
  std::vector<T> product(static_cast<size_t>(m * n));
  const std::vector<int64_t> a_batches = batch_offsets(a_type.shape, result.shape);
  const std::vector<int64_t> b_batches = batch_offsets(b_type.shape, result.shape);
  const auto bytes = static_cast<size_t>(m * n) * size_of(result.dtype);
  for (size_t batch = 0; batch < a_batches.size(); ++batch) {
    multiply(m, n, k, wide_a.data() + a_batches[batch] * m * k,
             wide_b.data() + b_batches[batch] * k * n, product.data());
    Working<T>::narrow(product.data(), result.dtype, m * n,
                       static_cast<std::byte*>(out) + batch * bytes);
  }
}

/// A product of matrices whose elements are chains over k ascending.
template <class T, class MultiplyAdd>
auto in_chains(MultiplyAdd multiply_add) {
  return [multiply_add](int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* out) {
    multiply_matrices(m, n, k, a, b, out, multiply_add);
  };
}

template <class T>
void multiply_floats(const TensorType& a_type, const TensorType& b_type, const TensorType& result,
                     const void* a, const void* b, const Numerics& numerics, void* out) {
  if (numerics.fma) {
    multiply_batches<T>(a_type, b_type, result, a, b, out,
                        in_chains<T>([](T x, T y, T sum) { return std::fma(x, y, sum); }));
  } else {
    multiply_batches<T>(a_type, b_type, result, a, b, out,
                        in_chains<T>([](T x, T y, T sum) { return x * y + sum; }));
  }
}

}  // namespace

DType reference_accumulator(ReduceKind kind, DType result) {
  const bool folds = kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  return folds && (result == DType::F16 || result == DType::BF16) ? DType::F32 : result;
}

uint64_t reference_reduce(ReduceKind kind, DType dtype, const void* elements, int64_t count) {
  const size_t width = size_of(dtype);
  std::vector<std::byte> level;  // what the blocks of the level below gave
  while (count > kReduceBlock) {
    const int64_t blocks = (count + kReduceBlock - 1) / kReduceBlock;
    std::vector<std::byte> next(static_cast<size_t>(blocks) * width);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t begin = block * kReduceBlock;
      const uint64_t bits = reduce_block(
          kind, dtype, static_cast<const std::byte*>(elements) + static_cast<size_t>(begin) * width,
          std::min(kReduceBlock, count - begin));
      std::memcpy(next.data() + static_cast<size_t>(block) * width, &bits, width);
    }
    level = std::move(next);
    elements = level.data();
    count = blocks;
  }
  return reduce_block(kind, dtype, elements, count);
}

int64_t reference_argument(ReduceKind kind, DType dtype, const void* elements, int64_t count) {
  const size_t width = size_of(dtype);
  int64_t best = 0;
  uint64_t best_bits = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = element_bits(elements, width, i);
    if (evaluate_bits(ScalarOp::Ne, DType::Bool, dtype, bits, bits) != 0) return i;  // NaN
    const bool better = i == 0 || evaluate_bits(ScalarOp::Lt, DType::Bool, dtype,
                                                kind == ReduceKind::ArgMax ? best_bits : bits,
                                                kind == ReduceKind::ArgMax ? bits : best_bits) != 0;
    if (!better) continue;
    best = i;
    best_bits = bits;
  }
  return best;
}

void reference_matmul(const TensorType& a_type, const TensorType& b_type, const TensorType& result,
                      const void* a, const void* b, const Numerics& numerics, void* out) {
  switch (category(result.dtype)) {
    case DTypeCategory::Float:
      if (result.dtype == DType::F64) {
        return multiply_floats<double>(a_type, b_type, result, a, b, numerics, out);
      }
      if (result.dtype == DType::BF16 && numerics.bf16_pairs) {
        return multiply_batches<float>(a_type, b_type, result, a, b, out, multiply_bf16_pairs);
      }
      return multiply_floats<float>(a_type, b_type, result, a, b, numerics, out);
    case DTypeCategory::Integer:
    case DTypeCategory::Bool:
      return multiply_batches<uint64_t>(
          a_type, b_type, result, a, b, out,
          in_chains<uint64_t>([](uint64_t x, uint64_t y, uint64_t sum) { return x * y + sum; }));
    case DTypeCategory::Complex:
    case DTypeCategory::ComplexInteger:
      break;
  }
  throw UnsupportedError(str("matmul of ", result.dtype, " is not supported yet"));
}

}  // namespace reprise
