// Windows added up where they overlap: the transpose of `window`.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"strides", AttrKind::Ints}, {"dilations", AttrKind::Ints}};

using Extents = SmallVector<int64_t, kMaxDims>;

TensorType infer(const OpContext& ctx) {
  const TensorType result = given_result(ctx);
  const TensorType& windows = ctx.operands[0];
  require_dtype(ctx, 0, Accepts::SignedNumber);
  const std::span<const int64_t> strides = ctx.attrs.ints(0);
  const auto count = static_cast<int>(strides.size());
  const std::span<const int64_t> dilations = ctx.attrs.ints(1 + count);
  const int rank = windows.shape.rank();
  if (result.dtype != windows.dtype || dilations.size() != strides.size() || count < 1 ||
      2 * count > rank) {
    throw ShapeError(str("overlap_add: ", count, " strides and ", dilations.size(),
                         " dilations from ", windows, " to ", result));
  }
  // The windows are what `window` gives for a result of that shape.
  const Attrs attrs = Attrs()
                          .add_ints(std::span(windows.shape.end() - count, windows.shape.end()))
                          .add_ints(strides)
                          .add_ints(dilations);
  const TensorType seen = op_def(Op::Window)
                              .infer({.op = Op::Window,
                                      .operands = std::span(&result, 1),
                                      .attrs = attrs,
                                      .result = nullptr});
  if (seen != windows) {
    throw ShapeError(str("overlap_add: ", result, " has windows ", seen, ", given are ", windows));
  }
  return result;
}

/// Windows that overlap along no axis: they lie side by side as they are, with zeros between.
Value lay_apart(Builder& b, Value g, const OpContext& ctx) {
  const Shape shape = ctx.result->shape;  // recording may move what it refers to
  const Shape taken = b.shape(g);
  const std::span<const int64_t> strides = ctx.attrs.ints(0);
  const auto count = static_cast<int>(strides.size());
  const std::span<const int64_t> dilations = ctx.attrs.ints(1 + count);
  const int rank = shape.rank(), before = rank - count;
  Extents order;
  for (int axis = 0; axis < rank; ++axis) {
    order.push_back(axis);
    if (axis >= before) order.push_back(count + axis);
  }
  g = b.permute(g, order);
  Extents joined;
  for (int axis = 0; axis < before; ++axis) joined.push_back(shape[axis]);
  for (int w = 0; w < count; ++w) {
    // Each window with what is left of its stride.
    const int element = before + 2 * w + 1;
    g = b.spread(g, element, dilations[w] - 1);
    const int64_t span = b.shape(g)[element], stride = std::max(strides[w], span);
    Extents low, high;
    for (int axis = 0; axis < rank + count; ++axis) {
      low.push_back(0);
      high.push_back(axis == element ? stride - span : 0);
    }
    g = b.pad(g, low, high);
    joined.push_back(taken[before + w] * stride);
  }
  // Of the last stride some may be missing, or there may be more behind it.
  Extents none, steps, kept, high;
  for (int axis = 0; axis < rank; ++axis) {
    none.push_back(0);
    steps.push_back(1);
    kept.push_back(std::min(joined[axis], shape[axis]));
    high.push_back(shape[axis] - kept[axis]);
  }
  g = b.slice(b.reshape(g, Shape(joined)), none, steps, Shape(kept));
  return b.pad(g, none, high);
}

