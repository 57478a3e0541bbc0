// Random tensors: Philox 4x32-10, counter-based.
//
// Counters are reserved when an op is recorded, so that one seed gives the same numbers on every
// device, with any number of threads, and whether or not they are used. A replay draws fresh ones.
// Draws come from the global stream unless a generator is given.
#pragma once

#include <cstdint>

#include "frontend/tensor.h"

namespace reprise {

/// Starts the global stream anew.
void set_seed(uint64_t seed);

/// A stream of its own. Its place is a tensor that each draw moves on, recorded like any assign, so
/// that draws of a frozen step go on at each replay. Copies share the place. Not for use from
/// several threads at once.
class Generator {
 public:
  explicit Generator(uint64_t seed);

  /// The key, and the first of `count` counters that nobody else gets.
  struct Draw {
    Tensor key, counter;  ///< u64[]
  };
  [[nodiscard]] Draw take(uint64_t count);

 private:
  Tensor key_, counter_;
};

/// Uniform in [0, 1).
[[nodiscard]] Tensor rand(const Shape& shape, DType dtype = DType::F32,
                          Generator* generator = nullptr);
/// Standard normal.
[[nodiscard]] Tensor randn(const Shape& shape, DType dtype = DType::F32,
                           Generator* generator = nullptr);
/// Uniform between low and high. Throws Error unless low <= high and the dtype holds both and their
/// distance.
[[nodiscard]] Tensor uniform(const Shape& shape, Number low, Number high, DType dtype = DType::F32,
                             Generator* generator = nullptr);
/// Integers in [low, high). Throws Error when there are none, DTypeError when the dtype does not
/// hold them.
[[nodiscard]] Tensor randint(const Shape& shape, int64_t low, int64_t high,
                             DType dtype = DType::I64, Generator* generator = nullptr);
/// Waiting times with mean 1 / rate.
[[nodiscard]] Tensor exponential(const Shape& shape, Number rate = 1.0, DType dtype = DType::F32,
                                 Generator* generator = nullptr);
/// Standard normal between low and high, which nothing is moved to: the tails are cut off. Throws
/// Error unless low < high.
[[nodiscard]] Tensor truncated_normal(const Shape& shape, double low = -2, double high = 2,
                                      DType dtype = DType::F32, Generator* generator = nullptr);
/// 1 with the probability that each element of `p` is, else 0, in p's dtype.
[[nodiscard]] Tensor bernoulli(const Tensor& p, Generator* generator = nullptr);
/// 0 to n - 1 in random order, or x's positions along an axis.
[[nodiscard]] Tensor permutation(int64_t n, Generator* generator = nullptr);
[[nodiscard]] Tensor permutation(const Tensor& x, int64_t axis = 0, Generator* generator = nullptr);
/// For each row of weights (.., k), which need not sum to 1, `count` of its positions as i64 (..,
/// count), as likely as they weigh. Without replacement no position comes twice; throws Error where
/// there are fewer than `count`. Reading them throws IndexError (of index -1) for a row with a weight
/// that is negative or not finite, or with too few that are positive.
enum class Replacement : uint8_t { No, Yes };
[[nodiscard]] Tensor multinomial(const Tensor& weights, int64_t count,
                                 Replacement replacement = Replacement::No,
                                 Generator* generator = nullptr);

}  // namespace reprise
