// Draws ops from the table and operands that fit them; what an op refuses is drawn again.
#include "random_program.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"
#include "tests/random_operands.h"

namespace reprise {

namespace {

/// Nodes at most; gradients of gradients grow fast.
constexpr uint32_t kMaxNodes = 70;

struct Weight {
  OpKind kind;
  int weight;
};
constexpr Weight kWeights[] = {{OpKind::Leaf, 4},        {OpKind::Elementwise, 40},
                               {OpKind::Reduction, 12},  {OpKind::Movement, 20},
                               {OpKind::Contraction, 6}, {OpKind::Gather, 4},
                               {OpKind::Scatter, 4},     {OpKind::Scan, 4},
                               {OpKind::Sort, 2},        {OpKind::Composite, 10}};
constexpr int kGradientWeight = 4;

class ProgramSketch : private RandomOperands {
 public:
  using RandomOperands::RandomOperands;

  Program run() {
    for (int64_t i = 1 + below(3); i > 0; --i) keep(new_leaf({dtypes_[0], random_shape()}));
    int64_t ops = one_in(10) ? 10 + below(20) : 2 + std::min(below(10), below(14));
    for (int tries = 0; ops > 0 && tries < 100 && graph_.size() < kMaxNodes; ++tries) {
      try {
        if (add_op()) --ops;
      } catch (const Error&) {
        // Operands that the op does not take; the next draw is another one.
      }
    }
    return finished();
  }

 private:
  Op any_op(OpKind kind) {
    for (;;) {
      const Op op = static_cast<Op>(below(num_ops()));
      if (op_def(op).kind == kind) return op;
    }
  }
  bool add_op() {
    int total = kGradientWeight;
    for (const Weight& w : kWeights) total += w.weight;
    int64_t draw = below(total);
    for (const auto& [kind, weight] : kWeights) {
      if (draw < weight) return add(any_op(kind), kind);
      draw -= weight;
    }
    return add_gradient();
  }
  bool add(Op op, OpKind kind) {
    switch (kind) {
      case OpKind::Leaf:
        return add_leaf(op);
      case OpKind::Elementwise:
        return add_elementwise(op);
      case OpKind::Reduction:
        return add_reduction(op);
      case OpKind::Movement:
        return add_movement(op);
      case OpKind::Contraction:
        return op == Op::Convolution ? add_convolution() : add_matmul();
      case OpKind::Gather:
        return add_gather();
      case OpKind::Scatter:
        return add_scatter(op);
      case OpKind::Scan:
        return add_scan(op);
      case OpKind::Sort:
        return add_sort(op);
      case OpKind::Composite:
        return add_composite(op);
    }
    return false;
  }

  bool add_leaf(Op op) {
    if (op != Op::RandomBits) return keep(new_leaf({any_dtype(), random_shape()}));
    const TensorType type{DType::U32, random_shape()};
    return keep(b_.record(op, {parameter(DType::U64), parameter(DType::U64)}, {}, &type));
  }

