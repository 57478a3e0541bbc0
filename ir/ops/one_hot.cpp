// Indices as rows with a single 1.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"depth", AttrKind::Int}, {"dtype", AttrKind::Type}};

TensorType infer(const OpContext& ctx) {
  require_dtype(ctx, 0, Accepts::Integer);
  const Shape& indices = ctx.operands[0].shape;
  const int64_t depth = ctx.attrs.word(0);
  const DType dtype = ctx.attrs.as_type(1);
  if (is_pair(dtype)) throw DTypeError(str("one_hot: gives real dtypes, not ", dtype));
  if (depth < 0) throw ShapeError(str("one_hot: depth ", depth, " is negative"));
  if (indices.rank() == kMaxDims) {
    throw ShapeError(str("one_hot: rank ", kMaxDims + 1, " exceeds kMaxDims=", kMaxDims,
                         ": an axis more than ", indices));
  }
  std::array<int64_t, kMaxDims> extents;
  std::copy(indices.begin(), indices.end(), extents.begin());
  const size_t rank = static_cast<size_t>(indices.rank());
  extents[rank] = depth;
  return {dtype, Shape(std::span<const int64_t>(extents.data(), rank + 1))};
}

Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const Shape& shape = ctx.result->shape;
  const int axis = shape.rank() - 1;
  const Value indices = b.reshape(b.cast(operands[0], DType::I64), keep_axes(shape, 1u << axis));
  const Value positions = b.iota({DType::I64, {shape[axis]}}, 0);
  return b.cast(b.binary(Op::Equal, positions, indices), ctx.result->dtype);
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{5, 3}, Shape{129}}) {
    for (int64_t depth : {1, 10}) {
      all.push_back({.operands = {{{DType::I32, shape}, Fill::Index, depth}},
                     .attrs = Attrs().add_int(depth).add_type(DType::F32),
                     .result = {}});
    }
  }
  return all;
}

}  // namespace

const OpDef& one_hot_def() {
  static constexpr OpDef def{
      .name = "one_hot",
      .kind = OpKind::Composite,
      .attrs = kAttrs,
      .doc =
          "A new last axis of extent `depth`, 1 where its index equals the operand and 0 "
          "elsewhere, "
          "in `dtype`; an index outside [0, depth) gives a row of zeros.",
      .infer = infer,
      .compose = compose,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
