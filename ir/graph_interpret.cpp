// The reference evaluation of graphs: node by node, in the orders docs/SEMANTICS.md fixes.
#include <array>
#include <cstring>
#include <vector>

#include "ir/error.h"
#include "ir/graph.h"
#include "ir/reference.h"
#include "ir/reference_sequence.h"
#include "ir/scalar_interpreter.h"

namespace reprise {

namespace {

using Bytes = std::vector<std::byte>;

class GraphInterpreter {
 public:
  GraphInterpreter(Graph graph, const Numerics& numerics, std::span<const void* const> inputs,
                   std::span<const uint64_t> parameters)
      : graph_(std::move(graph)),
        numerics_(numerics),
        inputs_(inputs),
        parameters_(parameters),
        values_(graph_.size()),
        uses_(graph_.size()) {}

  std::vector<Bytes> run() {
    for (const Node& node : graph_.nodes()) {
      for (NodeId operand : node.operands) ++uses_[operand.index];
    }
    for (NodeId output : graph_.outputs()) ++uses_[output.index];
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_[NodeId{i}];
      evaluate(node, values_[i]);
      if (uses_[i] == 0) values_[i] = {};
      for (NodeId operand : node.operands) {
        if (--uses_[operand.index] == 0) values_[operand.index] = {};
      }
    }
    std::vector<Bytes> outputs;
    for (NodeId output : graph_.outputs()) {
      Bytes& value = values_[output.index];
      outputs.push_back(--uses_[output.index] == 0 ? std::move(value) : value);
    }
    return outputs;
  }

 private:
  void evaluate(const Node& node, Bytes& out) {
    const auto elements = static_cast<size_t>(node.type.shape.numel());
    out.resize(elements * size_of(node.type.dtype));
    const OpDef& def = op_def(node.op);
    switch (def.kind) {
      case OpKind::Leaf:
        return leaf(node, def, out);
      case OpKind::Elementwise:
        if (node.op == Op::Real || node.op == Op::Imag) return part(node, out);
        if (node.op == Op::Complex) return pair(node, out);
        return elementwise(node, def, out);
      case OpKind::Movement:
        return movement(node, def, out);
      case OpKind::Reduction:
        return reduction(node, def, out);
      case OpKind::Contraction:
        REPRISE_ASSERT(node.op == Op::Matmul);
        return reference_matmul(type(node, 0), type(node, 1), node.type, value(node, 0),
                                value(node, 1), numerics_, out.data());
      case OpKind::Gather:
        REPRISE_ASSERT(node.op == Op::Gather);
        return gather(node, out);
      case OpKind::Scan:
        return scan(node, out);
      case OpKind::Scatter:
        return scatter(node, out);
      case OpKind::Sort:
        return reference_argsort(type(node, 0), static_cast<int>(node.attrs.word(0)),
                                 value(node, 0), reinterpret_cast<int64_t*>(out.data()));
      case OpKind::Composite:
        break;
    }
    REPRISE_ASSERT(!"a composite is no node");
  }

  const TensorType& type(const Node& node, int i) const { return graph_[node.operands[i]].type; }
  const void* value(const Node& node, int i) const {
    return values_[node.operands[i].index].data();
  }
  std::vector<TensorType> operand_types(const Node& node) const {
    std::vector<TensorType> types;
    for (NodeId operand : node.operands) types.push_back(graph_[operand].type);
    return types;
  }

  /// Runs `body` over the node's elements; buffer k is operand k.
  void run_body(const Body& body, ScalarId result, const Node& node, Bytes& out) const {
    SmallVector<const void*, 4> operands;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      operands.push_back(value(node, static_cast<int>(i)));
    }
    run_body(body, result, node.type.shape, operands, out.data());
  }
  void run_body(const Body& body, ScalarId result, const Shape& shape,
                std::span<const void* const> operands, void* out) const {
    LaunchStatus status;
    evaluate_elementwise(body, numerics_, result, shape, operands, out, &status);
    if (status.failed != 0) {
      throw IndexError(
          str("index ", status.index, " is out of range for an axis of extent ", status.extent));
    }
  }

