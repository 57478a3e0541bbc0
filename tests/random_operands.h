// What random programs draw their operands from: dtypes, shapes, leaves and the values so far.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "ir/builder.h"

namespace reprise {

/// A graph under construction and the draws that go into it, the same for the same seed.
class RandomOperands {
 public:
  explicit RandomOperands(uint64_t seed);

 protected:
  [[nodiscard]] int64_t below(int64_t bound);
  bool one_in(int64_t n) { return below(n) == 0; }
  [[nodiscard]] DType any_dtype();
  [[nodiscard]] DType any_pair();
  int64_t extent() { return one_in(6) ? 1 + below(9) : extents_[below(std::size(extents_))]; }
  [[nodiscard]] Shape random_shape();
  /// Late values mostly: they make deep graphs. Earlier ones make shared subexpressions.
  [[nodiscard]] Value any();
  [[nodiscard]] Value any_of_rank(int rank);
  /// False for a value that is too large.
  bool keep(Value v);
  Value parameter(DType dtype) { return b_.parameter(dtype, num_parameters_++); }
  /// By value: the type may be a node's, which moves when a constant is recorded.
  [[nodiscard]] Value new_leaf(TensorType type);
  /// Axes in any order, gaps, backward axes, and axes along which an element repeats.
  [[nodiscard]] std::vector<int64_t> random_strides(const Shape& shape);
  [[nodiscard]] std::vector<int> shuffled(int count);
  /// A value that broadcasts with `shape`: `v` where it does, else a leaf with some axes of 1.
  [[nodiscard]] Value fitting(Value v, const Shape& shape, DType dtype);
  /// Integers in [-extent, extent), or from 0.
  [[nodiscard]] Value indices_below(int64_t extent, const Shape& shape, int64_t lowest);

  std::mt19937_64 random_;
  Graph graph_;
  GraphBuilder b_{graph_};
  int64_t max_numel_ = 0;             ///< elements of one value, at most
  std::array<int64_t, 3> extents_{};  ///< few, and few dtypes, so that values meet
  std::array<DType, 2> dtypes_{};
  std::vector<Value> values_;

 private:
  uint32_t num_inputs_ = 0;
  uint32_t num_parameters_ = 0;
};

}  // namespace reprise
