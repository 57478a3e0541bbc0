// Zeros around a tensor.
#include "ir/ops/inference.h"
#include "ir/ops/samples.h"

namespace reprise {
namespace {

constexpr AttrDef kAttrs[] = {{"low", AttrKind::Ints}, {"high", AttrKind::Ints}};

TensorType infer(const OpContext& ctx) {
  const TensorType& x = ctx.operands[0];
  const size_t rank = static_cast<size_t>(x.shape.rank());
  const std::span<const int64_t> low = ctx.attrs.ints(0);
  const std::span<const int64_t> high = ctx.attrs.ints(1 + static_cast<int>(low.size()));
  if (low.size() != rank || high.size() != rank) {
    throw ShapeError(str("pad: ", low.size(), " low and ", high.size(), " high widths for ",
                         x.shape, ", rank ", rank));
  }
  std::array<int64_t, kMaxDims> extents;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (low[axis] < 0 || high[axis] < 0) {
      throw ShapeError(str("pad: negative width at axis ", axis, " of ", x.shape, ": ", low[axis],
                           " below, ", high[axis], " above"));
    }
    extents[axis] = x.shape[static_cast<int>(axis)];
    if (__builtin_add_overflow(extents[axis], low[axis], &extents[axis]) ||
        __builtin_add_overflow(extents[axis], high[axis], &extents[axis])) {
      throw ShapeError(str("pad: axis ", axis, " of ", x.shape, " with ", low[axis], " below and ",
                           high[axis], " above is too long"));
    }
  }
  return {x.dtype, Shape(std::span<const int64_t>(extents.data(), rank))};
}

void gradient(GradientContext& ctx) {
  if (!ctx.wants(0)) return;
  const Shape shape = ctx.builder.shape(ctx.operand(0));
  const Attrs attrs = ctx.attrs();
  std::array<int64_t, kMaxDims> ones;
  ones.fill(1);
  ctx.accumulate(0, ctx.builder.slice(ctx.cotangent, attrs.ints(0),
                                      {ones.data(), static_cast<size_t>(shape.rank())}, shape));
}

std::vector<Sample> samples() {
  struct Case {
    Shape shape;
    std::vector<int64_t> low, high;
  };
  const Case cases[] = {
      {{}, {}, {}},     {{7}, {0}, {3}},           {{1}, {2}, {0}},
      {{0}, {2}, {3}},  {{5, 13}, {1, 0}, {0, 2}}, {{2, 3, 5}, {0, 1, 2}, {3, 0, 1}},
      {{17}, {0}, {0}}, {{33, 64}, {1, 1}, {1, 1}}};
  std::vector<Sample> all;
  for (const auto& [shape, low, high] : cases) {
    all.push_back({.operands = {{{DType::F32, shape}, Fill::Normal}},
                   .attrs = Attrs().add_ints(low).add_ints(high),
                   .result = {}});
  }
  return all;
}

}  // namespace

const OpDef& pad_def() {
  static constexpr OpDef def{
      .name = "pad",
      .kind = OpKind::Movement,
      .attrs = kAttrs,
      .doc = "low[i] zeros before axis i and high[i] after it; false for bool.",
      .infer = infer,
      .movement = Movement::Pad,
      .pairs = OnPairs::EachPart,
      .gradient = gradient,
      .samples = samples,
  };
  return def;
}

}  // namespace reprise
