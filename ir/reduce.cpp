// The orders of evaluation: 64 strided partials and a halving tree, a chain for contractions.
#include "ir/reduce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/error.h"
#include "ir/float16.h"
#include "ir/scalar_arithmetic.h"
#include "ir/scalar_interpreter.h"

namespace reprise {
namespace {

ScalarOp combination(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
      return ScalarOp::Add;
    case ReduceKind::Prod:
      return ScalarOp::Mul;
    case ReduceKind::Min:
      return ScalarOp::Min;
    case ReduceKind::Max:
      return ScalarOp::Max;
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
    case ReduceKind::Dot:
      break;
  }
  throw InternalError("internal error: this reduction has no partials");
}

uint64_t read_element(const void* values, size_t bytes, int index) {
  uint64_t word = 0;
  std::memcpy(&word, static_cast<const std::byte*>(values) + index * bytes, bytes);
  return word;
}

template <class T>
uint64_t chain(uint64_t bits, const T* a, const T* b, int count, bool fused) {
  T sum;
  std::memcpy(&sum, &bits, sizeof sum);
  for (int i = 0; i < count; ++i) sum = fused ? std::fma(a[i], b[i], sum) : a[i] * b[i] + sum;
  bits = 0;
  std::memcpy(&bits, &sum, sizeof sum);
  return bits;
}

/// A zero of the same sign for a denormal number.
float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

}  // namespace

float add_bf16_pair(float sum, float a, float b, float next_a, float next_b) {
  sum = flushed(std::fma(flushed(next_a), flushed(next_b), flushed(sum)));
  return flushed(std::fma(flushed(a), flushed(b), sum));
}

Fold::Fold(ReduceKind kind, DType dtype, DType value, const Numerics& numerics)
    : kind_(kind), dtype_(dtype), value_(value), numerics_(numerics), partials_(kReducePartials) {}

void Fold::take(const void* values, const void* values2, int first, int count) {
  switch (kind_) {
    case ReduceKind::Sum:
    case ReduceKind::Prod:
    case ReduceKind::Min:
    case ReduceKind::Max:
      return take_partials(static_cast<const std::byte*>(values) + first * size_of(value_), count);
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return take_extremes(values, first, count);
    case ReduceKind::Dot:
      return take_products(values, values2, first, count);
  }
}

void Fold::take_partials(const std::byte* values, int count) {
  const size_t bytes = size_of(dtype_);
  std::byte* partials = reinterpret_cast<std::byte*>(partials_.data());
  while (count > 0) {
    const int partial = static_cast<int>(taken_ % kReducePartials);
    const int run = std::min(count, kReducePartials - partial);
    std::byte* target = partials + partial * bytes;
    if (taken_ < kReducePartials) {
      std::memcpy(target, values, run * bytes);
    } else {
      std::array<uint64_t, kReducePartials> sums;
      const void* const args[3] = {target, values, nullptr};
      evaluate_lanes(combination(kind_), dtype_, dtype_, args, sums.data(), run, numerics_);
      std::memcpy(target, sums.data(), run * bytes);
    }
    values += run * bytes;
    taken_ += run;
    count -= run;
  }
}

void Fold::take_extremes(const void* values, int first, int count) {
  const size_t bytes = size_of(value_);
  const auto is_nan = [&](uint64_t bits) {
    return is_float(value_) && evaluate_bits(ScalarOp::Ne, DType::Bool, value_, bits, bits) != 0;
  };
  for (int i = 0; i < count; ++i, ++taken_) {
    const uint64_t bits = read_element(values, bytes, first + i);
    if (taken_ > 0) {
      if (is_nan(best_)) continue;
      const bool max = kind_ == ReduceKind::ArgMax;
      const bool better = evaluate_bits(ScalarOp::Lt, DType::Bool, value_, max ? best_ : bits,
                                        max ? bits : best_) != 0;
      if (!better && !is_nan(bits)) continue;
    }
    best_ = bits;
    index_ = taken_;
  }
}

void Fold::take_products(const void* values, const void* values2, int first, int count) {
  if (value_ == DType::BF16) {
    return take_bf16(static_cast<const uint16_t*>(values) + first,
                     static_cast<const uint16_t*>(values2) + first, count);
  }
  taken_ += count;
  if (dtype_ == DType::F32) {
    best_ = chain(best_, static_cast<const float*>(values) + first,
                  static_cast<const float*>(values2) + first, count, numerics_.fma);
  } else if (dtype_ == DType::F64) {
    best_ = chain(best_, static_cast<const double*>(values) + first,
                  static_cast<const double*>(values2) + first, count, numerics_.fma);
  } else {
    const size_t bytes = size_of(dtype_);
    for (int i = 0; i < count; ++i) {
      best_ = evaluate_bits(ScalarOp::Fma, dtype_, dtype_, read_element(values, bytes, first + i),
                            read_element(values2, bytes, first + i), best_, numerics_);
    }
  }
}

void Fold::take_bf16(const uint16_t* a, const uint16_t* b, int count) {
  float sum = std::bit_cast<float>(static_cast<uint32_t>(best_));
  for (int i = 0; i < count; ++i, ++taken_) {
    const float x = float_from_bf16(a[i]), y = float_from_bf16(b[i]);
    if (!numerics_.bf16_pairs) {
      sum = numerics_.fma ? std::fma(x, y, sum) : x * y + sum;
    } else if (taken_ % 2 == 0) {
      waiting_[0] = x;
      waiting_[1] = y;
    } else {
      sum = add_bf16_pair(sum, waiting_[0], waiting_[1], x, y);
    }
  }
  best_ = std::bit_cast<uint32_t>(sum);
}

uint64_t Fold::finish() {
  const int64_t taken = taken_;
  taken_ = 0;
  switch (kind_) {
    case ReduceKind::Dot: {
      if (value_ == DType::BF16 && numerics_.bf16_pairs && taken % 2 != 0) {
        const float sum = std::bit_cast<float>(static_cast<uint32_t>(best_));
        best_ = std::bit_cast<uint32_t>(add_bf16_pair(sum, waiting_[0], waiting_[1], 0, 0));
      }
      const uint64_t sum = best_;
      best_ = 0;
      return sum;
    }
    case ReduceKind::ArgMin:
    case ReduceKind::ArgMax:
      return taken == 0 ? 0 : static_cast<uint64_t>(index_);
    case ReduceKind::Sum:
    case ReduceKind::Prod:
    case ReduceKind::Min:
    case ReduceKind::Max:
      break;
  }
  if (taken == 0) return reduce_identity(kind_, dtype_);
  const size_t bytes = size_of(dtype_);
  std::byte* partials = reinterpret_cast<std::byte*>(partials_.data());
  int active = static_cast<int>(std::min<int64_t>(taken, kReducePartials));
  for (int half = kReducePartials / 2; half > 0; half /= 2) {
    if (active <= half) continue;
    std::array<uint64_t, kReducePartials> sums;
    const void* const args[3] = {partials, partials + half * bytes, nullptr};
    evaluate_lanes(combination(kind_), dtype_, dtype_, args, sums.data(), active - half, numerics_);
    std::memcpy(partials, sums.data(), (active - half) * bytes);
    active = half;
  }
  return read_element(partials, bytes, 0);
}

}  // namespace reprise