  /// One coefficient for each of `rank` axes, all zero.
  static Affine zero_index(int rank) {
    return {.offset = 0, .coefficients = std::vector<int64_t>(static_cast<size_t>(rank))};
  }
  static Affine axis_index(int rank, int axis, int64_t coefficient = 1, int64_t offset = 0) {
    Affine affine = zero_index(rank);
    affine.offset = offset;
    affine.coefficients[static_cast<size_t>(axis)] = coefficient;
    return affine;
  }
  /// The element of a contiguous `operand` that NumPy's broadcast puts at a place of `result`.
  static Affine broadcast_index(const Shape& operand, const Shape& result) {
    Affine affine = zero_index(result.rank());
    const auto strides = operand.contiguous_strides();
    const int shift = result.rank() - operand.rank();
    for (int axis = 0; axis < operand.rank(); ++axis) {
      if (operand[axis] != 1)
        affine.coefficients[static_cast<size_t>(axis + shift)] = strides[axis];
    }
    return affine;
  }
  static ScalarId load(ScalarBuilder& scalar, uint32_t buffer, Affine index, DType dtype,
                       ScalarId mask = {}, ScalarId dynamic = {}) {
    return scalar.load({.buffer = BufferId{buffer}, .index = std::move(index), .dynamic = dynamic},
                       dtype, mask);
  }

  void leaf(const Node& node, const OpDef& def, Bytes& out) const {
    if (node.op == Op::Input) return input(node, out);
    if (node.op == Op::Parameter) {
      const auto index = static_cast<size_t>(node.attrs.word(0));
      REPRISE_ASSERT(index < parameters_.size());
      std::memcpy(out.data(), &parameters_[index], out.size());
      return;
    }
    if (node.op == Op::Constant) {
      const uint64_t bits =
          convert_bits(static_cast<uint64_t>(node.attrs.word(0)), DType::F64, node.type.dtype);
      std::memcpy(out.data(), &bits, out.size());
      return;
    }
    REPRISE_ASSERT(def.lower_leaf != nullptr);
    Body body;
    ScalarBuilder scalar(body);
    const int rank = node.type.shape.rank();
    const std::vector<TensorType> types = operand_types(node);
    SmallVector<ScalarId, 4> operands;
    for (uint32_t i = 0; i < types.size(); ++i) {
      operands.push_back(load(scalar, i, zero_index(rank), types[i].dtype));
    }
    SmallVector<ScalarId, kMaxDims> indices;
    for (int axis = 0; axis < rank; ++axis) indices.push_back(scalar.index(axis_index(rank, axis)));
    const ScalarId result = def.lower_leaf(scalar, operands, indices, context(node, types));
    run_body(body, result, node, out);
  }

  void input(const Node& node, Bytes& out) const {
    const auto index = static_cast<size_t>(node.attrs.word(0));
    REPRISE_ASSERT(index < inputs_.size());
    const std::span<const int64_t> strides = node.attrs.ints(1);
    if (strides.empty()) {
      // Any nonzero byte reads as true, so bools go through a load.
      if (node.type.dtype != DType::Bool) {
        if (!out.empty()) std::memcpy(out.data(), inputs_[index], out.size());
        return;
      }
    }
    const int rank = node.type.shape.rank();
    Affine affine = zero_index(rank);
    const auto contiguous = node.type.shape.contiguous_strides();
    for (int axis = 0; axis < rank; ++axis) {
      affine.coefficients[axis] = strides.empty() ? contiguous[axis] : strides[axis];
    }
    const void* const storage[] = {inputs_[index]};
    if (is_pair(node.type.dtype)) return input_pairs(node, affine, storage, out);
    Body body;
    ScalarBuilder scalar(body);
    const DType read = node.type.dtype == DType::Bool ? DType::U8 : node.type.dtype;
    ScalarId element = load(scalar, 0, std::move(affine), read);
    if (read != node.type.dtype) {
      element = scalar.binary(ScalarOp::Ne, element, scalar.integer(0, read));
    }
    run_body(body, element, node.type.shape, storage, out.data());
  }

  /// Both parts, each through its own places in the storage.
  void input_pairs(const Node& node, const Affine& place, std::span<const void* const> storage,
                   Bytes& out) const {
    const DType dtype = part_of(node.type.dtype);
    std::array<Bytes, 2> parts;
    for (int64_t k = 0; k < 2; ++k) {
      Affine affine = place;
      affine.offset = k;
      for (int64_t& coefficient : affine.coefficients) coefficient *= 2;
      Body body;
      ScalarBuilder scalar(body);
      const ScalarId element = load(scalar, 0, std::move(affine), dtype);
      parts[k].resize(out.size() / 2);
      run_body(body, element, node.type.shape, storage, parts[k].data());
    }
    interleave(parts[0], parts[1], size_of(dtype), out);
  }

  static void interleave(const Bytes& real, const Bytes& imag, size_t width, Bytes& out) {
    for (size_t at = 0; at < real.size(); at += width) {
      std::memcpy(out.data() + 2 * at, real.data() + at, width);
      std::memcpy(out.data() + 2 * at + width, imag.data() + at, width);
    }
  }

