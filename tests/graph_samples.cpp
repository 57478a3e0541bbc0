// Inputs for graphs under test.
#include "graph_samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/scalar_interpreter.h"
#include "runtime/device.h"

namespace reprise {

namespace {

double draw_float(std::mt19937& random, Draw draw) {
  static constexpr double kSpecial[] = {
      0.0,    -0.0,     1.0,       -1.0,
      0.5,    HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN(),
      1e-3,   2.0,      1e-40,     65504,
      3.4e38, -1e10,    1e-310};
  const uint32_t word = random();
  if (draw == Draw::Anything && word % 3 == 0) return kSpecial[word / 3 % std::size(kSpecial)];
  return static_cast<double>(random()) * 0x1p-30 - 2;
}

uint64_t draw_integer(DType dtype, std::mt19937& random, Draw draw) {
  const uint32_t word = random();
  if (draw == Draw::Small) return static_cast<uint64_t>(static_cast<int64_t>(word % 3) - 1);
  switch (word % 4) {
    case 0:
      return static_cast<uint64_t>(min_integer(dtype));
    case 1:
      return max_integer(dtype);
    case 2:
      return static_cast<uint64_t>(static_cast<int64_t>(word / 4 % 17) - 8);
    default:
      return static_cast<uint64_t>(random()) << 32 | random();
  }
}

}  // namespace

Bytes sample_elements(DType dtype, int64_t count, Draw draw, std::mt19937& random) {
  if (is_pair(dtype)) return sample_elements(part_of(dtype), 2 * count, draw, random);
  const size_t width = size_of(dtype);
  Bytes bytes(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits =
        is_float(dtype)
            ? convert_bits(std::bit_cast<uint64_t>(draw_float(random, draw)), DType::F64, dtype)
        : dtype == DType::Bool ? random() % 2
                               : convert_bits(draw_integer(dtype, random, draw), DType::I64, dtype);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * width, &bits, width);
  }
  return bytes;
}

GraphInputs sample_inputs(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  const bool gathers =
      std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
        const OpKind kind = op_def(node.op).kind;
        return kind == OpKind::Gather || kind == OpKind::Scatter;
      });
  GraphInputs inputs;
  inputs.storage.resize(num_inputs(graph));
  inputs.pointers.resize(num_inputs(graph));
  inputs.parameters.resize(num_parameters(graph));
  for (const Node& node : graph.nodes()) {
    const DType dtype = node.type.dtype;
    const Draw draw = gathers && is_integer(dtype) ? Draw::Small : Draw::Anything;
    if (node.op == Op::Parameter) {
      const Bytes element = sample_elements(dtype, 1, draw, random);
      std::memcpy(&inputs.parameters[static_cast<size_t>(node.attrs.word(0))], element.data(),
                  element.size());
    }
    if (node.op != Op::Input) continue;
    const auto index = static_cast<size_t>(node.attrs.word(0));
    int64_t low = 0;
    int64_t high = 0;
    const std::span<const int64_t> strides = node.attrs.ints(1);
    const auto contiguous = node.type.shape.contiguous_strides();
    for (int axis = 0; axis < node.type.shape.rank(); ++axis) {
      const int64_t stride = strides.empty() ? contiguous[axis] : strides[axis];
      const int64_t reach = std::max<int64_t>(node.type.shape[axis] - 1, 0) * stride;
      (reach < 0 ? low : high) += reach;
    }
    inputs.storage[index] = sample_elements(dtype, high - low + 1, draw, random);
    inputs.pointers[index] =
        inputs.storage[index].data() + static_cast<size_t>(-low) * size_of(dtype);
  }
  return inputs;
}

std::vector<Bytes> interpret(const Graph& graph, const GraphInputs& inputs,
                             const Numerics& numerics) {
  return interpret(graph, numerics, inputs.pointers, inputs.parameters);
}

std::vector<Bytes> interpret(const Graph& graph, const std::vector<Bytes>& inputs,
                             const std::vector<uint64_t>& parameters) {
  std::vector<const void*> pointers;
  for (const Bytes& input : inputs) pointers.push_back(input.data());
  return interpret(graph, default_device().target().numerics, pointers, parameters);
}

}  // namespace reprise
