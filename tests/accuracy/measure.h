// Runs compiled kernels over many arguments and measures how far from the truth their results lie.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/dtype.h"
#include "ir/target.h"
#include "tests/accuracy/functions.h"

namespace reprise {

/// Which arguments are tried. A sparser choice tries some of a denser one's if `stride` is a
/// multiple of it. Every 16-bit float is tried always, and so is what lies around powers of 2.
struct ArgumentChoice {
  uint64_t stride = 64;  ///< f32: one bit pattern of so many
  int64_t per_binade =
      2000;  ///< f64: random ones of each sign and exponent; near 1 eight times more
  int64_t pairs = 10'000'000;  ///< of functions of two arguments
};

struct Accuracy {
  double most = 0;         ///< in units of the last place of the true result; infinite: NaN for a
                           ///< number, the wrong sign of a zero
  double at = 0, at2 = 0;  ///< the arguments there
  double mean = 0;         ///< over the results that are numbers and the true ones not zero
  int64_t arguments = 0;
  int64_t misrounded = 0;  ///< results more than half a unit off
  int64_t differing = 0;   ///< results whose bits scalar code gives otherwise
};

/// One for each target, all of which this machine must be able to run. `dtype` is a float.
[[nodiscard]] std::vector<Accuracy> measure(const TrueFunction& function, DType dtype,
                                            std::span<const TargetInfo> targets,
                                            const ArgumentChoice& choice);

}  // namespace reprise