  void part(const Node& node, Bytes& out) const {
    const size_t width = size_of(node.type.dtype);
    const auto* from = static_cast<const std::byte*>(value(node, 0));
    if (node.op == Op::Imag) from += width;
    for (size_t at = 0; at < out.size(); at += width) {
      std::memcpy(out.data() + at, from + 2 * at, width);
    }
  }

  void pair(const Node& node, Bytes& out) const {
    // Parts have their pair's shape (`split_pairs`).
    REPRISE_ASSERT(type(node, 0).shape == node.type.shape &&
                   type(node, 1).shape == node.type.shape);
    interleave(values_[node.operands[0].index], values_[node.operands[1].index],
               size_of(type(node, 0).dtype), out);
  }

  static OpContext context(const Node& node, std::span<const TensorType> types) {
    return {.op = node.op, .operands = types, .attrs = node.attrs, .result = &node.type};
  }

  void elementwise(const Node& node, const OpDef& def, Bytes& out) const {
    Body body;
    ScalarBuilder scalar(body);
    const std::vector<TensorType> types = operand_types(node);
    SmallVector<ScalarId, 4> operands;
    for (uint32_t i = 0; i < types.size(); ++i) {
      operands.push_back(
          load(scalar, i, broadcast_index(types[i].shape, node.type.shape), types[i].dtype));
    }
    run_body(body, def.lower(scalar, operands, context(node, types)), node, out);
  }

  void movement(const Node& node, const OpDef& def, Bytes& out) const {
    const TensorType& operand = type(node, 0);
    const int rank = node.type.shape.rank();
    const auto strides = operand.shape.contiguous_strides();
    Affine affine = zero_index(rank);
    Body body;
    ScalarBuilder scalar(body);
    ScalarId mask;
    switch (def.movement) {
      case Movement::Reshape:
        if (!out.empty()) std::memcpy(out.data(), value(node, 0), out.size());
        return;
      case Movement::Broadcast:
        affine = broadcast_index(operand.shape, node.type.shape);
        break;
      case Movement::Permute: {
        const std::span<const int64_t> order = node.attrs.ints(0);
        for (int axis = 0; axis < rank; ++axis) affine.coefficients[axis] = strides[order[axis]];
        break;
      }
      case Movement::Slice: {
        const std::span<const int64_t> starts = node.attrs.ints(0);
        const std::span<const int64_t> steps = node.attrs.ints(1 + rank);
        for (int axis = 0; axis < rank; ++axis) {
          affine.offset += starts[axis] * strides[axis];
          if (node.type.shape[axis] > 1) affine.coefficients[axis] = steps[axis] * strides[axis];
        }
        break;
      }
      case Movement::Pad: {
        const std::span<const int64_t> low = node.attrs.ints(0);
        for (int axis = 0; axis < rank; ++axis) {
          affine.offset -= low[axis] * strides[axis];
          affine.coefficients[axis] = strides[axis];
          const ScalarId place = scalar.index(axis_index(rank, axis, 1, -low[axis]));
          const ScalarId inside =
              scalar.binary(ScalarOp::And, scalar.le(scalar.integer(0, DType::I64), place),
                            scalar.lt(place, scalar.integer(operand.shape[axis], DType::I64)));
          mask = mask.valid() ? scalar.binary(ScalarOp::And, mask, inside) : inside;
        }
        break;
      }
      case Movement::Window: {
        const int own = operand.shape.rank();
        const int windows = rank - own;
        const std::span<const int64_t> steps = node.attrs.ints(1 + windows);
        const std::span<const int64_t> dilations = node.attrs.ints(2 + 2 * windows);
        for (int axis = 0; axis < own; ++axis) {
          const int window = axis - (own - windows);
          affine.coefficients[axis] = strides[axis] * (window < 0 ? 1 : steps[window]);
          if (window >= 0) affine.coefficients[own + window] = strides[axis] * dilations[window];
        }
        break;
      }
    }
    const ScalarId element = load(scalar, 0, std::move(affine), operand.dtype, mask);
    run_body(body, element, node, out);
  }

  void gather(const Node& node, Bytes& out) const {
    const TensorType& data = type(node, 0);
    const TensorType& indices = type(node, 1);
    const auto axis = static_cast<int>(node.attrs.word(0));
    const int rank = node.type.shape.rank();
    const auto data_strides = data.shape.contiguous_strides();
    const auto index_strides = indices.shape.contiguous_strides();
    Affine from_data = zero_index(rank);
    Affine from_indices = zero_index(rank);
    for (int i = 0; i < rank; ++i) {
      if (i < axis) {
        from_data.coefficients[i] = data_strides[i];
      } else if (i < axis + indices.shape.rank()) {
        from_indices.coefficients[i] = index_strides[i - axis];
      } else {
        from_data.coefficients[i] = data_strides[i - indices.shape.rank() + 1];
      }
    }
    Body body;
    ScalarBuilder scalar(body);
    const ScalarId raw =
        scalar.cast(load(scalar, 1, std::move(from_indices), indices.dtype), DType::I64);
    const int64_t extent = data.shape[axis];
    const ScalarId checked = scalar.check_index_from_end(raw, extent);
    const ScalarId dynamic = scalar.mul(checked, scalar.integer(data_strides[axis], DType::I64));
    const ScalarId element = load(scalar, 0, std::move(from_data), data.dtype, {}, dynamic);
    run_body(body, element, node, out);
  }

