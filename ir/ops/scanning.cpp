// What scans share.
#include "ir/ops/scanning.h"

namespace reprise {

namespace {

/// Elements [start, start + count) of an axis, or in steps of -1 from `start`.
Value part(Builder& b, Value x, int axis, int64_t start, int64_t count, int64_t step = 1) {
  const Shape shape = b.shape(x);
  std::vector<int64_t> extents(shape.begin(), shape.end());
  std::vector<int64_t> starts(extents.size(), 0), steps(extents.size(), 1);
  starts[static_cast<size_t>(axis)] = start;
  steps[static_cast<size_t>(axis)] = step;
  extents[static_cast<size_t>(axis)] = count;
  return b.slice(x, starts, steps, Shape(extents));
}

/// The index along `axis`, in a shape that broadcasts to `shape`.
Value positions(Builder& b, const Shape& shape, int axis) {
  return b.reshape(b.iota({DType::I64, Shape{shape[axis]}}, 0), keep_axes(shape, ~(1u << axis)));
}

}  // namespace

TensorType infer_scan(const OpContext& ctx, DType dtype) {
  (void)checked_axis(ctx, 0);
  const TensorType& first = ctx.operands[0];
  for (const TensorType& operand : ctx.operands) {
    if (operand.dtype != first.dtype) {
      throw DTypeError(str(name_of(ctx), ": ", first, " with ", operand));
    }
    if (operand.shape != first.shape) {
      throw ShapeError(str(name_of(ctx), ": ", first, " with ", operand));
    }
  }
  return {dtype, first.shape};
}

int scan_axis(const GradientContext& ctx) {
  return static_cast<int>(ctx.attrs().word(0));
}

Value reversed(Builder& b, Value x, int axis) {
  const int64_t extent = b.shape(x)[axis];
  return extent == 0 ? x : part(b, x, axis, extent - 1, extent, -1);
}

Value shifted(Builder& b, Value x, int axis, double first) {
  const int64_t extent = b.shape(x)[axis];
  if (extent == 0) return x;
  const Value others = part(b, x, axis, 0, extent - 1);
  const Shape shape = b.shape(x);
  if (first == 0) {
    std::vector<int64_t> low(static_cast<size_t>(shape.rank()), 0), high = low;
    low[static_cast<size_t>(axis)] = 1;
    return b.pad(others, low, high);
  }
  const Value before = b.broadcast_to(b.constant(first, b.dtype(x)), keep_axes(shape, 1u << axis));
  return b.record(Op::Concat, {before, others}, Attrs().add_int(axis));
}

Value transposed_recurrence(Builder& b, Value coefficients, Value cotangent, int axis) {
  const Value back = shifted(b, reversed(b, coefficients, axis), axis, 0);
  const Value sums =
      b.record(Op::LinearRecurrence, {back, reversed(b, cotangent, axis)}, Attrs().add_int(axis));
  return reversed(b, sums, axis);
}

Value sent_back(Builder& b, Value cotangent, Value from, int axis) {
  const TensorType type = b.type(cotangent);
  const auto strides = type.shape.contiguous_strides();
  Value element = b.mul(from, b.constant(static_cast<double>(strides[axis]), DType::I64));
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i == axis || type.shape[i] == 1) continue;
    const Value stride = b.constant(static_cast<double>(strides[i]), DType::I64);
    element = b.add(element, b.mul(positions(b, type.shape, i), stride));
  }
  const Shape flat{type.shape.numel()};
  const Value sums =
      b.record(Op::ScatterAdd,
               {b.zeros({type.dtype, flat}), b.reshape(element, flat), b.reshape(cotangent, flat)},
               Attrs().add_int(0));
  return b.reshape(sums, type.shape);
}

void running_extremum_gradient(GradientContext& ctx) {
  Builder& b = ctx.builder;
  const Value x = ctx.operand(0);
  const TensorType type = b.type(x);
  if (!ctx.wants(0) || type.shape.numel() == 0) return;
  const int axis = scan_axis(ctx);
  const Value is_nan = b.binary(Op::NotEqual, x, x);
  const Value hit = b.binary(Op::BitwiseOr, b.binary(Op::Equal, x, ctx.result), is_nan);
  const Value at = b.broadcast_to(positions(b, type.shape, axis), type.shape);
  const Value last =
      b.record(Op::CumMax, {b.where(hit, at, b.constant(0, DType::I64))}, Attrs().add_int(axis));
  ctx.accumulate(0, sent_back(b, ctx.cotangent, last, axis));
}

std::vector<Sample> scan_samples(Fill fill, int operands) {
  struct Row {
    Shape shape;
    int64_t axis;
  };
  const Row rows[] = {{{1}, 0},       {{7}, 0},         {{5, 13}, 1}, {{5, 13}, 0},
                      {{2, 3, 5}, 1}, {{3, 129}, 1},    {{2, 0}, 1},  {{0, 4}, 1},
                      {{3, 1}, 1},    {{1024}, 0},      {{1025}, 0},  {{2, 2049}, 1},
                      {{3073, 3}, 0}, {{2, 3, 4, 5}, 2}};
  std::vector<Sample> samples;
  for (const auto& [shape, axis] : rows) {
    samples.push_back({.operands = std::vector<SampleOperand>(static_cast<size_t>(operands),
                                                              {{DType::F32, shape}, fill}),
                       .attrs = Attrs().add_int(axis),
                       .result = {}});
  }
  return samples;
}

}  // namespace reprise
