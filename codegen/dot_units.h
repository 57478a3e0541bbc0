// Contractions of narrow numbers: several steps of the depth in each 32-bit lane.
#pragma once

#include <string>

#include "codegen/analysis.h"

namespace reprise::codegen {

/// Behind the casts of `root` the narrowest integer that it holds.
[[nodiscard]] inline ScalarId narrow_source(const Body& body, ScalarId root) {
  while (body[root].op == ScalarOp::Cast) {
    const ScalarId from = body[root].args[0];
    const DType narrow = body[from].dtype, wide = body[root].dtype;
    const bool keeps =
        size_of(narrow) < size_of(wide) && (is_signed_integer(wide) || !is_signed_integer(narrow));
    if (!is_integer(narrow) || !is_integer(wide) || !keeps) break;
    root = from;
  }
  return root;
}

/// How a target multiplies the factors of a contraction. A unit is what one 32-bit lane of a packed
/// factor holds: `group` consecutive values of the depth, the last unit filled up with zeros. One
/// instruction multiplies units and adds all their products to a sum.
struct DotUnits {
  DotUnits(const Stage& stage, const ContractionLoops& loops, const TargetInfo& target) {
    const Reduction& dot = stage.reductions[0];
    sum = element = dot.dtype;
    scalars = loops.scalar_root(dot);
    vectors = loops.vector_root(dot);
    if (stage.body[scalars].dtype == DType::BF16) {
      group = 2;
      element = DType::BF16;
      return;
    }
    if (!is_integer(dot.dtype) || size_of(dot.dtype) > 4) return;
    // Sums that wrap at 32 bits or fewer: what is folded may be the narrow values themselves.
    const ScalarId narrow_scalars = narrow_source(stage.body, scalars);
    const ScalarId narrow_vectors = narrow_source(stage.body, vectors);
    const DType a = stage.body[narrow_scalars].dtype, b = stage.body[narrow_vectors].dtype;
    const bool wraps_early = size_of(dot.dtype) <= 2;
    if (!fits_16_bits(a, wraps_early) || !fits_16_bits(b, wraps_early)) return;
    scalars = narrow_scalars;
    vectors = narrow_vectors;
    sum = DType::I32;
    const bool bytes = size_of(a) == 1 && size_of(b) == 1;
    const bool signed_scalars = a == DType::I8 || size_of(dot.dtype) == 1;
    if (bytes && signed_scalars && target.features.find("+avx512vnni") != std::string::npos) {
      group = 4;
      element = DType::I8;
      // The instruction takes the vectors as unsigned. Sums of one byte do not see the difference.
      biased = b == DType::I8 && size_of(dot.dtype) > 1;
    } else {
      group = 2;
      element = DType::I16;
    }
  }

  int group = 1;              ///< 1: factors are multiplied as they are
  DType element;              ///< of the values in a unit
  DType sum;                  ///< of the sums; the contraction's own is reached by wrapping
  bool biased = false;        ///< 128 is added to the vectors, and taken out of the sums again
  ScalarId scalars, vectors;  ///< the values that units are made of

 private:
  static bool fits_16_bits(DType dtype, bool wraps_early) {
    return size_of(dtype) == 1 || dtype == DType::I16 || (wraps_early && dtype == DType::U16);
  }
};

}  // namespace reprise::codegen
