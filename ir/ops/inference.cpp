// Checks and type rules that ops share.
#include "ir/ops/inference.h"

namespace reprise {
namespace {

bool is_accepted(DType dtype, Accepts accepts) {
  switch (accepts) {
    case Accepts::Float:
      return is_float(dtype);
    case Accepts::Number:
      return is_float(dtype) || is_integer(dtype);
    case Accepts::Integer:
      return is_integer(dtype);
    case Accepts::Bits:
      return is_integer(dtype) || dtype == DType::Bool;
    case Accepts::Real:
      return !is_complex(dtype);
    case Accepts::Any:
      return true;
  }
  return false;
}

std::string_view text_of(Accepts accepts) {
  switch (accepts) {
    case Accepts::Float:
      return "a float dtype";
    case Accepts::Number:
      return "an integer or float dtype";
    case Accepts::Integer:
      return "an integer dtype";
    case Accepts::Bits:
      return "bool or an integer dtype";
    case Accepts::Real:
      return "a real dtype";
    case Accepts::Any:
      return "any dtype";
  }
  return "";
}

uint32_t checked_axes(const OpContext& ctx) {
  const Shape& shape = ctx.operands[0].shape;
  const int64_t mask = ctx.attrs.word(0);
  if (mask < 0 || mask >> shape.rank() != 0) {
    int highest = 63;
    while (highest > 0 && !(mask >> highest & 1)) --highest;
    throw IndexError(str(name_of(ctx), ": axis ", highest, " is out of range for ", shape,
                         ", rank ", shape.rank()));
  }
  return static_cast<uint32_t>(mask);
}

}  // namespace

void require_dtype(const OpContext& ctx, size_t i, Accepts accepts) {
  const TensorType& type = ctx.operands[i];
  if (is_accepted(type.dtype, accepts)) return;
  if (is_complex(type.dtype)) {
    throw UnsupportedError(
        str(name_of(ctx), ": does not compute in complex dtypes yet, got ", type));
  }
  throw DTypeError(str(name_of(ctx), ": needs ", text_of(accepts), ", got ", type));
}

DType common_dtype(const OpContext& ctx, size_t first) {
  const TensorType& base = ctx.operands[first];
  for (size_t i = first + 1; i < ctx.operands.size(); ++i) {
    if (ctx.operands[i].dtype == base.dtype) continue;
    throw DTypeError(str(name_of(ctx), ": operands have different dtypes, ", base, " and ",
                         ctx.operands[i], "; cast one of them"));
  }
  return base.dtype;
}

Shape common_shape(const OpContext& ctx, size_t first) {
  Shape shape = ctx.operands[first].shape;
  for (size_t i = first + 1; i < ctx.operands.size(); ++i) {
    if (ctx.operands[i].shape == shape) continue;
    try {
      shape = broadcast_shapes(shape, ctx.operands[i].shape);
    } catch (const ShapeError& error) {
      throw ShapeError(str(name_of(ctx), ": ", error.what()));
    }
  }
  return shape;
}

const TensorType& given_result(const OpContext& ctx) {
  if (!ctx.result) throw ShapeError(str(name_of(ctx), ": needs the type of its result"));
  return *ctx.result;
}

const TensorType& given_shape(const OpContext& ctx) {
  const TensorType& result = given_result(ctx);
  if (result.dtype != ctx.operands[0].dtype) {
    throw DTypeError(
        str(name_of(ctx), ": keeps the dtype, but ", ctx.operands[0], " was to become ", result));
  }
  return result;
}

TensorType infer_elementwise(const OpContext& ctx, Accepts accepts) {
  require_dtype(ctx, 0, accepts);
  const DType dtype = common_dtype(ctx);
  return {dtype, common_shape(ctx)};
}

TensorType infer_predicate(const OpContext& ctx, Accepts accepts) {
  return {DType::Bool, infer_elementwise(ctx, accepts).shape};
}

TensorType infer_reduction(const OpContext& ctx, DType dtype) {
  const Shape& shape = ctx.operands[0].shape;
  const uint32_t axes = checked_axes(ctx);
  const bool keepdims = ctx.attrs.word(1) != 0;
  std::array<int64_t, kMaxDims> extents;
  size_t rank = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool folded = axes >> axis & 1;
    if (!folded) extents[rank++] = shape[axis];
    if (folded && keepdims) extents[rank++] = 1;
  }
  return {dtype, Shape(std::span<const int64_t>(extents.data(), rank))};
}

TensorType infer_nonempty_reduction(const OpContext& ctx, DType dtype) {
  const Shape& shape = ctx.operands[0].shape;
  const TensorType result = infer_reduction(ctx, dtype);
  if (shape.numel() == 0 && result.shape.numel() != 0) {
    throw ShapeError(
        str(name_of(ctx), ": no element to choose from, ", shape, " folds to ", result.shape));
  }
  return result;
}

int checked_axis(const OpContext& ctx, int word) {
  const Shape& shape = ctx.operands[0].shape;
  const int64_t axis = ctx.attrs.word(word);
  if (axis < 0 || axis >= shape.rank()) {
    throw IndexError(str(name_of(ctx), ": axis ", axis, " is out of range for ", shape, ", rank ",
                         shape.rank()));
  }
  return static_cast<int>(axis);
}

Shape keep_axes(const Shape& shape, uint32_t mask) {
  std::array<int64_t, kMaxDims> extents;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    extents[static_cast<size_t>(axis)] = mask >> axis & 1 ? 1 : shape[axis];
  }
  return Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(shape.rank())));
}

}  // namespace reprise
