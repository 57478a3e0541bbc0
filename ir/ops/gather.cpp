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

/// For each position of the axis, the sum of the cotangents that were read from it.
void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  Builder& b = ctx.builder;
  const Value nothing = b.zeros(b.type(ctx.operand(0)));
  ctx.accumulate(0,
                 b.record(Op::ScatterAdd, {nothing, ctx.operand(1), ctx.cotangent}, ctx.attrs()));
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
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