  /// Whether the op takes operands of this dtype. `attrs` as the op will get them.
  bool takes(Op op, DType dtype, const Attrs& attrs) {
    const OpDef& def = op_def(op);
    std::vector<TensorType> types(static_cast<size_t>(def.min_operands), {dtype, {}});
    if (op == Op::Where) types[0].dtype = DType::Bool;
    if (op == Op::Ldexp) types[1].dtype = DType::I64;
    try {
      (void)def.infer({.op = op, .operands = types, .attrs = attrs});
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  bool add_elementwise(Op op) {
    const OpDef& def = op_def(op);
    Attrs attrs;
    if (op == Op::Cast || op == Op::Bitcast) attrs.add_type(any_dtype());
    if (op == Op::Gelu) attrs.add_int(below(2));
    if (op == Op::Polygamma) attrs.add_int(1 + below(4));
    if (op == Op::CheckIndex) {
      const int64_t extent = 1 + below(300);
      const Value index = indices_below(extent, b_.shape(any()), 0);
      return keep(b_.record(op, {index}, Attrs().add_int(extent)));
    }
    const Value first = any();
    DType dtype = b_.dtype(first);
    for (int tries = 0; !takes(op, dtype, attrs); ++tries) {
      if (tries == 50) return false;
      dtype = any_dtype();
    }
    const Shape shape = b_.shape(first);
    std::vector<Value> operands{b_.cast(first, dtype)};
    while (std::ssize(operands) < def.min_operands) {
      operands.push_back(fitting(any(), shape, dtype));
    }
    if (op == Op::Where) operands[0] = b_.cast(operands[0], DType::Bool);
    if (operands.size() == 2 && one_in(2)) std::swap(operands[0], operands[1]);
    // A weak number beside a tensor: a parameter.
    if (operands.size() > 1 && one_in(4) && !is_pair(dtype)) {
      operands[static_cast<size_t>(1 + below(static_cast<int64_t>(operands.size()) - 1))] =
          parameter(dtype);
    }
    if (op == Op::Ldexp) operands[1] = b_.cast(operands[1], DType::I64);
    // The bits of a NaN are nobody's promise.
    if (op == Op::CopySign || op == Op::SignBit || op == Op::Bitcast) {
      for (Value& operand : operands) operand = without_nan(operand);
    }
    return keep(b_.record(op, operands, attrs));
  }
  Value without_nan(Value x) {
    if (!is_float(b_.dtype(x))) return x;
    const Value is_nan = b_.record(Op::NotEqual, {x, x});
    return b_.where(is_nan, b_.constant(0, b_.dtype(x)), x);
  }

  bool add_scan(Op op) {
    const Value x = any_of_rank(1);
    const TensorType type = b_.type(x);
    std::vector<Value> operands{x};
    while (std::ssize(operands) < op_def(op).min_operands) {
      operands.push_back(b_.broadcast_to(fitting(any(), type.shape, type.dtype), type.shape));
    }
    return keep(b_.record(op, operands, Attrs().add_int(below(type.shape.rank()))));
  }
  bool add_sort(Op op) {
    static constexpr DType kKeys[] = {DType::U8, DType::U16, DType::U32, DType::U64};
    const Value x = any_of_rank(1);
    const DType dtype = b_.dtype(x);
    const Value keys = is_unsigned_integer(dtype) ? x : b_.cast(x, kKeys[below(std::size(kKeys))]);
    return keep(b_.record(op, {keys}, Attrs().add_int(below(b_.shape(x).rank()))));
  }

  uint32_t some_axes(int rank) { return static_cast<uint32_t>(below(int64_t{1} << rank)); }
  bool add_reduction(Op op) {
    const Value x = any_of_rank(one_in(10) ? 0 : 1);
    const int rank = b_.shape(x).rank();
    const uint32_t one = rank > 0 ? 1u << below(rank) : 0;
    return keep(b_.reduce(op, x, one_in(2) ? one : some_axes(rank), one_in(2)));
  }

  bool add_movement(Op op) {
    const Value x = any();
    const Shape shape = b_.shape(x);
    if (op == Op::After || op == Op::Checkpoint) return keep(b_.record(op, {x, any()}));
    switch (op_def(op).movement) {
      case Movement::Reshape:
        return keep(b_.reshape(x, random_factors(shape.numel())));
      case Movement::Permute: {
        const std::vector<int> order = shuffled(shape.rank());
        return keep(b_.permute(x, std::vector<int64_t>(order.begin(), order.end())));
      }
      case Movement::Broadcast: {
        std::vector<int64_t> extents(shape.begin(), shape.end());
        for (int64_t& e : extents) e = e == 1 ? extent() : e;
        while (extents.size() < 5 && one_in(2)) extents.insert(extents.begin(), extent());
        return Shape(extents).numel() <= max_numel_ && keep(b_.broadcast_to(x, Shape(extents)));
      }
      case Movement::Slice:
        return keep(random_slice(x));
      case Movement::Pad: {
        std::vector<int64_t> low, high;
        for (int axis = 0; axis < shape.rank(); ++axis) {
          low.push_back(one_in(2) ? below(4) : 0);
          high.push_back(one_in(2) ? below(9) : 0);
        }
        return keep(b_.pad(x, low, high));
      }
      case Movement::Window: {
        const auto windows = random_windows(shape);
        return windows && keep(b_.window(x, windows->sizes, windows->strides, windows->dilations));
      }
    }
    return false;
  }
  struct RandomWindows {
    std::vector<int64_t> sizes, strides, dilations;
  };
  /// Over some of the last axes, where they fit.
  std::optional<RandomWindows> random_windows(const Shape& shape) {
    RandomWindows windows;
    const int64_t most = std::min<int64_t>({3, shape.rank(), kMaxDims - 2 - shape.rank()});
    if (most <= 0) return std::nullopt;
    const int64_t count = 1 + below(most);
    int64_t numel = shape.numel();
    for (int64_t w = 0; w < count; ++w) {
      const int64_t extent = shape[static_cast<int>(shape.rank() - count + w)];
      if (extent == 0) return std::nullopt;
      const int64_t size = 1 + below(std::min<int64_t>(extent, 4));
      const int64_t room = size > 1 ? (extent - 1) / (size - 1) : 3;
      windows.sizes.push_back(size);
      windows.strides.push_back(1 + below(3));
      windows.dilations.push_back(1 + below(std::min<int64_t>(room, 3)));
      numel *= size;
    }
    if (numel > max_numel_) return std::nullopt;
    return windows;
  }
  Value random_slice(Value x) {
    std::vector<int64_t> starts, steps, extents;
    for (const int64_t e : b_.shape(x)) {
      if (e == 0 || one_in(20)) {  // nothing of this axis
        starts.push_back(0);
        steps.push_back(1);
        extents.push_back(0);
        continue;
      }
      const int64_t step = 1 + (one_in(2) ? below(3) : 0);
      const int64_t most = (e + step - 1) / step;
      const int64_t count = one_in(3) ? most : 1 + below(most);
      const int64_t first = below(e - (count - 1) * step);
      const bool backward = one_in(3);
      starts.push_back(backward ? first + (count - 1) * step : first);
      steps.push_back(backward ? -step : step);
      extents.push_back(count);
    }
    return b_.slice(x, starts, steps, Shape(extents));
  }
  Shape random_factors(int64_t numel) {
    std::vector<int64_t> extents;
    while (numel > 1 && extents.size() < 4) {
      const int64_t divisor = 2 + below(8);
      if (numel % divisor == 0) {
        extents.push_back(divisor);
        numel /= divisor;
      } else if (one_in(4)) {
        break;
      }
    }
    if (numel != 1 || one_in(3)) extents.push_back(numel);
    std::vector<int64_t> result;
    for (const int i : shuffled(static_cast<int>(extents.size()))) {
      result.push_back(extents[static_cast<size_t>(i)]);
    }
    return Shape(result);
  }

  bool add_convolution() {
    const Value x = any_of_rank(3);
    const Shape shape = b_.shape(x);
    const int spatial = shape.rank() - 2;
    if (spatial > 2 || shape.numel() == 0) return false;
    std::vector<int64_t> strides, low, high, gaps, dilations, kernel;
    const int64_t groups = shape[1] > 1 && one_in(3) ? shape[1] : 1;
    std::vector<int64_t> extents{groups * (1 + below(3)), shape[1] / groups};
    int64_t numel = shape[0] * extents[0];
    for (int i = 0; i < spatial; ++i) {
      strides.push_back(1 + below(2));
      low.push_back(below(4) - 1);
      high.push_back(below(4) - 1);
      gaps.push_back(one_in(3) ? 2 : 1);
      const int64_t length = (shape[2 + i] - 1) * gaps.back() + 1 + low.back() + high.back();
      if (length <= 0) return false;
      extents.push_back(1 + below(std::min<int64_t>(length, 3)));
      const int64_t room = extents.back() > 1 ? (length - 1) / (extents.back() - 1) : 1;
      dilations.push_back(1 + below(std::min<int64_t>(room, 2)));
      numel *= length * extents.back();
    }
    if (numel * extents[1] > 4 * max_numel_) return false;
    const DType dtype = b_.dtype(x);
    const Attrs attrs = Attrs()
                            .add_int(groups)
                            .add_ints(strides)
                            .add_ints(low)
                            .add_ints(high)
                            .add_ints(gaps)
                            .add_ints(dilations);
    if (!is_integer(dtype) && !is_float(dtype)) return false;
    const Value weight = new_leaf({dtype, Shape(extents)});
    return keep(b_.record(Op::Convolution, {x, weight}, attrs));
  }
  bool add_matmul() {
    const Value a = any_of_rank(2);
    const Shape shape = b_.shape(a);
    const int rank = shape.rank();
    const Value other = any();
    Value c{};
    if (b_.shape(other).rank() >= 2 && one_in(2)) {
      c = b_.cast(one_in(2) ? other : b_.transpose(other), b_.dtype(a));
    } else if (one_in(4)) {
      c = b_.transpose(a);
    } else {
      std::vector<int64_t> extents;
      if (one_in(3)) extents.assign(shape.begin(), shape.end() - 2);
      extents.insert(extents.end(), {shape[rank - 1], extent()});
      c = new_leaf({b_.dtype(a), Shape(extents)});
    }
    const bool swapped = one_in(5);
    const Value x = swapped ? c : a, y = swapped ? a : c;
    const int64_t work =
        b_.shape(x).numel() * std::max<int64_t>(1, b_.shape(y)[b_.shape(y).rank() - 1]);
    return work <= 10 * max_numel_ && keep(b_.matmul(x, y));
  }

  bool add_gather() {
    const Value x = any_of_rank(1);
    const Shape shape = b_.shape(x);
    const int64_t axis = below(shape.rank());
    const int64_t extent = shape[static_cast<int>(axis)];
    if (extent == 0 || extent > 10000) return false;
    static const Shape kIndices[] = {{}, {0}, {1}, {3}, {2, 3}, {17}};
    const Shape& picked = kIndices[below(std::size(kIndices))];
    const Value index = indices_below(extent, picked, -extent);
    return keep(b_.record(Op::Gather, {x, index}, Attrs().add_int(axis)));
  }

  bool add_scatter(Op op) {
    const Value x = any_of_rank(1);
    const Shape shape = b_.shape(x);
    const int64_t axis = below(shape.rank());
    const int64_t extent = shape[static_cast<int>(axis)];
    if (extent == 0 || extent > 10000) return false;
    static const Shape kIndices[] = {{}, {0}, {1}, {3}, {2, 3}, {17}};
    const Shape& picked = kIndices[below(std::size(kIndices))];
    const Value index = indices_below(extent, picked, -extent);
    // Updates that something made: slices of a value of the same dtype.
    const Value updates = b_.record(Op::Gather, {x, index}, Attrs().add_int(axis));
    const Value to = one_in(3) ? b_.zeros(b_.type(x)) : x;
    return keep(b_.record(op, {to, index, one_in(2) ? b_.record(Op::Negative, {updates}) : updates},
                          Attrs().add_int(axis)));
  }

  bool add_composite(Op op) {
    const Value x = any_of_rank(1);
    const TensorType type = b_.type(x);
    const int rank = type.shape.rank();
    const int64_t axis = below(rank);
    const Value real = is_float(type.dtype) ? x : b_.cast(x, DType::F32);
    const DType dtype = b_.dtype(real);
    switch (op) {
      case Op::Mean:
      case Op::Var:
      case Op::Std:
      case Op::Any:
      case Op::All:
      case Op::LogSumExp: {
        Attrs attrs;
        attrs.add_int(one_in(2) ? 1 << axis : some_axes(rank)).add_int(below(2));
        if (op == Op::Var || op == Op::Std) attrs.add_int(below(2));
        return keep(b_.record(op, {op == Op::LogSumExp ? real : x}, attrs));
      }
      case Op::Concat: {
        std::vector<Value> parts{x};
        for (int64_t i = below(3); i > 0; --i) {
          std::vector<int64_t> extents(type.shape.begin(), type.shape.end());
          extents[static_cast<size_t>(axis)] = below(5);
          parts.push_back(one_in(3) ? x : new_leaf({type.dtype, Shape(extents)}));
        }
        return keep(b_.record(op, parts, Attrs().add_int(axis)));
      }
      case Op::OverlapAdd: {
        const auto windows = random_windows(type.shape);
        if (!windows || (!is_integer(type.dtype) && !is_float(type.dtype))) return false;
        const Value seen = b_.window(x, windows->sizes, windows->strides, windows->dilations);
        const Attrs attrs = Attrs().add_ints(windows->strides).add_ints(windows->dilations);
        return keep(b_.record(op, {seen}, attrs, &type));
      }
      case Op::OneHot: {
        const Value index = is_integer(type.dtype) ? x : b_.cast(x, DType::I32);
        return keep(b_.record(op, {index}, Attrs().add_int(below(9)).add_type(any_dtype())));
      }
      case Op::Softmax:
      case Op::LogSoftmax:
        return keep(b_.record(op, {real}, Attrs().add_int(axis)));
      case Op::LayerNorm:
      case Op::RmsNorm: {
        std::vector<Value> operands{real, parameter(dtype)};
        const Shape last{type.shape[rank - 1]};
        if (one_in(2)) operands.push_back(new_leaf({dtype, last}));
        if (op == Op::LayerNorm && operands.size() == 3) {
          operands.push_back(new_leaf({dtype, last}));
        }
        return keep(b_.record(op, operands, Attrs().add_int(1 << (rank - 1))));
      }
      case Op::CrossEntropy: {
        const int64_t classes = type.shape[rank - 1];
        if (classes == 0) return false;
        const Shape rows(type.shape.extents().first(static_cast<size_t>(rank - 1)));
        const Value labels = indices_below(classes, rows, 0);
        return keep(b_.record(op, {real, labels}, Attrs().add_int(below(3))));
      }
      case Op::Uniform:
      case Op::Normal: {
        const TensorType result{dtype, random_shape()};
        return keep(b_.record(op, {parameter(DType::U64), parameter(DType::U64)}, {}, &result));
      }
      default:
        if (op_def(op).attrs.empty()) return add_elementwise(op);
        // One that was added to the table: no operands are known to fit it.
        throw InternalError(str("random programs do not know the composite ", op));
    }
  }

  bool add_gradient() {
    const Value y = any();
    if (!is_differentiable(b_.dtype(y))) return false;
    std::vector<Value> xs;
    for (const Value x : values_) {
      if (x < y && is_differentiable(b_.dtype(x)) && (b_.view(x).op == Op::Input || one_in(4))) {
        xs.push_back(x);
      }
      if (xs.size() == 3) break;
    }
    const Value seed = one_in(2) ? b_.ones(b_.type(y)) : new_leaf(b_.type(y));
    bool kept = false;
    for (const Value g : gradient(b_, y, seed, xs)) kept |= keep(g);
    return kept;
  }

  Program finished() {
    const auto size = static_cast<int64_t>(values_.size());
    b_.output(values_.back());
    for (int64_t i = below(4); i > 0; --i) {
      b_.output(values_[static_cast<size_t>(size - 1 - below(std::min<int64_t>(8, size)))]);
    }
    Program program{.graph = dce(graph_), .assigns = {}, .data = {}};
    const Graph& graph = program.graph;
    for (const Node& node : graph.nodes()) {
      if (node.op != Op::Input || one_in(2)) continue;
      for (uint32_t i = 0; i < graph.outputs().size(); ++i) {
        if (graph[graph.outputs()[i]].type != node.type) continue;
        program.assigns.push_back({static_cast<uint32_t>(node.attrs.word(0)), i});
        break;
      }
    }
    program.data = leaf_data(graph, random_());
    return program;
  }
};

}  // namespace

Program random_program(uint64_t seed) {
  return ProgramSketch(seed).run();
}

}  // namespace reprise
