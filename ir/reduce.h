// Folding of values in the order that a Reduction defines.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "ir/target.h"

namespace reprise {

/// What a target's dot-product instruction for bf16 adds to a sum, exact products of a pair of k:
/// the later one first, each with one rounding. Denormal numbers count as zeros of their sign, in
/// and out.
[[nodiscard]] float add_bf16_pair(float sum, float a, float b, float next_a, float next_b);

/// Takes the elements of one reduction in ascending order, a run at a time, then gives the result
/// and starts anew. Half accumulators are allowed for Min and Max only.
class Fold {
 public:
  /// `value`: dtype of what is folded; it differs from `dtype` for ArgMin and ArgMax, and where bf16
  /// is multiplied.
  Fold(ReduceKind kind, DType dtype, DType value, const Numerics& numerics);

  /// Takes `count` elements from `values` (and `values2`, for Dot), beginning at element `first`.
  void take(const void* values, const void* values2, int first, int count);
  /// The result as raw bits.
  [[nodiscard]] uint64_t finish();

 private:
  void take_partials(const std::byte* values, int count);
  void take_extremes(const void* values, int first, int count);
  void take_products(const void* values, const void* values2, int first, int count);
  void take_bf16(const uint16_t* a, const uint16_t* b, int count);

  ReduceKind kind_;
  DType dtype_, value_;
  Numerics numerics_;
  int64_t taken_ = 0;
  float waiting_[2] = {};           ///< bf16 pairs: the first product's factors
  uint64_t best_ = 0;               ///< ArgMin, ArgMax: bits of the extreme so far; Dot: the sum
  int64_t index_ = 0;               ///< ArgMin, ArgMax
  std::vector<uint64_t> partials_;  ///< packed elements
};

}  // namespace reprise