/// Along each axis, with zeros between the windows where they advance by more than one, position l
/// holds element k of the window at l - k * dilation: windows over the windows, of which the
/// diagonal counts.
Value compose(Builder& b, std::span<const Value> operands, const OpContext& ctx) {
  const TensorType type = *ctx.result;
  const Shape& shape = type.shape;
  const Shape taken = b.shape(operands[0]);
  const std::span<const int64_t> strides = ctx.attrs.ints(0);
  const auto count = static_cast<int>(strides.size());
  const std::span<const int64_t> dilations = ctx.attrs.ints(1 + count);
  const int before = shape.rank() - count;
  if (taken.numel() == 0) return b.zeros(type);
  bool apart = true;
  for (int w = 0; w < count; ++w) {
    // One window overlaps nothing, whatever it would advance by.
    const int64_t span = (taken[shape.rank() + w] - 1) * dilations[w] + 1;
    apart &= span <= strides[w] || taken[before + w] == 1;
  }
  if (apart) return lay_apart(b, operands[0], ctx);

  // (rest, elements, counts..), the elements of a window as one axis.
  int64_t rest = 1, elements = 1;
  Extents sizes, extents{1}, order{0, count + 1}, low{0, 0}, high{0, 0}, ones;
  for (int axis = 0; axis < before; ++axis) rest *= shape[axis];
  extents[0] = rest;
  for (int w = 0; w < count; ++w) {
    sizes.push_back(taken[shape.rank() + w]);
    elements *= sizes.back();
    extents.push_back(taken[before + w]);
    order.push_back(1 + w);
  }
  extents.push_back(elements);
  // Element k lies k * dilation after the window's begin: counted backward, windows fit.
  Value g = b.permute(b.flip(b.reshape(operands[0], Shape(extents)), 1u << (count + 1)), order);
  for (int w = 0; w < count; ++w) {
    const auto i = static_cast<size_t>(w);
    g = b.spread(g, 2 + w, strides[i] - 1);
    low.push_back((sizes[w] - 1) * dilations[i]);
    high.push_back(shape[before + w] - ((taken[before + w] - 1) * strides[i] + 1));
    ones.push_back(1);
  }
  g = b.window(b.pad(g, low, high), sizes, ones, dilations);

  // (rest, elements, extents.., sizes..): the diagonal of elements and sizes, summed.
  Extents flat{rest, elements}, last{0}, joined{rest}, starts{0}, steps{1}, kept{rest};
  for (int w = 0; w < count; ++w) {
    const int64_t extent = shape[before + w];
    flat.push_back(extent);
    last.push_back(2 + w);
    joined.push_back(extent);
    kept.push_back(extent);
    starts.push_back(0);
    steps.push_back(1);
  }
  flat.push_back(elements);
  last.push_back(1);
  last.push_back(2 + count);
  joined.push_back(elements * elements);
  kept.push_back(elements);
  starts.push_back(0);
  steps.push_back(elements + 1);
  g = b.reshape(b.permute(b.reshape(g, Shape(flat)), last), Shape(joined));
  g = b.reduce(Op::Sum, b.slice(g, starts, steps, Shape(kept)), 1u << (count + 1), false);
  return b.cast(b.reshape(g, shape), type.dtype);
}

std::vector<Sample> samples() {
  struct Case {
    Shape windows;
    std::vector<int64_t> strides, dilations;
    Shape result;
  };
  const Case cases[] = {{{5, 3}, {1}, {1}, {7}},
                        {{7, 1}, {1}, {1}, {7}},
                        {{1, 7}, {1}, {1}, {7}},
                        {{0, 4, 2}, {1}, {1}, {0, 5}},
                        {{4, 3}, {2}, {3}, {13}},
                        {{2, 2, 2}, {5}, {4}, {2, 13}},
                        {{5, 4, 3, 2, 2}, {2, 2}, {1, 1}, {5, 8, 6}},
                        {{2, 3, 1, 2, 3}, {4, 1}, {2, 2}, {2, 11, 5}},
                        {{3, 2, 2, 2}, {3, 3}, {1, 1}, {10, 5}},
                        {{3, 5, 3, 3, 2}, {1, 3}, {2, 4}, {3, 9, 11}},
                        {{2, 4, 2, 3, 2, 3, 1}, {1, 2, 3}, {2, 1, 1}, {2, 6, 6, 7}}};
  std::vector<Sample> all;
  for (const auto& [windows, strides, dilations, result] : cases) {
    all.push_back({.operands = {{{DType::F32, windows}, Fill::Normal}},
                   .attrs = Attrs().add_ints(strides).add_ints(dilations),
                   .result = {DType::F32, result}});
  }
  return all;
}

}  // namespace

const OpDef& overlap_add_def() {
  static constexpr OpDef def{
      .name = "overlap_add",
      .kind = OpKind::Composite,
      .attrs = kAttrs,
      .doc =
          "The transpose of window: each element of the given result is the sum of those elements "
          "of windows (.., counts.., sizes..) that lie there; integers wrap in their dtype.",
      .infer = infer,
      .compose = compose,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
