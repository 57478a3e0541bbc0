// Composites over one axis, and over several.
#include "ir/ops/row.h"

#include "ir/ops/samples.h"

namespace reprise {

TensorType infer_row(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  (void)checked_axis(ctx, 0);
  return ctx.operands[0];
}

DType wide_dtype(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

Value minus_max(Builder& b, Value x, int axis) {
  const Value largest = b.reduce(Op::Max, x, 1u << axis, true);
  return b.sub(x, b.unary(Op::StopGradient, largest));
}

Value minus_mean(Builder& b, Value x, uint32_t axes) {
  return b.sub(x, b.reduce(Op::Mean, x, axes, true));
}

int64_t num_folded(const Shape& shape, uint32_t axes) {
  int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axes >> axis & 1) count *= shape[axis];
  }
  return count;
}

namespace {

/// The extents along the axes in `axes`.
Shape folded_shape(const Shape& shape, uint32_t axes) {
  SmallVector<int64_t, kMaxDims> extents;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axes >> axis & 1) extents.push_back(shape[axis]);
  }
  return Shape(std::span<const int64_t>(extents.data(), extents.size()));
}

}  // namespace

TensorType infer_norm(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Float);
  const TensorType& x = ctx.operands[0];
  const auto axes = static_cast<uint32_t>(ctx.attrs.word(0));
  if (axes >> x.shape.rank() != 0) {
    throw IndexError(str(name_of(ctx), ": axes outside the rank of ", x));
  }
  for (size_t i = 1; i < ctx.operands.size(); ++i) {
    const TensorType& operand = ctx.operands[i];
    if (operand.dtype != x.dtype && operand.dtype != wide_dtype(x.dtype)) {
      throw DTypeError(str(name_of(ctx), ": operand ", i, " of ", x, " is ", operand));
    }
    const Shape expected = i == 1 ? Shape{} : folded_shape(x.shape, axes);
    if (operand.shape != expected) {
      throw ShapeError(str(name_of(ctx), ": operand ", i, " for ", x, " has shape ", expected,
                           " along the normalized axes, got ", operand));
    }
  }
  return x;
}

Value normalized(Builder& b, Value x, std::span<const Value> operands, const OpContext& ctx) {
  const auto axes = static_cast<uint32_t>(ctx.attrs.word(0));
  const TensorType type = b.type(x);
  const Shape& shape = type.shape;
  const Value mean = b.reduce(Op::Mean, b.mul(x, x), axes, true);
  const Value scale = b.unary(Op::Rsqrt, b.add(mean, b.cast(operands[1], type.dtype)));
  Value result = b.mul(x, scale);
  // Axes that are not normalized in front of others do not broadcast by themselves.
  const Shape along = keep_axes(shape, ~axes & ((1u << shape.rank()) - 1));
  const auto affine = [&](size_t i) { return b.reshape(b.cast(operands[i], type.dtype), along); };
  if (operands.size() > 2) result = b.mul(result, affine(2));
  if (operands.size() > 3) result = b.add(result, affine(3));
  return b.cast(result, ctx.result->dtype);
}

std::vector<Sample> norm_samples(int affine) {
  struct Case {
    Shape shape;
    uint32_t axes;
  };
  std::vector<Sample> all;
  for (const auto& [shape, axes] :
       {Case{{7, 13}, 2}, Case{{64, 10}, 2}, Case{{129, 67}, 2}, Case{{2, 3, 5}, 6},
        Case{{3, 4, 5}, 2}, Case{{5, 1}, 2}, Case{{11}, 1}, Case{{6, 5}, 1}, Case{{0, 5}, 2},
        Case{{3, 0}, 2}}) {
    for (int given = 0; given <= affine; ++given) {
      const Shape along = folded_shape(shape, axes);
      Sample sample{
          .operands = {{{DType::F32, shape}, Fill::Normal}, {{DType::F32, {}}, Fill::Positive}},
          .attrs = Attrs().add_int(axes),
          .result = {}};
      for (int i = 0; i < given; ++i) {
        sample.operands.push_back({{DType::F32, along}, Fill::Normal});
      }
      all.push_back(std::move(sample));
    }
  }
  return all;
}

}  // namespace reprise
