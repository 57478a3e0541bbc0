// Small random graphs of every kind of op.
#include "random_graph.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "ir/builder.h"
#include "ir/error.h"
#include "passes/graph_passes.h"

namespace reprise {

namespace {

class GraphSketch {
 public:
  explicit GraphSketch(uint32_t seed) : random_(seed) {}

  Graph run() {
    dtype_ = std::array{DType::F32, DType::F32, DType::F64, DType::I32, DType::F16}[below(5)];
    const int64_t num_inputs = 1 + below(3);
    for (uint32_t i = 0; i < num_inputs; ++i) {
      Shape shape = random_shape(3);
      std::vector<int64_t> strides;
      if (below(4) == 0) strides = random_strides(shape);
      values_.push_back(b_.input({dtype_, shape}, i, strides));
    }
    values_.push_back(b_.parameter(dtype_, 0));
    const int64_t num_ops = 3 + below(30);
    while (num_ops > made_) {
      try {
        add_op();
      } catch (const Error&) {
        // An op that its operands do not allow; the next draw is another one.
      }
      ++made_;
    }
    const int64_t num_outputs = 1 + below(4);
    for (int64_t i = 0; i < num_outputs; ++i) {
      // Late values mostly: they depend on much.
      const auto back = std::min<int64_t>(below(12), static_cast<int64_t>(values_.size()) - 1);
      b_.output(i == 0 ? values_.back() : values_[values_.size() - 1 - back]);
    }
    return std::move(graph_);
  }

 private:
  int64_t below(int64_t bound) { return static_cast<int64_t>(random_() % bound); }
  /// Late values mostly: they make deep graphs.
  Value any() {
    const auto size = static_cast<int64_t>(values_.size());
    return values_[below(4) == 0 ? below(size) : size - 1 - below(std::min<int64_t>(3, size))];
  }
  int64_t extent() { return below(12) == 0 ? below(2) : 2 + below(6); }
  Shape random_shape(int64_t max_rank) {
    std::vector<int64_t> extents(below(max_rank + 1));
    for (int64_t& e : extents) e = extent();
    return Shape(extents);
  }
  std::vector<int64_t> random_strides(const Shape& shape) {
    std::vector<int> order(shape.rank());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<int64_t> strides(shape.rank());
    int64_t stride = 1 + below(2);
    for (int axis : order) {
      strides[axis] = stride;
      stride *= std::max<int64_t>(1, shape[axis]);
    }
    return strides;
  }

  void keep(Value v) {
    // Extents and values must stay small enough to compute by hand-written loops.
    if (b_.shape(v).numel() <= 4096) values_.push_back(v);
  }
  Value numeric(Value v) { return b_.cast(v, dtype_); }

  void add_op() {
    switch (below(12)) {
      case 0:
      case 1: {
        static constexpr Op kUnary[] = {Op::Negative, Op::Abs, Op::Square, Op::Relu, Op::Sign};
        static constexpr Op kFloat[] = {Op::Exp, Op::Sqrt, Op::Tanh, Op::Sigmoid};
        const bool real = is_float(dtype_) && below(2) == 0;
        return keep(b_.unary(real ? kFloat[below(4)] : kUnary[below(5)], any()));
      }
      case 2:
      case 3:
      case 4: {
        static constexpr Op kBinary[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Maximum};
        return keep(b_.binary(kBinary[below(4)], any(), any()));
      }
      case 5: {
        static constexpr Op kReduce[] = {Op::Sum, Op::Max, Op::Prod, Op::ArgMax};
        const Value x = any();
        const int rank = b_.shape(x).rank();
        if (rank == 0) return;
        const Op op = kReduce[below(4)];
        const uint32_t mask = op == Op::ArgMax ? 1u << below(rank)
                                               : static_cast<uint32_t>(1 + below((1 << rank) - 1));
        return keep(numeric(b_.reduce(op, x, mask, below(2) == 0)));
      }
      case 6: {
        const Value a = any(), b = any();
        if (b_.shape(a).rank() < 2 || b_.shape(b).rank() < 2) return;
        return keep(b_.matmul(a, below(2) == 0 ? b_.transpose(a) : b));
      }
      case 7: {
        const Value x = any();
        std::vector<int64_t> order(b_.shape(x).rank());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random_);
        return keep(b_.permute(x, order));
      }
      case 8: {
        const Value x = any();
        return keep(b_.reshape(x, random_factors(b_.shape(x).numel())));
      }
      case 9: {
        const Value x = any();
        const Shape& shape = b_.shape(x);
        std::vector<int64_t> starts, steps, extents;
        for (int64_t e : shape) {
          const int64_t step = 1 + below(2);
          const int64_t count = e == 0 ? 0 : 1 + below((e + step - 1) / step);
          const int64_t first = e == 0 ? 0 : below(e - (count - 1) * step);
          const bool backward = below(3) == 0;
          starts.push_back(backward ? first + (count - 1) * step : first);
          steps.push_back(backward ? -step : step);
          extents.push_back(count);
          if (e == 0) starts.back() = 0;
        }
        return keep(b_.slice(x, starts, steps, Shape(extents)));
      }
      case 10: {
        const Value x = any();
        std::vector<int64_t> low, high;
        for (int i = 0; i < b_.shape(x).rank(); ++i) {
          low.push_back(below(3) == 0 ? below(3) : 0);
          high.push_back(below(3) == 0 ? below(3) : 0);
        }
        return keep(b_.pad(x, low, high));
      }
      default: {
        const Value x = any();
        const Shape shape = b_.shape(x);
        switch (below(3)) {
          case 0:
            return keep(b_.broadcast_to(x, broadcast_shapes(shape, random_shape(3))));
          case 1: {
            if (shape.rank() == 0) return;
            const auto axis = static_cast<int>(below(shape.rank()));
            return keep(b_.mul(x, b_.iota({dtype_, shape}, axis)));
          }
          default: {
            if (shape.rank() == 0) return;
            const int64_t axis = below(shape.rank());
            if (shape[static_cast<int>(axis)] < 3) return;  // an index out of range is an error
            const Value indices = b_.sub(b_.iota({DType::I64, {2, 3}}, static_cast<int>(below(2))),
                                         b_.constant(below(2) == 0 ? 0 : 2, DType::I64));
            return keep(b_.record(Op::Gather, {x, indices}, Attrs().add_int(axis)));
          }
        }
      }
    }
  }

