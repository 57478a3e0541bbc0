// Slices of a tensor picked by indices.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::Int}};

TensorType infer(const OpContext& ctx) {
  const int axis = checked_axis(ctx, 0);
  require_dtype(ctx, 1, Accepts::Integer);
  const TensorType& x = ctx.operands[0];
  const Shape& indices = ctx.operands[1].shape;
  const size_t rank = static_cast<size_t>(x.shape.rank() - 1 + indices.rank());
  if (rank > kMaxDims) {
    throw ShapeError(str("gather: rank ", rank, " exceeds kMaxDims=", kMaxDims, ": ", x.shape,
                         " by indices ", indices));
  }
  std::array<int64_t, kMaxDims> extents;
  size_t at = 0;
  for (int i = 0; i < axis; ++i) extents[at++] = x.shape[i];
  for (int64_t extent : indices.extents()) extents[at++] = extent;
  for (int i = axis + 1; i < x.shape.rank(); ++i) extents[at++] = x.shape[i];
  const TensorType result{x.dtype, Shape(std::span<const int64_t>(extents.data(), rank))};
  if (x.shape[axis] == 0 && result.shape.numel() != 0) {
    throw IndexError(
        str("gather: axis ", axis, " of ", x.shape, " has no element for indices ", indices));
  }
  return result;
}

/// For each position of the axis, the sum of the cotangents that were read from it: a product with
/// the matrix that says which index reads which position. One order, whatever repeats.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const TensorType type = b.type(ctx.operand(0));
  const Shape picked = b.shape(ctx.operand(1));
  const int axis = static_cast<int>(ctx.attrs().word(0));
  const int64_t extent = type.shape[axis];
  const int64_t count = picked.numel();
  int64_t before = 1, after = 1;
  for (int i = 0; i < axis; ++i) before *= type.shape[i];
  for (int i = axis + 1; i < type.shape.rank(); ++i) after *= type.shape[i];

  Value indices = b.reshape(b.cast(ctx.operand(1), DType::I64), {1, count});
  const Value wrapped = b.add(indices, b.constant(static_cast<double>(extent), DType::I64));
  indices = b.where(b.binary(Op::Less, indices, b.constant(0, DType::I64)), wrapped, indices);
  const Value positions = b.iota({DType::I64, {extent, 1}}, 0);
  const Value reads = b.cast(b.binary(Op::Equal, positions, indices), type.dtype);

  const int64_t to_front[] = {1, 0, 2};
  Value g = b.reshape(ctx.cotangent, {before, count, after});
  if (before != 1) g = b.permute(g, to_front);
  g = b.matmul(reads, b.reshape(g, {count, before * after}));
  g = b.reshape(g, {extent, before, after});
  if (before != 1) g = b.permute(g, to_front);
  ctx.accumulate(0, b.reshape(g, type.shape));
}

std::vector<Sample> samples() {
  struct Case {
    Shape x, indices;
    int64_t axis;
  };
  const Case cases[] = {{{7}, {}, 0},         {{7}, {5}, 0},        {{5, 13}, {3}, 1},
                        {{5, 13}, {2, 3}, 0}, {{2, 3, 5}, {4}, 1},  {{5, 13}, {0}, 0},
                        {{0, 3}, {2}, 1},     {{17, 65}, {129}, 0}, {{1}, {9}, 0}};
  std::vector<Sample> all;
  for (const auto& [x, indices, axis] : cases) {
    all.push_back({.operands = {{{DType::F32, x}, Fill::Normal},
                                {{DType::I64, indices}, Fill::Index, x[static_cast<int>(axis)]}},
                   .attrs = Attrs().add_int(axis),
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& gather_def() {
  static constexpr OpDef def{
      .name = "gather",
      .kind = OpKind::Gather,
      .min_operands = 2,
      .max_operands = 2,
      .attrs = kAttrs,
      .doc =
          "gather(x, indices): x.shape[:axis] + indices.shape + x.shape[axis+1:]. A negative index "
          "counts from the end; one out of range is clamped and reported, the next read throws "
          "IndexError.",
      .infer = infer,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
