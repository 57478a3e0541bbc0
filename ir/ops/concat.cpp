// Tensors joined along an axis.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::Int}};

TensorType infer(const OpContext& ctx) {
  const int axis = checked_axis(ctx, 0);
  const DType dtype = common_dtype(ctx);
  const Shape& first = ctx.operands[0].shape;
  std::array<int64_t, kMaxDims> extents{};
  std::copy(first.begin(), first.end(), extents.begin());
  for (size_t i = 1; i < ctx.operands.size(); ++i) {
    const Shape& shape = ctx.operands[i].shape;
    bool fits = shape.rank() == first.rank();
    for (int a = 0; fits && a < first.rank(); ++a) fits = a == axis || shape[a] == first[a];
    if (!fits) {
      throw ShapeError(str("concat: ", first, " and ", shape, " do not join along axis ", axis));
    }
    extents[static_cast<size_t>(axis)] += shape[axis];
  }
  return {dtype,
          Shape(std::span<const int64_t>(extents.data(), static_cast<size_t>(first.rank())))};
}

/// Each part is padded to the whole and chosen by the index along the axis: no addition, so every
/// bit survives (-0 and NaN payloads too).
Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType& whole = *ctx.result;
  const int axis = static_cast<int>(ctx.attrs.word(0));
  const size_t a = static_cast<size_t>(axis);
  const size_t rank = static_cast<size_t>(whole.shape.rank());
  const int64_t total = whole.shape[axis];
  const Shape along = keep_axes(whole.shape, ~(1u << axis));
  Value index;
  Value joined;
  int64_t begin = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int64_t extent = ctx.operands[i].shape[axis];
    if (extent == 0) continue;
    std::array<int64_t, kMaxDims> low{}, high{};
    low[a] = begin;
    high[a] = total - begin - extent;
    const Value padded =
        extent == total ? operands[i] : b.pad(operands[i], {low.data(), rank}, {high.data(), rank});
    if (joined.valid()) {
      if (!index.valid()) index = b.iota({DType::I64, along}, axis);
      const Value before =
          b.binary(Op::Less, index, b.constant(static_cast<double>(begin), DType::I64));
      joined = b.where(before, joined, padded);
    } else {
      joined = padded;
    }
    begin += extent;
  }
  return joined.valid() ? joined : operands[0];
}

std::vector<Sample> samples() {
  struct Case {
    std::vector<Shape> shapes;
    int64_t axis;
  };
  const Case cases[] = {{{{7}}, 0},
                        {{{1}, {1}}, 0},
                        {{{3}, {5}, {2}}, 0},
                        {{{2, 3}, {4, 3}}, 0},
                        {{{5, 2}, {5, 0}, {5, 11}}, 1},
                        {{{0}, {0}}, 0},
                        {{{0, 3}, {2, 3}}, 0},
                        {{{2, 3, 5}, {2, 1, 5}}, 1},
                        {{{33, 64}, {33, 65}}, 1}};
  std::vector<Sample> all;
  for (const auto& [shapes, axis] : cases) {
    Sample sample;
    for (const Shape& shape : shapes) {
      sample.operands.push_back({{DType::F32, shape}, Fill::Extremes});
    }
    sample.attrs.add_int(axis);
    all.push_back(std::move(sample));
  }
  return all;
}

}  // namespace

const OpDef& concat_def() {
  static constexpr OpDef def{
      .name = "concat",
      .kind = OpKind::Composite,
      .max_operands = -1,
      .attrs = kAttrs,
      .doc = "Joins tensors along `axis`; their other extents are equal. Parts may be empty.",
      .infer = infer,
      .compose = compose,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