  void scan(const Node& node, Bytes& out) const {
    SmallVector<const void*, 2> operands;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      operands.push_back(value(node, static_cast<int>(k)));
    }
    reference_scan(node.op, node.attrs, type(node, 0).dtype, node.type, operands, numerics_,
                   out.data());
  }

  void scatter(const Node& node, Bytes& out) const {
    // Where nothing is written, no index counts.
    const bool writes = type(node, 2).shape.numel() != 0;
    const int64_t extent = node.type.shape[static_cast<int>(node.attrs.word(0))];
    const std::vector<int64_t> rows =
        writes ? checked_indices(type(node, 1), value(node, 1), extent) : std::vector<int64_t>();
    reference_scatter(node.op, node.attrs, node.type, value(node, 0), rows, value(node, 2),
                      numerics_, out.data());
  }

  /// Indices counted from the start; throws IndexError where one is out of range.
  std::vector<int64_t> checked_indices(const TensorType& type, const void* indices,
                                       int64_t extent) const {
    Body body;
    ScalarBuilder scalar(body);
    const ScalarId raw = scalar.cast(
        load(scalar, 0, broadcast_index(type.shape, type.shape), type.dtype), DType::I64);
    const ScalarId checked = scalar.check_index_from_end(raw, extent);
    std::vector<int64_t> result(static_cast<size_t>(type.shape.numel()));
    run_body(body, checked, type.shape, {&indices, 1}, result.data());
    return result;
  }

  void reduction(const Node& node, const OpDef& def, Bytes& out) const {
    const TensorType& operand = type(node, 0);
    const auto axes = static_cast<uint64_t>(node.attrs.word(0));
    const auto strides = operand.shape.contiguous_strides();
    // Rows of what one result element folds: kept axes first, then the reduced ones.
    SmallVector<int64_t, kMaxDims> extents;
    Affine affine;
    int64_t rows = 1;
    int64_t columns = 1;
    for (const bool reduced : {false, true}) {
      for (int axis = 0; axis < operand.shape.rank(); ++axis) {
        if ((axes >> axis & 1) != (reduced ? 1u : 0u)) continue;
        extents.push_back(operand.shape[axis]);
        affine.coefficients.push_back(strides[axis]);
        (reduced ? columns : rows) *= operand.shape[axis];
      }
    }
    const bool argument = def.reduce == ReduceKind::ArgMin || def.reduce == ReduceKind::ArgMax;
    const DType accumulator =
        argument ? operand.dtype : reference_accumulator(def.reduce, node.type.dtype);
    Body body;
    ScalarBuilder scalar(body);
    const ScalarId element =
        scalar.cast(load(scalar, 0, std::move(affine), operand.dtype), accumulator);
    const void* const storage[] = {value(node, 0)};
    Bytes lines(static_cast<size_t>(operand.shape.numel()) * size_of(accumulator));
    run_body(body, element, Shape(extents), storage, lines.data());
    const size_t width = size_of(accumulator);
    const size_t out_width = size_of(node.type.dtype);
    for (int64_t row = 0; row < rows; ++row) {
      const std::byte* line = lines.data() + static_cast<size_t>(row * columns) * width;
      const uint64_t bits =
          argument
              ? static_cast<uint64_t>(reference_argument(def.reduce, accumulator, line, columns))
              : convert_bits(reference_reduce(def.reduce, accumulator, line, columns), accumulator,
                             node.type.dtype);
      std::memcpy(out.data() + static_cast<size_t>(row) * out_width, &bits, out_width);
    }
  }

  const Graph graph_;
  const Numerics& numerics_;
  std::span<const void* const> inputs_;
  std::span<const uint64_t> parameters_;
  std::vector<Bytes> values_;
  std::vector<uint32_t> uses_;  ///< how often a value is still needed
};

}  // namespace

std::vector<std::vector<std::byte>> interpret(const Graph& graph, const Numerics& numerics,
                                              std::span<const void* const> inputs,
                                              std::span<const uint64_t> parameters) {
  return GraphInterpreter(split_pairs(expand(graph), {}), numerics, inputs, parameters).run();
}

}  // namespace reprise