  Shape random_factors(int64_t numel) {
    std::vector<int64_t> extents;
    while (numel > 1 && extents.size() < 4) {
      const int64_t divisor = 2 + below(5);
      if (numel % divisor == 0) {
        extents.push_back(divisor);
        numel /= divisor;
      } else if (below(4) == 0) {
        break;
      }
    }
    if (numel != 1 || below(3) == 0) extents.push_back(numel);
    std::shuffle(extents.begin(), extents.end(), random_);
    return Shape(extents);
  }

  std::mt19937 random_;
  Graph graph_;
  GraphBuilder b_{graph_};
  DType dtype_ = DType::F32;
  std::vector<Value> values_;
  int64_t made_ = 0;
};

}  // namespace

Graph random_graph(uint32_t seed) {
  return GraphSketch(seed).run();
}

Graph random_heads(uint32_t seed) {
  std::mt19937 random(seed);
  Graph graph;
  GraphBuilder b(graph);
  uint32_t inputs = 0;
  const auto input = [&](const Shape& shape) { return b.input({DType::F32, shape}, inputs++); };
  const auto below = [&](size_t n) { return static_cast<int64_t>(random() % n); };
  const std::vector<int64_t> sizes{3, 4, 8};
  std::vector<Value> values;
  for (int i = 0; i < 3; ++i) {
    values.push_back(input({4, 5, sizes[below(3)], sizes[below(3)]}));
  }
  const int64_t swaps[2][4] = {{1, 0, 2, 3}, {0, 2, 1, 3}};
  for (int step = 0; step < 9; ++step) {
    const Value x = values[below(values.size())];
    const Shape shape = b.shape(x);
    switch (below(6)) {
      case 0:
      case 1: {
        Value factor{};
        for (Value y : values) {
          if (b.shape(y)[0] != shape[0] || b.shape(y)[1] != shape[1]) continue;
          if (b.shape(y)[2] == shape[3]) factor = y;
          if (b.shape(y)[3] == shape[3] && below(2) == 0) factor = b.transpose(y);
        }
        if (!factor.valid()) factor = input({shape[3], 6});
        values.push_back(b.matmul(x, factor));
        break;
      }
      case 2: {
        const Value row = b.reduce(below(2) == 0 ? Op::Sum : Op::Max, x, 8, true);
        values.push_back(b.div(x, row));
        break;
      }
      case 3:
        values.push_back(b.unary(below(2) == 0 ? Op::Exp : Op::Negative, x));
        break;
      case 4: {
        const Value moved = b.permute(x, swaps[below(2)]);
        const Shape to = b.shape(moved);
        const Value flat = b.reshape(moved, {to[0] * to[1], to[2] * to[3]});
        const Value wide = b.add(flat, input({to[2] * to[3]}));
        values.push_back(below(2) == 0 ? moved : b.reshape(wide, to));
        if (below(3) == 0) b.output(b.matmul(b.transpose(flat), flat));
        break;
      }
      case 5:
        b.output(b.reduce(Op::Sum, b.mul(x, x), 1 + below(7), false));
        values.push_back(b.add(x, input({shape[2], 1})));
        break;
    }
  }
  b.output(values.back());
  b.output(values[values.size() / 2]);
  return dce(cse(simplify(canonicalize(graph))));
}

}  // namespace reprise
