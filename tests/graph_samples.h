// Inputs for graphs under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/difference.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/target.h"

namespace reprise {

using Bytes = std::vector<std::byte>;

/// Elements as they lie in memory.
template <class T>
[[nodiscard]] Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    std::copy_n(reinterpret_cast<const std::byte*>(&value), sizeof(T),
                bytes.data() + i * sizeof(T));
  }
  return bytes;
}
template <class T>
[[nodiscard]] std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::copy_n(bytes.data() + i * sizeof(T), sizeof(T), reinterpret_cast<std::byte*>(&value));
    values[i] = value;
  }
  return values;
}

/// Which values sample_elements() draws.
enum class Draw : uint8_t {
  Anything,  ///< NaN, infinities, zeros of both signs, denormals, extremes among common values
  Small,     ///< integers in [-1, 1], floats in (-2, 2)
};
/// `count` packed elements, the same for the same state of `random`.
[[nodiscard]] Bytes sample_elements(DType dtype, int64_t count, Draw draw, std::mt19937& random);

/// Memory for the leaves of one graph.
struct GraphInputs {
  std::vector<Bytes> storage;
  std::vector<const void*> pointers;  ///< to element 0 of each input
  std::vector<uint64_t> parameters;
};
/// Small values where an index is gathered by, else anything.
[[nodiscard]] GraphInputs sample_inputs(const Graph& graph, uint32_t seed);
[[nodiscard]] std::vector<Bytes> interpret(const Graph& graph, const GraphInputs& inputs,
                                           const Numerics& numerics = {});
/// For inputs without strides, given in order.
[[nodiscard]] std::vector<Bytes> interpret(const Graph& graph, const std::vector<Bytes>& inputs,
                                           const std::vector<uint64_t>& parameters = {});

}  // namespace reprise
