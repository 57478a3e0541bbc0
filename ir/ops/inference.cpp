// Checks and type rules that ops share.
#include "ir/ops/inference.h"

namespace reprise {
namespace {

constexpr uint32_t bit(DType dtype) {
  return 1u << static_cast<int>(dtype);
}
constexpr uint32_t kFloats = bit(DType::F16) | bit(DType::BF16) | bit(DType::F32) | bit(DType::F64);
constexpr uint32_t kIntegers = bit(DType::I8) | bit(DType::I16) | bit(DType::I32) |
                               bit(DType::I64) | bit(DType::U8) | bit(DType::U16) |
                               bit(DType::U32) | bit(DType::U64);

constexpr uint32_t kComplex = bit(DType::C64) | bit(DType::C128);
constexpr uint32_t kComplexIntegers = bit(DType::CI8) | bit(DType::CI16) | bit(DType::CI32) |
                                      bit(DType::CI64) | bit(DType::CU8) | bit(DType::CU16) |
                                      bit(DType::CU32) | bit(DType::CU64);

constexpr uint32_t accepted_dtypes(Accepts accepts) {
  switch (accepts) {
    case Accepts::Float:
      return kFloats;
    case Accepts::Number:
      return kFloats | kIntegers;
    case Accepts::Integer:
      return kIntegers;
    case Accepts::Bits:
      return kIntegers | bit(DType::Bool);
    case Accepts::Real:
      return kFloats | kIntegers | bit(DType::Bool);
    case Accepts::SignedNumber:
      return kFloats | kIntegers | kComplex;
    case Accepts::Summand:
      return kFloats | kIntegers | kComplex | bit(DType::Bool);
    case Accepts::Pair:
      return kComplex | kComplexIntegers;
    case Accepts::Any:
      return ~uint32_t{0};
  }
  return 0;
}

bool is_accepted(DType dtype, Accepts accepts) {
  return accepted_dtypes(accepts) & bit(dtype);
}

/// Cheaper than a call of memcmp for the few extents there are.
bool same_type(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank()) return false;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    if (a.shape[axis] != b.shape[axis]) return false;
  }
  return true;
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
    case Accepts::SignedNumber:
      return "an integer, float or complex dtype";
    case Accepts::Summand:
      return "bool, an integer, float or complex dtype";
    case Accepts::Pair:
      return "a complex dtype";
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
  if (is_complex_integer(type.dtype)) {
    throw DTypeError(str(name_of(ctx), ": needs ", text_of(accepts), ", got ", type,
                         "; complex integers are stored only, cast them to c64 or c128"));
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
  const TensorType& first = ctx.operands[0];
  bool all_same = is_accepted(first.dtype, accepts);
  for (size_t i = 1; all_same && i < ctx.operands.size(); ++i) {
    all_same = same_type(ctx.operands[i], first);
  }
  if (all_same) [[likely]]
    return first;
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
